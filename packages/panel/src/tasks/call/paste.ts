import type { CallMethod } from "@scheduling/sdk"
import { shellWords } from "./shellWords.ts"

/** What was understood of a text that was pasted. */
export interface Pasted {
  readonly schedule?: string
  readonly method?: CallMethod
  readonly url?: string
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: string
  readonly timeout_seconds?: string
}

const methods: ReadonlyArray<CallMethod> = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]

const nicknames: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *"
}

/** Five fields, of which the month and the day of the week may be named, and a command. */
const crontabLine =
  /^((?:[\d*][\d*,/~-]*\s+){3}(?:[\d*]|[a-z]{3}\b)[\d*,/~\-a-z]*\s+(?:[\d*]|[a-z]{3}\b)[\d*,/~\-a-z]*)(?:\s+(.*))?$/is

/** Reads a line of a crontab, a curl command, or the one in the other. */
export const readPasted = (text: string): Pasted | undefined => {
  const line = text.trim()
  const [nickname = ""] = line.split(/\s/, 1)
  const known = nicknames[nickname]
  if (known !== undefined) return { schedule: known, ...readCurl(line.slice(nickname.length)) }
  const [, schedule, command = ""] = crontabLine.exec(line) ?? []
  if (schedule !== undefined)
    return { schedule: schedule.split(/\s+/).join(" "), ...readCurl(command) }
  return readCurl(line)
}

/** Options of curl that take a value and change nothing here. */
const ignoredWithValue =
  /^(?:-o|--output|--retry|--retry-delay|--retry-max-time|--connect-timeout|-w|--write-out|--cacert|--cert|--key|-x|--proxy|-c|--cookie-jar|--max-redirs|--resolve)$/

const readCurl = (command: string): Pasted | undefined => {
  const words = shellWords(command)
  const begin = words.findIndex((word) => /(?:^|\/)curl$/.test(word))
  if (begin === -1) return undefined
  const headers: Array<readonly [string, string]> = []
  const data: Array<string> = []
  let method: string | undefined
  let url: string | undefined
  let timeout: string | undefined
  for (let at = begin + 1; at < words.length; at++) {
    const [option, value] = optionAt(words, at)
    if (/^(?:&&|;|\||\|\||\d?>.*)$/.test(option)) break
    if (/^(?:-X|--request)$/.test(option)) method = value
    else if (/^(?:-H|--header)$/.test(option)) headers.push(headerOf(value))
    else if (/^(?:-d|--data|--data-raw|--data-binary|--data-ascii|--json)$/.test(option))
      data.push(value)
    else if (/^(?:-u|--user)$/.test(option)) headers.push(["authorization", `Basic ${btoa(value)}`])
    else if (/^(?:-A|--user-agent)$/.test(option)) headers.push(["user-agent", value])
    else if (/^(?:-b|--cookie)$/.test(option)) headers.push(["cookie", value])
    else if (/^(?:-m|--max-time)$/.test(option)) timeout = String(Math.ceil(Number(value)) || 30)
    else if (/^(?:-I|--head)$/.test(option)) method = "HEAD"
    else if (option === "--url") url = value
    if (option === "--json") headers.push(["content-type", "application/json"])
    if (takesValue(option)) {
      if (!isJoined(words[at] ?? "", option)) at++
    } else if (!option.startsWith("-")) url ??= option
  }
  if (url === undefined) return undefined
  const body = data.join("&")
  const isForm =
    data.length > 0 &&
    !/^\s*[[{]/.test(body) &&
    !headers.some(([name]) => name.toLowerCase() === "content-type")
  const asked = methods.find((known) => known === method?.toUpperCase())
  return {
    url: /^[a-z]+:\/\//i.test(url) ? url : `http://${url}`,
    method: asked ?? (data.length > 0 ? "POST" : "GET"),
    headers: isForm ? [...headers, ["content-type", "application/x-www-form-urlencoded"]] : headers,
    body,
    ...(timeout !== undefined && { timeout_seconds: timeout })
  }
}

const valued =
  /^(?:-X|--request|-H|--header|-d|--data|--data-raw|--data-binary|--data-ascii|--json|-u|--user|-A|--user-agent|-b|--cookie|-m|--max-time|--url)$/

const takesValue = (option: string) => valued.test(option) || ignoredWithValue.test(option)

const isJoined = (word: string, option: string) => word !== option

/** `-X POST`, `-XPOST` and `--request=POST` alike. */
const optionAt = (words: ReadonlyArray<string>, at: number): readonly [string, string] => {
  const word = words[at] ?? ""
  const [, long, given] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? []
  if (long !== undefined) return [long, given ?? ""]
  const short = word.slice(0, 2)
  if (/^-[A-Za-z]./s.test(word) && !word.startsWith("--") && takesValue(short)) {
    return [short, word.slice(2)]
  }
  return [word, words[at + 1] ?? ""]
}

const headerOf = (text: string): readonly [string, string] => {
  const colon = text.indexOf(":")
  return colon === -1 ? [text, ""] : [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
}
