import { ApiError, ConnectionError, SchedulingClient, TimeoutError } from "@scheduling/sdk"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import {
  fetchError,
  errorResponse,
  neverResponds,
  jsonResponse,
  pageResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const clientOf = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  const client = new SchedulingClient({ apiKey: "pak_x", workspaceId: "ws", fetch })
  return { client, sent }
}

const task = { name: "n", url: "https://example.com", schedule: "* * * * *" }

/** Runs all of the call's timers, and returns its result or error. */
const outcome = async <A>(call: Promise<A>): Promise<A | Error> => {
  const settled = call.catch((error: Error) => error)
  await vi.runAllTimersAsync()
  return settled
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, "random").mockReturnValue(1)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe("retries", () => {
  it("a read is attempted three times and then fails with the last response", async () => {
    const { client, sent } = clientOf(
      fetchError("ECONNRESET"),
      errorResponse(502, "x"),
      errorResponse(503, "unavailable", { retry_after: 1 })
    )
    const started = Date.now()
    expect(await outcome(client.cron.get("t1"))).toMatchObject({ name: "UnavailableError" })
    expect(sent).toHaveLength(3)
    expect(Date.now() - started).toBe(500 + 1000)
  })

  it("a create has the same idempotency key in all attempts, and another in the next call", async () => {
    const { client, sent } = clientOf(
      fetchError("ECONNRESET"),
      jsonResponse({ id: "t1" }, 201),
      jsonResponse({}, 201)
    )
    expect(await outcome(client.cron.create(task))).toEqual({ id: "t1" })
    await outcome(client.cron.create(task))
    const [first, second, other] = sent.map(({ headers }) => headers.get("idempotency-key"))
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })

  it("a create sends the caller's key", async () => {
    const { client, sent } = clientOf(jsonResponse({}, 201))
    await client.cron.create(task, { idempotencyKey: "deploy-1" })
    expect(sent[0]?.headers.get("idempotency-key")).toBe("deploy-1")
  })

  it("a request that cannot be repeated safely is sent once", async () => {
    const { client, sent } = clientOf(
      fetchError("ECONNRESET"),
      errorResponse(500, "internal_error")
    )
    expect(await outcome(client.cron.update("t1", { name: "x" }))).toBeInstanceOf(ConnectionError)
    expect(await outcome(client.cron.pause("t1"))).toMatchObject({ status: 500 })
    expect(sent).toHaveLength(2)
    expect(sent.every(({ headers }) => !headers.has("idempotency-key"))).toBe(true)
  })

  it("such a request is sent again if there was no connection or the service did nothing", async () => {
    const { client, sent } = clientOf(
      fetchError("ECONNREFUSED"),
      errorResponse(429, "rate_limited", { retry_after: 2 }, { "retry-after": "2" }),
      jsonResponse({ id: "t1" })
    )
    const started = Date.now()
    expect(await outcome(client.cron.update("t1", { name: "x" }))).toEqual({ id: "t1" })
    expect(sent).toHaveLength(3)
    expect(Date.now() - started).toBe(500 + 2000)
  })

  it("a wait that is too long fails, so that the caller decides", async () => {
    const limited = errorResponse(
      429,
      "rate_limited",
      { retry_after: 900 },
      { "retry-after": "900" }
    )
    const { client, sent } = clientOf(limited)
    const error = await outcome(client.cron.get("t1"))
    expect(error).toMatchObject({ name: "RateLimitError", retryAfter: 900 })
    expect(sent).toHaveLength(1)
  })

  it("maxRetries of the call replaces that of the client", async () => {
    const down = () => errorResponse(503, "unavailable")
    const { fetch, sent } = scriptedFetch(down(), down(), down(), down(), down())
    const client = new SchedulingClient({ apiKey: "k", workspaceId: "ws", fetch, maxRetries: 0 })
    await outcome(client.cron.get("t1"))
    expect(sent).toHaveLength(1)
    await outcome(client.cron.get("t1", { maxRetries: 3 }))
    expect(sent).toHaveLength(5)
  })
})

