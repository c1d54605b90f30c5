// @tags processes long
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createDataDirectory } from "../support/createDataDirectory.ts"
import { eventually } from "../support/ServerProcess.ts"
import {
  assertNotifiedOnce,
  startFixture,
  createHeartbeat,
  type Fixture,
  maxWaitMs
} from "./support/fixture.ts"

/**
 * The delays between the response to the ping and the kill. At that point, the event is being
 * routed, sent or recorded.
 */
const killedAfterMs = [0, 10, 50]

const fail = ({ node }: Fixture, pingPath: string) =>
  Effect.promise(() => fetch(`${node().url + pingPath}/fail`, { method: "POST" }))

/** Waits until the webhook has received the message about a failure, and withholds its response. */
const unanswered = Effect.fnUntraced(function* (fixture: Fixture, name: string) {
  const answer = yield* fixture.holdAnswers
  const before = fixture.hookCalls()
  const heartbeat = yield* createHeartbeat(fixture, name)
  yield* fail(fixture, heartbeat.pingPath)
  yield* eventually("a message", async () => fixture.hookCalls() > before, maxWaitMs)
  return { heartbeat, answer }
})

it.live(
  "A node that is killed on the embedded store loses no message, and nobody is notified twice",
  () =>
    Effect.gen(function* () {
      const fixture = yield* startFixture({ DATA_DIR: yield* createDataDirectory("killed") })
      const { node, replaceNode } = fixture

      // Before the transition: the ping has arrived, but is not processed yet.
      const unread = yield* createHeartbeat(fixture, "unread")
      node().kill("SIGSTOP")
      const lost = fetch(`${node().url + unread.pingPath}/fail`).then(
        () => "answered",
        () => "lost"
      )
      yield* replaceNode()
      assert.strictEqual(yield* Effect.promise(() => lost), "lost")
      yield* fail(fixture, unread.pingPath)
      yield* assertNotifiedOnce(fixture, unread)

      // After the transition: the node is killed once the ping has been answered.
      for (const ms of killedAfterMs) {
        const heartbeat = yield* createHeartbeat(fixture, `killed after ${ms} ms`)
        const { status } = yield* fail(fixture, heartbeat.pingPath)
        assert.strictEqual(status, 200)
        yield* Effect.sleep(ms)
        yield* replaceNode()
        yield* assertNotifiedOnce(fixture, heartbeat)
      }

      // After the message is sent: it has arrived, but the node never receives the response.
      const unheard = yield* unanswered(fixture, "without an answer")
      yield* replaceNode(unheard.answer)
      yield* assertNotifiedOnce(fixture, unheard.heartbeat)

      // The node is killed after the response has arrived and before it writes the result.
      const unrecorded = yield* unanswered(fixture, "without a record")
      node().kill("SIGSTOP")
      yield* unrecorded.answer
      yield* replaceNode()
      yield* assertNotifiedOnce(fixture, unrecorded.heartbeat)
    }),
  { timeout: 600_000 }
)
