import { lazyRouteComponent } from "@tanstack/react-router"
import { ConnectionError } from "@scheduling/sdk"

/** Thrown when a new version has been installed and this version's files no longer exist. */
export class NewVersionError extends Error {
  override readonly name = "NewVersionError"
}

/**
 * Creates a page whose code is loaded on demand. Without `loadCode`, the router would reload the
 * page after a failed load, and the browser would show its own error page while the service is
 * down.
 */
export const lazyPage = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name
) => lazyRouteComponent<Module, Name>(() => loadCode(load), name)

/** Loads code. If that fails, throws an error that says whether a new version is the cause. */
export const loadCode = <Module>(load: () => Promise<Module>): Promise<Module> =>
  load().catch(async (error: unknown) => {
    throw (await isNewVersion())
      ? new NewVersionError("A new version was installed. Reload the page.")
      : new ConnectionError("the code of a page could not be loaded", { cause: error })
  })

const timeoutMs = 4_000

/**
 * Returns true if the start page now loads a different script, which means that a new version is
 * installed.
 */
const isNewVersion = async (): Promise<boolean> => {
  const own = scriptIn(document)
  try {
    const answer = await fetch("/", {
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs)
    })
    if (!answer.ok) return false
    const script = /<script[^>]* src="(\/assets\/[^"]+)"/.exec(await answer.text())?.[1]
    return own !== undefined && script !== undefined && script !== own
  } catch {
    return false
  }
}

const scriptIn = (page: Document): string | undefined =>
  page.querySelector("script[src^='/assets/']")?.getAttribute("src") ?? undefined
