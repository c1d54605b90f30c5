import { lazyRouteComponent } from "@tanstack/react-router"
import { ConnectionError } from "@scheduling/sdk"

/** Another version of the panel was installed: the files of this one are gone. */
export class OtherVersionError extends Error {
  override readonly name = "OtherVersionError"
}

/**
 * A page whose code is loaded on demand. If loading fails, the router would reload the page, and
 * while the service is down the browser would show its own error page.
 */
export const lazyPage = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name
) => lazyRouteComponent<Module, Name>(() => loadCode(load), name)

/** Says why code does not come. */
export const loadCode = <Module>(load: () => Promise<Module>): Promise<Module> =>
  load().catch(async (error: unknown) => {
    throw (await isOtherVersion())
      ? new OtherVersionError("A new version was installed. Load the page again.")
      : new ConnectionError("the code of a page could not be loaded", { cause: error })
  })

const patienceMs = 4_000

/** Whether the service answers with a page that begins with another script than this one did. */
const isOtherVersion = async (): Promise<boolean> => {
  const own = scriptIn(document)
  try {
    const answer = await fetch("/", {
      cache: "no-store",
      signal: AbortSignal.timeout(patienceMs)
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
