import { Result } from "effect"

const wildcard = "*."

/** A host to which a secret may be sent, read from its text. */
export interface AllowedHost {
  /** `https:` unless the text says `http://`. */
  readonly protocol: string
  /** The host name as a URL has it. With `isWildcard`, what the names of hosts end with. */
  readonly hostname: string
  readonly port: string
  readonly isWildcard: boolean
}

/**
 * Reads `api.example.com`, `*.example.com`, `api.example.com:8443` or `http://jobs.internal:8080`.
 * A host stands for HTTPS on one port: without these, whoever may change a task could send the secret
 * in the clear, or to another program on the same machine.
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

/**
 * True if a secret with these hosts may be sent to the URL. The URL is read as the call will read it,
 * so no other spelling of a host gets by.
 */
export const mayReceive = (url: URL, allowedHosts: ReadonlyArray<AllowedHost>): boolean =>
  allowedHosts.some(
    ({ hostname, isWildcard, port, protocol }) =>
      url.protocol === protocol &&
      url.port === port &&
      (isWildcard ? url.hostname.endsWith(`.${hostname}`) : url.hostname === hostname)
  )
