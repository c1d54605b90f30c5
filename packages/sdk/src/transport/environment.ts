/**
 * The part of Node's `process` that the SDK uses. Browsers and some edge runtimes have no
 * `process`.
 */
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
 * Returns an environment variable. An empty variable counts as unset, because CI sets missing
 * secrets to an empty string.
 */
export const environmentVariable = (name: Variable): string | undefined => {
  try {
    return runtime()?.env?.[name]?.trim() || undefined
  } catch {
    // Deno throws if the program has no permission to read the environment.
    return undefined
  }
}

/**
 * The user agent for the service's logs. Only set on servers: browsers send their own, and setting
 * it in a page requires a preflight request.
 */
export const userAgent = (version: string): string | undefined => {
  if ("document" in globalThis) return undefined
  const { bun, deno, node } = runtime()?.versions ?? {}
  if (bun !== undefined) return `scheduling-sdk/${version} bun/${bun}`
  if (deno !== undefined) return `scheduling-sdk/${version} deno/${deno}`
  return node === undefined ? undefined : `scheduling-sdk/${version} node/${node}`
}
