import { assert } from "@effect/vitest"
import { LiveEvent } from "@scheduling/domain/events/Event"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TestApp } from "../support/TestApp.ts"
import { eventually } from "../support/ServerProcess.ts"

/** Decodes an event. Every event in every test must match the contract. */
const parseEvent = Schema.decodeUnknownSync(Schema.fromJsonString(LiveEvent), {
  onExcessProperty: "error"
})

interface Following {
  readonly workspace: string
  readonly token: string
  readonly at?: "url" | "otherUrl"
  readonly after?: string
}

/** Opens an event stream, waits until it has started, and reads it until the scope closes. */
export const follow = Effect.fnUntraced(function* ({
  after,
  at = "url",
  token,
  workspace
}: Following) {
  const app = yield* TestApp
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (made) => Effect.sync(() => made.abort())
  )
  const response = yield* Effect.promise(() =>
    fetch(`${app[at]}${workspace}/events`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(after === undefined ? {} : { "last-event-id": after })
      },
      signal: controller.signal
    })
  )
  let text = ""
  let end: "ended" | "cut" | undefined
  const read = async () => {
    try {
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
      end = "ended"
    } catch {
      end = "cut"
    }
  }
  void read()
  const events = () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => parseEvent(data))
  yield* eventually("a stream that has begun", async () => text.includes("id: ") || end)
  return {
    response,
    text: () => text,
    end: () => end,
    events,
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "",
    until: (what: string, holds: (events: ReadonlyArray<LiveEvent>) => boolean) =>
      eventually(what, async () => holds(events()) && events(), 60_000),
    untilEnd: eventually("the end of the stream", async () => end, 60_000)
  }
})

/**
 * Advances the clock by less than the heartbeat interval, so that nodes send their batched changes.
 */
export const sendBatchedChanges = (holds: () => boolean) =>
  TestClock.adjust("5 millis").pipe(
    Effect.andThen(TestClock.withLive(Effect.sleep("10 millis"))),
    Effect.repeat({ until: holds, times: 1_000 }),
    Effect.andThen(Effect.sync(() => assert.isTrue(holds())))
  )

/** Opens a stream while the test's clock advances, because the announcement waits for the clock. */
export const openStreamOnTestClock = (options: Parameters<typeof follow>[0]) =>
  Effect.raceFirst(
    follow(options),
    Effect.forever(
      Effect.andThen(TestClock.adjust("10 millis"), TestClock.withLive(Effect.sleep("1 millis")))
    )
  )
