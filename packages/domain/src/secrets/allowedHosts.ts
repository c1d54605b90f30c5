import { Result } from "effect"

const wildcard = "*."

/** A parsed host that a secret is allowed to be sent to. */
export interface AllowedHost {
  /** `https:` unless the text starts with `http://`. */
  readonly protocol: string
  /**
   * The host name as in a URL. If `isWildcard` is true, the domain that host names must end with.
   */
  readonly hostname: string
  readonly port: string
  readonly isWildcard: boolean
}

/**
 * Parses `api.example.com`, `*.example.com`, `api.example.com:8443` or `http://jobs.internal:8080`.
 * The protocol and the port are fixed: otherwise anyone who can change a task could send the secret
 * unencrypted, or to another program on the same machine.
 */
export const parseAllowedHost = (text: string): Result.Result<AllowedHost, string> => {
  const isPlain = text.startsWith("http://")
  const name = text.slice(isPlain ? "http://".length : 0)
  const isWildcard = name.startsWith(wildcard)
  const host = isWildcard ? name.slice(wildcard.length) : name
  const protocol = isPlain ? "http:" : "https:"
  if (!/^[a-z0-9.\-:[\]]{1,253}$/i.test(host) || !URL.canParse(`${protocol}//${host}`)) {
    return Result.fail(
      "must be a host such as api.example.com, *.example.com, api.example.com:8443 or http://jobs.internal:8080"
    )
  }
  const url = new URL(`${protocol}//${host}`)
  if (isWildcard && !/^[^.[\]]+(?:\.[^.[\]]+)*\.[a-z][a-z0-9-]*$/.test(url.hostname)) {
    return Result.fail("must have a domain such as example.com after *.")
  }
  return Result.succeed({ protocol, hostname: url.hostname, port: url.port, isWildcard })
}

/** Returns the allowed host that matches only the URL's own host. */
export const allowedHostOf = ({ host, origin, protocol }: URL): string =>
  protocol === "https:" ? host : origin

/**
 * Returns true if a secret with these hosts is allowed to be sent to the URL. The URL is parsed
 * exactly as the call does, so alternative spellings of a host cannot bypass the check.
 */
export const mayReceiveSecret = (url: URL, allowedHosts: ReadonlyArray<AllowedHost>): boolean =>
  allowedHosts.some(
    ({ hostname, isWildcard, port, protocol }) =>
      url.protocol === protocol &&
      url.port === port &&
      (isWildcard ? url.hostname.endsWith(`.${hostname}`) : url.hostname === hostname)
  )
