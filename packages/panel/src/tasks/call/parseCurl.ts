import type { CallMethod } from "@scheduling/sdk"
import { canHaveBody, type FormHeader, callMethods } from "./callValues.ts"
import { isOutputOption, type CurlOption, parseCurlOptions } from "./curlOptions.ts"
import { shellWords } from "./shellWords.ts"

export interface PastedValues {
  readonly repeats?: "by schedule"
  readonly schedule?: string
  readonly method?: CallMethod
  readonly url?: string
  readonly headers?: ReadonlyArray<FormHeader>
  readonly body?: string
  readonly timeout_seconds?: string
}

export interface ParsedPaste {
  readonly values: PastedValues
  readonly filled: ReadonlyArray<string>
  /** The parts of the input that the form has no field for. */
  readonly ignored: ReadonlyArray<string>
}

interface RequestDraft {
  readonly headers: Array<readonly [name: string, value: string]>
  readonly data: Array<string>
  readonly query: Array<string>
  method?: CallMethod
  /** The method that curl uses without `--request`. */
  defaultMethod: CallMethod
  url?: string
  timeout?: string
  isGet: boolean
}

/** Applies an option to the draft, or returns its name if the panel ignores it. */
type Reader = (draft: RequestDraft, part: CurlOption) => string | undefined

const whole = ({ given, value }: CurlOption) => `${given} ${value}`

const header =
  (name: string, valueOf: (text: string) => string = (text) => text): Reader =>
  (draft, { value }) => {
    draft.headers.push([name, valueOf(value)])
    return undefined
  }

/** Ignores an option whose value is a file, which the panel cannot read. */
const unlessFile =
  (read: (draft: RequestDraft, value: string) => void): Reader =>
  (draft, part) => {
    draft.defaultMethod = "POST"
    if (part.value.startsWith("@")) return whole(part)
    read(draft, part.value)
    return undefined
  }

const data = unlessFile(({ data }, value) => data.push(value))

const readers: Readonly<Record<string, Reader>> = {
  request: (draft, part) => {
    const known = callMethods.find((method) => method === part.value.toUpperCase())
    if (known === undefined) return whole(part)
    draft.method = known
    return undefined
  },
  url: (draft, part) => {
    if (draft.url !== undefined) return part.value
    draft.url = part.value
    return undefined
  },
  header: ({ headers }, part) => {
    if (part.value.startsWith("@")) return whole(part)
    headers.push(headerOf(part.value))
    return undefined
  },
  data,
  "data-ascii": data,
  "data-binary": data,
  "data-raw": (draft, { value }) => {
    draft.defaultMethod = "POST"
    draft.data.push(value)
    return undefined
  },
  "data-urlencode": (draft, part) => {
    draft.defaultMethod = "POST"
    const text = urlEncoded(part.value)
    if (text === undefined) return whole(part)
    draft.data.push(text)
    return undefined
  },
  json: unlessFile(({ data, headers }, value) => {
    data.push(value)
    headers.push(["content-type", "application/json"])
  }),
  form: (draft, part) => {
    draft.defaultMethod = "POST"
    return whole(part)
  },
  "form-string": (draft, part) => {
    draft.defaultMethod = "POST"
    return whole(part)
  },
  "upload-file": (draft, part) => {
    draft.defaultMethod = "PUT"
    return whole(part)
  },
  get: (draft) => {
    draft.isGet = true
    return undefined
  },
  head: (draft) => {
    draft.defaultMethod = "HEAD"
    return undefined
  },
  "url-query": ({ query }, part) => {
    const text = part.value.startsWith("+") ? part.value.slice(1) : urlEncoded(part.value)
    if (text === undefined) return whole(part)
    query.push(text)
    return undefined
  },
  user: header("authorization", (text) => `Basic ${base64(text)}`),
  "oauth2-bearer": header("authorization", (text) => `Bearer ${text}`),
  "user-agent": header("user-agent"),
  referer: header("referer"),
  cookie: (draft, part) =>
    // A value without an equals sign is a file name.
    part.value.includes("=") ? header("cookie")(draft, part) : whole(part),
  "max-time": (draft, part) => {
    const seconds = Math.ceil(Number(part.value))
    if (!(seconds > 0)) return whole(part)
    draft.timeout = String(seconds)
    return undefined
  }
}

/**
 * Converts a curl command to a call. Returns undefined for other commands and if the URL is
 * missing.
 */
export const parseCurl = (command: string): ParsedPaste | undefined => {
  const words = shellWords(command)
  const begin = words.findIndex((word) => /(?:^|\/)curl$/.test(word))
  if (begin === -1) return undefined
  const draft: RequestDraft = {
    headers: [],
    data: [],
    query: [],
    defaultMethod: "GET",
    isGet: false
  }
  const ignored = new Set<string>()
  for (const part of parseCurlOptions(words.slice(begin + 1))) {
    const read = Object.hasOwn(readers, part.name) ? readers[part.name] : undefined
    const left = read === undefined ? part.given : read(draft, part)
    if (left !== undefined && !isOutputOption(part.name)) ignored.add(left)
  }
  return draft.url === undefined ? undefined : readingOf(draft, draft.url, [...ignored])
}

const readingOf = (
  draft: RequestDraft,
  url: string,
  ignored: ReadonlyArray<string>
): ParsedPaste => {
  const { isGet, timeout } = draft
  const method =
    draft.method ?? (isGet && draft.defaultMethod !== "HEAD" ? "GET" : draft.defaultMethod)
  const query = [...draft.query, ...(isGet ? draft.data : [])].join("&")
  const text = isGet ? "" : draft.data.join("&")
  const body = canHaveBody(method) ? text : ""
  const headers = isForm(draft.headers, body)
    ? [...draft.headers, ["content-type", "application/x-www-form-urlencoded"] as const]
    : draft.headers
  const count = headers.length
  return {
    values: {
      url: withQuery(/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`, query),
      method,
      headers,
      body,
      ...(timeout !== undefined && { timeout_seconds: timeout })
    },
    filled: [
      method,
      "URL",
      ...(count === 0 ? [] : [count === 1 ? "1 header" : `${count} headers`]),
      ...(body === "" ? [] : ["body"]),
      ...(timeout === undefined ? [] : ["timeout"])
    ],
    ignored: text === body ? ignored : [...ignored, "the body"]
  }
}

/**
 * Returns true if curl would send the body as a form. If the body looks like JSON, the service adds
 * the content type.
 */
const isForm = (headers: RequestDraft["headers"], body: string) =>
  body !== "" &&
  !/^\s*[[{]/.test(body) &&
  !headers.some(([name]) => name.toLowerCase() === "content-type")

const withQuery = (url: string, query: string) =>
  query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`

const headerOf = (text: string): readonly [string, string] => {
  const colon = text.indexOf(":")
  return colon === -1
    ? [text.replace(/;$/, ""), ""]
    : [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
}

/** Encodes `content`, `=content` and `name=content` like curl. Returns undefined for a file. */
const urlEncoded = (text: string): string | undefined => {
  const [, name = "", mark = "", content = ""] = /^([^=@]*)([=@]?)(.*)$/s.exec(text) ?? []
  if (mark === "@") return undefined
  if (mark === "") return percentEncoded(name)
  return name === "" ? percentEncoded(content) : `${name}=${percentEncoded(content)}`
}

/**
 * Percent-encodes a text. Replaces lone surrogates, because `encodeURIComponent` would throw on
 * them.
 */
const percentEncoded = (text: string) =>
  new URLSearchParams([["", text]]).toString().slice(1).replaceAll("+", "%20")

const base64 = (text: string) =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))
