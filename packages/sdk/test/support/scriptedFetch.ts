import type { Fetch } from "@scheduling/sdk"

export interface SentRequest {
  readonly verb: string
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
}

export type ScriptedResponse =
  | Response
  | Error
  | ((sent: SentRequest) => Response | Promise<Response>)

/**
 * Responds to requests with these steps in order, and records the requests. Further requests fail.
 */
export const scriptedFetch = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const sent: Array<SentRequest> = []
  const left = [...steps]
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init)
    const { pathname, search } = new URL(url)
    const text = await request.text()
    const one: SentRequest = {
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

export const jsonResponse = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers: { "x-request-id": "req-1", ...headers } })

export const noContentResponse = () => new Response(null, { status: 204 })

export const errorResponse = (
  status: number,
  error: string,
  fields: object = {},
  headers: Record<string, string> = {}
) =>
  jsonResponse(
    { detail: { error, message: `It is ${error}.`, ...fields }, request_id: "req-1" },
    status,
    headers
  )

/** Returns the error that `fetch` throws in Node. */
export const fetchError = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(`it was ${code}`), { code }) })

export const neverResponds = () => new Promise<Response>(() => undefined)

export const whoamiResponse = (workspace_id = "ws-own") =>
  jsonResponse({ kind: "api_key", workspace_id })

export const pageResponse = (data: ReadonlyArray<unknown>, next_cursor: string | null) =>
  jsonResponse({ data, next_cursor })
