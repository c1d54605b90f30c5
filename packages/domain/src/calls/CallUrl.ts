import { Result, Schema } from "effect"

export const maxUrlLength = 2048

/** Matches control characters, and lone surrogates, which PostgreSQL cannot store. */
const unsendableCharacters = /[\p{Cc}\p{Cs}]/u

/**
 * Parses a URL exactly as the call does. WHATWG rules turn decimal, octal and hexadecimal hosts
 * into dotted IPv4, so the check and the call see the same host. Private addresses are checked when
 * the call is made: the allowed networks depend on the server's configuration, and DNS can change.
 */
export const parseCallUrl = (text: string): Result.Result<URL, string> => {
  if (text.length > maxUrlLength) {
    return Result.fail(`must be at most ${maxUrlLength} characters long`)
  }
  // The URL parser silently drops tabs and newlines in the middle and spaces at both ends.
  if (unsendableCharacters.test(text) || text !== text.trim()) {
    return Result.fail("must not contain control characters, or begin or end with a space")
  }
  // The parser would also accept `https:host` and `https:/host`.
  if (!/^https?:\/\//i.test(text)) {
    return Result.fail("must start with http:// or https://")
  }
  if (!URL.canParse(text)) {
    return Result.fail("must be a URL with a host")
  }
  const url = new URL(text)
  if (url.username !== "" || url.password !== "") {
    return Result.fail("must not contain a user name or password; use an Authorization header")
  }
  return Result.succeed(url)
}

/** A call's URL, stored as written. */
export const CallUrl = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const url = parseCallUrl(text)
      return Result.isSuccess(url) ? undefined : url.failure
    },
    {
      expected: "an http or https URL",
      toJsonSchema: () => ({ format: "uri", maxLength: maxUrlLength })
    }
  )
).annotate({
  description: "The URL to call. Must use `http` or `https`.",
  examples: ["https://api.example.com/jobs/nightly"]
})
