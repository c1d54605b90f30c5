import type { Fetch } from "@scheduling/sdk"

export interface Sent {
  readonly verb: string
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
}

export type Step = Response | Error | ((sent: Sent) => Response | Promise<Response>)

/**
 * Responds to requests with these steps in order, and records the requests. Further requests fail.
 */
export const scriptedFetch = (...steps: ReadonlyArray<Step>) => {
  const sent: Array<Sent> = []
  const left = [...steps]
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init)
    const { pathname, search } = new URL(url)
    const text = await request.text()
    const one: Sent = {
      verb: request.method,
      path: pathname + search,
      headers: request.headers,
      body: bodyOf(request.headers.get("content-type"), text),
      signal: init.signal ?? new AbortController().signal
    }
    sent.push(one)
    const step = left.shift()
    if (step === undefined) throw new Error(`${one.verb} ${one.path} was not expected`)
    if (step instanceof Error) throw step
    return typeof step === "function" ? step(one) : step
  }
  return { fetch, sent }
}

const bodyOf = (type: string | null, text: string): unknown => {
  if (text === "") return undefined
  return type === "application/x-www-form-urlencoded"
    ? Object.fromEntries(new URLSearchParams(text))
    : JSON.parse(text)
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers: { "x-request-id": "req-1", ...headers } })

export const empty = () => new Response(null, { status: 204 })

export const failure = (
  status: number,
  error: string,
  fields: object = {},
  headers: Record<string, string> = {}
) =>
  json(
    { detail: { error, message: `It is ${error}.`, ...fields }, request_id: "req-1" },
    status,
    headers
  )

/** Returns the error that `fetch` throws in Node. */
export const broken = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(`it was ${code}`), { code }) })

export const hanging = () => new Promise<Response>(() => undefined)

export const whoami = (workspace_id = "ws-own") => json({ kind: "api_key", workspace_id })

export const page = (data: ReadonlyArray<unknown>, next_cursor: string | null) =>
  json({ data, next_cursor })
