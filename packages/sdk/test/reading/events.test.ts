import { ForbiddenError, type LiveEvent, SchedulingClient } from "@scheduling/sdk"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { EventParser } from "../../src/reading/EventParser.ts"
import {
  fetchError,
  errorResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const encode = (text: string) => new TextEncoder().encode(text)

const parse = (chunks: ReadonlyArray<string>, parser = new EventParser(undefined)) => {
  parser.begin()
  return chunks.flatMap((chunk) => [...parser.read(encode(chunk))])
}

describe("reading events", () => {
  it.each([
    ["one at a time", ["data: a\n\n", "data: b\n\n"], ["a", "b"]],
    ["cut anywhere", ["da", "ta: a\n", "\ndata:b\n\n"], ["a", "b"]],
    ["whatever ends the lines", ["data: a\r", "\n\r\ndata: b\r\rdata: c\n\n"], ["a", "b", "c"]],
    ["over several lines", ["data: a\ndata: b\n\n"], ["a\nb"]],
    ["without comments and unknown fields", [": a\nretry: 1\nx\ndata: b\n\n"], ["b"]],
    ["only when they are whole", ["data: a\n\ndata: b"], ["a"]]
  ])("gives them %s", (_, chunks, data) => {
    expect(parse(chunks)).toEqual(data)
  })

  it("keeps the id of the last complete event", () => {
    const parser = new EventParser("0")
    expect(parser.lastEventId).toBe("0")
    parse(["id: 1\n\n"], parser)
    expect(parser.lastEventId).toBe("1")
    parse(["id: 2\ndata: a\n\nid: 3\ndata: b\n"], parser)
    expect(parser.lastEventId).toBe("2")
    parse(["data: c\n\n"], parser)
    expect(parser.lastEventId).toBe("2")
  })

  it("decodes characters that arrive in two parts", () => {
    const parser = new EventParser(undefined)
    parser.begin()
    const bytes = encode("data: é\n\n")
    const read = [bytes.subarray(0, 7), bytes.subarray(7)].flatMap((part) => [...parser.read(part)])
    expect(read).toEqual(["é"])
  })

  it("gives up on an endless line", () => {
    const parser = new EventParser(undefined)
    const chunk = encode("x".repeat(600_000))
    expect([...parser.read(chunk)]).toEqual([])
    expect(() => [...parser.read(chunk)]).toThrow("too long")
  })
})

const stream = (...messages: ReadonlyArray<string>) => new Response(messages.join(""))

const message = (id: string) => `id: ${id}\ndata: ${JSON.stringify({ id, type: "reset" })}\n\n`

const silent = (...messages: ReadonlyArray<string>) =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(encode(messages.join("")))
    })
  )

const clientOf = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  return {
    client: new SchedulingClient({ apiKey: "k", workspaceId: "ws", fetch, maxRetries: 0 }),
    sent,
    resumed: () => sent.map(({ headers }) => headers.get("last-event-id"))
  }
}

const take = async (events: AsyncIterable<LiveEvent>, count: number) => {
  const taken: Array<string> = []
  for await (const { id } of events) {
    taken.push(id)
    if (taken.length === count) break
  }
  return taken
}

describe("a stream of events", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const settled = async <A>(promise: Promise<A>) => {
    const result = promise.catch((error: unknown) => error)
    await vi.runAllTimersAsync()
    return result
  }

  it("requests events, and returns them", async () => {
    const { client, sent } = clientOf(stream(message("1"), message("2")))
    expect(await settled(take(client.events.stream(), 2))).toEqual(["1", "2"])
    expect(sent[0]).toMatchObject({ verb: "GET", path: "/v1/workspaces/ws/events" })
    expect(sent[0]?.headers.get("accept")).toBe("text/event-stream")
  })

  it("continues where the last stream ended, for any reason", async () => {
    const { client, resumed } = clientOf(
      stream("id: 0\n\n", message("1")),
      fetchError("ECONNREFUSED"),
      errorResponse(503, "unavailable"),
      errorResponse(429, "rate_limited"),
      stream(message("2")),
      silent(message("3")),
      stream(message("4"))
    )
    const events = client.events.stream({ lastEventId: "-1" })
    expect(await settled(take(events, 4))).toEqual(["1", "2", "3", "4"])
    expect(resumed()).toEqual(["-1", "1", "1", "1", "1", "2", "3"])
  })

  it("begins at a time until it has received an id", async () => {
    const { client, resumed } = clientOf(stream(), fetchError("ECONNREFUSED"), stream(message("1")))
    const time = "2026-01-31T09:30:00Z"
    expect(await settled(take(client.events.stream({ lastEventId: time }), 1))).toEqual(["1"])
    expect(resumed()).toEqual([time, time, time])
  })

  it("throws errors that are not temporary", async () => {
    const { client } = clientOf(
      stream(message("1")),
      errorResponse(403, "forbidden", { required_role: "viewer" })
    )
    expect(await settled(take(client.events.stream(), 2))).toBeInstanceOf(ForbiddenError)
  })

  it("throws if it cannot be opened at all", async () => {
    const { client } = clientOf(fetchError("ECONNREFUSED"))
    expect(await settled(take(client.events.stream(), 1))).toMatchObject({
      message: expect.stringContaining("ECONNREFUSED")
    })
  })

  it("ends with the program's signal, and closes its connection when the loop ends", async () => {
    const controller = new AbortController()
    const { client } = clientOf(silent(message("1")))
    const taken = take(client.events.stream({ signal: controller.signal }), 2)
    setTimeout(() => controller.abort(new Error("enough")), 10)
    expect(await settled(taken)).toMatchObject({ message: "enough" })

    const cancel = vi.fn<() => void>()
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(encode(message("1"))),
      cancel
    })
    const left = clientOf(new Response(body))
    expect(await settled(take(left.client.events.stream(), 1))).toEqual(["1"])
    expect(cancel).toHaveBeenCalledOnce()
  })
})
