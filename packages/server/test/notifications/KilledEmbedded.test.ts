// @tags processes long
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { dataDirectory } from "../support/dataDirectory.ts"
import { eventually } from "../support/ServerProcess.ts"
import {
  assertNotifiedOnce,
  beginScene,
  createHeartbeat,
  type Scene,
  withinMs
} from "./support/scene.ts"

/**
 * The time of the kill after the response to the ping: while the event is routed, sent and
 * recorded.
 */
const killedAfterMs = [0, 10, 50]

const fail = ({ node }: Scene, pingPath: string) =>
  Effect.promise(() => fetch(`${node().url + pingPath}/fail`, { method: "POST" }))

/** Waits until the webhook has received the message of a failure, and holds its response. */
const unanswered = Effect.fnUntraced(function* (scene: Scene, name: string) {
  const answer = yield* scene.holdAnswers
  const before = scene.hookCalls()
  const heartbeat = yield* createHeartbeat(scene, name)
  yield* fail(scene, heartbeat.pingPath)
  yield* eventually("a message", async () => scene.hookCalls() > before, withinMs)
  return { heartbeat, answer }
})

it.live(
  "A node that is killed on the embedded store loses no message, and nobody is notified twice",
  () =>
    Effect.gen(function* () {
      const scene = yield* beginScene({ DATA_DIR: yield* dataDirectory("killed") })
      const { node, replaceNode } = scene

      // Before the transition: the ping has arrived, and is not processed.
      const unread = yield* createHeartbeat(scene, "unread")
      node().kill("SIGSTOP")
      const lost = fetch(`${node().url + unread.pingPath}/fail`).then(
        () => "answered",
        () => "lost"
      )
      yield* replaceNode()
      assert.strictEqual(yield* Effect.promise(() => lost), "lost")
      yield* fail(scene, unread.pingPath)
      yield* assertNotifiedOnce(scene, unread)

      // After the transition, as soon as the ping got its response.
      for (const ms of killedAfterMs) {
        const heartbeat = yield* createHeartbeat(scene, `killed after ${ms} ms`)
        const { status } = yield* fail(scene, heartbeat.pingPath)
        assert.strictEqual(status, 200)
        yield* Effect.sleep(ms)
        yield* replaceNode()
        yield* assertNotifiedOnce(scene, heartbeat)
      }

      // After the send: the message has arrived, and the node never gets the response.
      const unheard = yield* unanswered(scene, "without an answer")
      yield* replaceNode(unheard.answer)
      yield* assertNotifiedOnce(scene, unheard.heartbeat)

      // Before the record: the response has arrived, and the node never writes the result.
      const unrecorded = yield* unanswered(scene, "without a record")
      node().kill("SIGSTOP")
      yield* unrecorded.answer
      yield* replaceNode()
      yield* assertNotifiedOnce(scene, unrecorded.heartbeat)
    }),
  { timeout: 600_000 }
)
