/** The used part of a Node-like `process`. Browsers and some edge runtimes have none. */
interface Process {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly versions?: Readonly<Record<string, string | undefined>>
}

const runtime = (): Process | undefined => {
  const { process } = globalThis as { readonly process?: Process }
  return process
}

type Variable =
  | "SCHEDULING_API_KEY"
  | "SCHEDULING_LOG"
  | "SCHEDULING_URL"
  | "SCHEDULING_WORKSPACE_ID"

/**
 * Returns a variable. One that is set to an empty text counts as not set: CI does that for a
 * missing secret.
 */
export const variable = (name: Variable): string | undefined => {
  try {
    return runtime()?.env?.[name]?.trim() || undefined
  } catch {
    // Deno throws if the program may not read the environment.
    return undefined
  }
}

/**
 * The user agent for the logs of the service. Only on servers: a browser sends its own, and a page
 * that sets one needs a preflight.
 */
export const userAgent = (version: string): string | undefined => {
  if ("document" in globalThis) return undefined
  const { bun, deno, node } = runtime()?.versions ?? {}
  if (bun !== undefined) return `scheduling-sdk/${version} bun/${bun}`
  if (deno !== undefined) return `scheduling-sdk/${version} deno/${deno}`
  return node === undefined ? undefined : `scheduling-sdk/${version} node/${node}`
}
