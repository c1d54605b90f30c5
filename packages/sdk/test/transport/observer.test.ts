import { type ResponseEvent, SchedulingClient } from "@scheduling/sdk"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import {
  fetchError,
  errorResponse,
  jsonResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const url = "http://127.0.0.1:4000/v1/whoami"

const watched = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch } = scriptedFetch(...steps)
  const requests: Array<unknown> = []
  const responses: Array<ResponseEvent> = []
  const lines: Array<string> = []
  const client = new SchedulingClient({
    apiKey: "pak_secret",
    fetch,
    onRequest: (event) => requests.push(event),
    onResponse: (event) => responses.push(event),
    logger: {
      debug: (line) => lines.push(`debug ${line}`),
      warn: (line) => lines.push(`warn ${line}`)
    }
  })
  return { client, lines, requests, responses }
}

const busy = () => errorResponse(429, "rate_limited", { retry_after: 1 }, { "retry-after": "1" })

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Lets the client wait between its attempts. */
const afterWaits = async <A>(call: Promise<A>): Promise<A> => {
  await vi.runAllTimersAsync()
  return call
}

describe("observers", () => {
  it("are notified of each attempt and its result", async () => {
    const { client, requests, responses } = watched(busy(), jsonResponse({ kind: "api_key" }))
    await afterWaits(client.workspaces.whoami())
    expect(requests).toEqual([
      { method: "GET", url, attempt: 1 },
      { method: "GET", url, attempt: 2 }
    ])
    expect(responses).toMatchObject([
      { attempt: 1, status: 429, requestId: "req-1", retryInMs: 1000 },
      { attempt: 2, status: 200, requestId: "req-1", error: undefined, retryInMs: undefined }
    ])
    expect(responses.map(({ durationMs }) => durationMs)).toEqual([0, 0])
    expect(responses[0]?.error).toMatchObject({ code: "rate_limited" })
  })

  it("are notified of a broken connection", async () => {
    const { client, responses } = watched(fetchError("ECONNRESET"))
    const options = { maxRetries: 0 }
    await expect(client.workspaces.whoami(options)).rejects.toThrow("ECONNRESET")
    expect(responses).toMatchObject([
      { status: undefined, requestId: undefined, error: { name: "ConnectionError" } }
    ])
  })

  it("receive a readable line", async () => {
    const { client, lines } = watched(busy(), jsonResponse({ kind: "api_key" }))
    await afterWaits(client.workspaces.whoami())
    expect(lines[0]).toMatch(
      /^warn GET http:\/\/127\.0\.0\.1:4000\/v1\/whoami: 429 after \d+ ms, request req-1, retry in 1000 ms$/
    )
    expect(lines[1]).toMatch(/^debug GET \S+: 200 after \d+ ms, request req-1, attempt 2$/)
  })

  it("never receive a credential or the body of a request", async () => {
    const { client, lines, requests, responses } = watched(
      jsonResponse({ access_token: "jwt_secret", refresh_token: "r_secret", expires_in: 900 }),
      errorResponse(401, "invalid_api_key")
    )
    await client.auth.login({ email: "a@example.com", password: "pw_secret" })
    await client.workspaces.whoami().catch(() => undefined)
    expect(JSON.stringify([lines, requests, responses])).not.toContain("secret")
  })

  it("cannot fail a call by throwing", async () => {
    const { fetch, sent } = scriptedFetch(jsonResponse({ status: "ok", version: "1.2.3" }))
    const fail = () => {
      throw new Error("the log is full")
    }
    const logger = { debug: fail, warn: fail }
    const client = new SchedulingClient({ fetch, logger, onRequest: fail, onResponse: fail })
    expect(await client.system.health()).toEqual({ status: "ok", version: "1.2.3" })
    expect(sent).toHaveLength(1)
  })
})
