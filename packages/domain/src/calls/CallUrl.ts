import { Result, Schema } from "effect"

export const maxUrlLength = 2048

/** Control characters, and lone surrogates, which PostgreSQL cannot store. */
const unsendable = /[\p{Cc}\p{Cs}]/u

/**
 * Reads a URL the way the call will. By WHATWG rules, decimal, octal and hexadecimal hosts become
 * dotted IPv4, so what is checked is what is called. Private addresses are not
 * refused here: the allowed networks depend on the configuration of the server, and DNS answers
 * change, so they are checked when the call is made.
 */
export const parseCallUrl = (text: string): Result.Result<URL, string> => {
  if (text.length > maxUrlLength) {
    return Result.fail(`must be at most ${maxUrlLength} characters long`)
  }
  // The URL parser silently drops tabs and newlines from the middle, and spaces from both ends.
  if (unsendable.test(text) || text !== text.trim()) {
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

/** The URL of an outgoing call, kept as it was written. */
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
  description: "The address that is called: `http` or `https`.",
  examples: ["https://api.example.com/jobs/nightly"]
})
