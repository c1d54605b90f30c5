import { CallUrl, maxUrlLength, parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { text } from "@scheduling/domain/shared/Text"
import { Result, Schema } from "effect"

/** In the middle of a sentence. */
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

/** What is sent in a header or a URL: printable ASCII and no space. */
const printable = /^[\x21-\x7e]+$/

export const secret = (description: string, example: string, pattern = printable) =>
  token(description, example, pattern)

export const word = (description: string, example: string, pattern = printable, max = 200) =>
  token(description, example, pattern, max)

/** Text that is not blank. */
export const line = (description: string, example: string, maxLength: number) =>
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

/** An address of the provider's own, which is a secret as a whole. `hosts` is a pattern. */
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

/** Of a server that anybody may run. */
export const serverUrl = (description: string, example: string) =>
  CallUrl.annotate({ description, examples: [example] })

/** The server's URL with a path below it. */
export const under = (server: string, path: string): string => server.replace(/\/+$/, "") + path

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

export const bearer = (value: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${value}`
})

export const form = (fields: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, value]]
    )
  ).toString()

export const formHeaders = { "content-type": "application/x-www-form-urlencoded" }
