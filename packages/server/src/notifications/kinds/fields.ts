import { CallUrl } from "@scheduling/domain/calls/CallUrl"
import { text } from "@scheduling/domain/shared/Text"
import { Schema } from "effect"

const token = (what: string, pattern: RegExp, max = 500) =>
  text({ min: 1, max })
    .check(Schema.isPattern(pattern, { expected: what }))
    .annotate({ description: what })

/** What is sent in a header or a URL: printable ASCII and no space. */
export const secret = (description: string, pattern = /^[\x21-\x7e]+$/) =>
  token(description, pattern)

export const word = (description: string, pattern = /^[\x21-\x7e]+$/, max = 200) =>
  token(description, pattern, max)

export const line = (description: string, max: number) =>
  text({ min: 1, max })
    .check(
      Schema.makeFilter((value) => !/\p{Cc}/u.test(value) && value.trim() !== "", {
        expected: "text of one line"
      })
    )
    .annotate({ description })

/** An address of the provider's own, which is a secret as a whole. */
export const providerUrl = (description: string, hosts: RegExp) =>
  CallUrl.check(
    Schema.makeFilter(
      (url) => {
        if (!URL.canParse(url)) return false
        const { hostname, port, protocol } = new URL(url)
        return protocol === "https:" && port === "" && hosts.test(hostname)
      },
      { expected: description }
    )
  ).annotate({ description })

/** Of a server that anybody may run. */
export const serverUrl = (description: string) => CallUrl.annotate({ description })

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

/** In the order of tone: as most clients show them. */
export const colors = { down: "#dc2626", up: "#16a34a", other: "#d97706" } as const