describe("timeouts and aborts", () => {
  it("each attempt has its own timeout, even with a fetch that knows no signals", async () => {
    const { client, sent } = clientOf(neverResponds, neverResponds, jsonResponse({ id: "t1" }))
    const started = Date.now()
    expect(await outcome(client.cron.get("t1", { timeoutMs: 1000 }))).toEqual({ id: "t1" })
    expect(Date.now() - started).toBe(1000 + 500 + 1000 + 1000)
    expect(sent.map(({ signal }) => signal.aborted)).toEqual([true, true, false])
  })

  it("a body that stops coming times out too", async () => {
    const stalled = () => new Response(new ReadableStream({ start: (it) => it.enqueue(bytes) }))
    const bytes = new TextEncoder().encode('{"id":')
    const { client } = clientOf(stalled)
    const error = await outcome(client.cron.get("t1", { maxRetries: 0, timeoutMs: 1000 }))
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({ message: "No response within 1000 ms" })
  })

  it("an abort ends an attempt with the signal's reason", async () => {
    const { client, sent } = clientOf(neverResponds)
    const controller = new AbortController()
    const call = client.cron.get("t1", { signal: controller.signal }).catch((error) => error)
    await vi.advanceTimersByTimeAsync(1)
    const reason = new TimeoutError("mine, and of a class that would be retried")
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(sent).toHaveLength(1)
    expect(sent[0]?.signal.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it("an abort ends the wait between attempts", async () => {
    const { client, sent } = clientOf(errorResponse(503, "unavailable"))
    const controller = new AbortController()
    const call = client.cron.get("t1", { signal: controller.signal }).catch((error) => error)
    await vi.advanceTimersByTimeAsync(100)
    controller.abort("enough")
    expect(await call).toBe("enough")
    expect(sent).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it("a signal that is aborted already sends nothing", async () => {
    const { client, sent } = clientOf()
    const signal = AbortSignal.abort("no")
    await expect(client.cron.get("t1", { signal })).rejects.toBe("no")
    expect(sent).toHaveLength(0)
  })

  it("a signal that outlives the call keeps no listeners", async () => {
    const { client } = clientOf(errorResponse(503, "unavailable"), jsonResponse({}))
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, "addEventListener")
    const removed = vi.spyOn(signal, "removeEventListener")
    await outcome(client.cron.get("t1", { signal }))
    expect(added.mock.calls.length).toBeGreaterThan(0)
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      expect.arrayContaining(added.mock.calls.map(([, listener]) => listener))
    )
  })
})

describe("responses", () => {
  it("come with the response and the request's id", async () => {
    const { client } = clientOf(jsonResponse({ id: "t1" }, 201))
    const answer = await client.cron.create(task).withResponse()
    expect(answer).toMatchObject({ data: { id: "t1" }, requestId: "req-1" })
    expect(answer.response.status).toBe(201)
  })

  it.each([
    ["a page of a proxy", new Response("<h1>Bad Gateway</h1>", { status: 502 }), 502],
    ["a page in place of JSON", new Response("<h1>Hello</h1>", { status: 200 }), 200],
    ["a redirect", new Response(null, { status: 302, headers: { location: "/x" } }), 302],
    ["JSON of another shape", jsonResponse({ error: "nope" }, 400), 400]
  ])("%s is an error that says so", async (_, response, status) => {
    const { client } = clientOf(response)
    const error = await outcome(client.cron.get("t1", { maxRetries: 0 }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: "unexpected_answer", status })
  })

  it("redirects are not followed", async () => {
    const redirects: Array<RequestRedirect | undefined> = []
    const fetch = async (_: string, init: RequestInit) => {
      redirects.push(init.redirect)
      return pageResponse([], null)
    }
    await new SchedulingClient({ apiKey: "k", workspaceId: "ws", fetch }).cron.list()
    expect(redirects).toEqual(["manual"])
  })

  it("a connection error has a reason, and keeps the cause", async () => {
    const cause = fetchError("ECONNRESET")
    const { client } = clientOf(cause)
    const error = await outcome(client.cron.get("t1", { maxRetries: 0 }))
    expect(error).toMatchObject({ cause, message: expect.stringContaining("it was ECONNRESET") })
  })
})
