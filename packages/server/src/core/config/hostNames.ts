/** Returns whether a name from `HOST` or the `Host` header is a loopback name or address. */
export const isLoopback = (name: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(name)

/** Validates an item of `ALLOWED_HOSTS`. Returns an error message or undefined. */
export const hostProblem = (host: string): string | undefined =>
  canonicalHost(host) === host.toLowerCase() && !host.includes("*")
    ? undefined
    : `"${host}" is not a host name or IP address without a port, such as api.example.com or [fd00::1]`

/** Validates an item of `ALLOWED_ORIGINS`. Returns an error message or undefined. */
export const originProblem = (origin: string): string | undefined =>
  /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
    ? undefined
    : `"${origin}" is not an origin such as https://app.example.com`

const canonicalHost = (host: string): string | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined
