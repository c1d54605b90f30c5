import { Result, Schema } from "effect"
import { CallUrl, maxUrlLength, parseCallUrl } from "../calls/CallUrl.ts"
import { text } from "../shared/Text.ts"

/** Lower-cases the description so that it can end the sentence `Expected …`. */
const asExpected = (description: string) =>
  description.charAt(0).toLowerCase() + description.slice(1)

const token = (description: string, example: string, pattern: RegExp, maxLength = 500) =>
  text({ min: 1, max: maxLength })
    .check(
      Schema.isPattern(pattern, {
        expected: asExpected(description),
        toJsonSchema: () => ({ pattern: pattern.source, minLength: 1, maxLength })
      })
    )
    .annotate({ description, examples: [example] })

/** Matches a value for a header or a URL, which cannot contain spaces. */
const printable = /^[\x21-\x7e]+$/

export const secretField = (description: string, example: string, pattern = printable) =>
  token(description, example, pattern)

export const tokenField = (description: string, example: string, pattern = printable, max = 200) =>
  token(description, example, pattern, max)

/** A text of one line that is not blank. */
export const lineField = (description: string, example: string, maxLength: number) =>
  text({ min: 1, max: maxLength })
    .check(
      Schema.makeFilter((value) => !/\p{Cc}/u.test(value) && value.trim() !== "", {
        expected: "text of one line",
        toJsonSchema: () => ({
          pattern: "^(?=.*\\S)[^\\x00-\\x1f\\x7f-\\x9f]+$",
          minLength: 1,
          maxLength
        })
      })
    )
    .annotate({ description, examples: [example] })

/** A URL at the provider. The whole URL is a secret. `hosts` is a regular expression. */
export const providerUrl = (description: string, example: string, hosts: string) => {
  const host = new RegExp(`^(?:${hosts})$`)
  return Schema.String.check(
    Schema.makeFilter(
      (text) => {
        const url = parseCallUrl(text)
        if (Result.isFailure(url)) return url.failure
        const { hostname, port, protocol } = url.success
        return protocol === "https:" && port === "" && host.test(hostname)
      },
      {
        expected: asExpected(description),
        toJsonSchema: () => ({
          format: "uri",
          pattern: `^https://(?:${hosts})(?:[/?#]|$)`,
          maxLength: maxUrlLength
        })
      }
    )
  ).annotate({ description, examples: [example] })
}

/** A URL whose host the user chooses. For services with fixed hosts, use `providerUrl`. */
export const serverUrl = (description: string, example: string) =>
  CallUrl.annotate({ description, examples: [example] })
