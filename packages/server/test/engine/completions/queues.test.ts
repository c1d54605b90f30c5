// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { times } from "../../support/http.ts"
import {
  setUpJobs,
  onOtherNode,
  acceptedResponse,
  reportTo,
  sendReport,
  startTarget
} from "./jobs.ts"
import { runningNodesLayer } from "../../support/TestApp.ts"

const accepted = () => ({ status: 202 })

const setUp = Effect.map(setUpJobs, (jobs) => ({
  ...jobs,
  /** Creates a queue with one slot. */
  queue: Effect.gen(function* () {
    const created = yield* jobs.request("POST", "/queues", { name: "one", max_concurrency: 1 })
    assert.strictEqual(created.status, 201, created.text)
    const queue_id = String(created.body.id)
    return {
      begin: (task: object) => jobs.begin({ queue_id, completion: "callback", ...task }),
      holds: (running: number, waiting: number) =>
        jobs.until(
          `/queues/${queue_id}`,
          (queue) => queue.running === running && queue.waiting === waiting
        )
    }
  })
}))

layer(runningNodesLayer, { excludeTestServices: true })("the slot in a queue", (it) => {
  it.effect("is kept until the completion, and then goes to the next run", () =>
    Effect.gen(function* () {
      const jobs = yield* setUp
      const queue = yield* jobs.queue
      const { url, urls } = yield* startTarget(accepted)
      const first = yield* queue.begin({ url })
      yield* jobs.awaiting(first)
      const second = yield* queue.begin({ url })
      yield* queue.holds(1, 1)

      // Runs in other queues still receive slots.
      const other = yield* jobs.queue
      const quick = yield* startTarget(() => ({ status: 200 }))
      yield* jobs.ended(yield* other.begin({ url: quick.url, completion: null }))
      yield* queue.holds(1, 1)
      assert.lengthOf(urls, 1)

      assert.strictEqual(yield* reportTo(yield* onOtherNode(urls[0])), acceptedResponse)
      yield* jobs.awaiting(second)
      yield* queue.holds(1, 0)
      assert.strictEqual(yield* reportTo(urls[1]), acceptedResponse)
      yield* jobs.ended(second)
      yield* queue.holds(0, 0)
    })
  )

  it.effect("is free while a failed job waits for another attempt", () =>
    Effect.gen(function* () {
      const jobs = yield* setUp
      const queue = yield* jobs.queue
      const { url, urls } = yield* startTarget(accepted)
      const failing = yield* queue.begin({ url, retry: { count: 1, first_seconds: 1 } })
      yield* jobs.awaiting(failing)
      const next = yield* queue.begin({ url })
      yield* queue.holds(1, 1)
      assert.strictEqual(yield* reportTo(`${urls[0]}/fail`), acceptedResponse)
      yield* jobs.awaiting(next)
      yield* queue.holds(1, 1)
      assert.strictEqual(yield* reportTo(urls[1]), acceptedResponse)
      assert.deepInclude(yield* jobs.awaiting(failing), { attempts_count: 2 })
      assert.strictEqual(yield* reportTo(urls[2]), acceptedResponse)
      assert.deepInclude(yield* jobs.ended(failing), { status: "succeeded" })
    })
  )

  it.effect("is free once the job is too late or cancelled", () =>
    Effect.gen(function* () {
      const jobs = yield* setUp
      const queue = yield* jobs.queue
      const { url } = yield* startTarget(accepted)
      const late = yield* queue.begin({ url, timeout_seconds: 1 })
      const cancelled = yield* queue.begin({ url })
      assert.deepInclude(yield* jobs.ended(late), { status: "failed" })
      yield* jobs.awaiting(cancelled)
      const last = yield* queue.begin({ url })
      yield* queue.holds(1, 1)
      const cancel = `/executions/${cancelled}/cancel`
      assert.strictEqual((yield* jobs.request("POST", cancel)).status, 200)
      yield* jobs.awaiting(last)
      assert.deepInclude(yield* jobs.ended(cancelled), { status: "cancelled" })
    })
  )

  it.effect("is given once if jobs report before their calls get a response", () =>
    Effect.gen(function* () {
      const jobs = yield* setUp
      const queue = yield* jobs.queue
      let working = 0
      let most = 0
      const { url, urls } = yield* startTarget(async (completeUrl) => {
        most = Math.max(most, ++working)
        await new Promise(setImmediate)
        working--
        await sendReport(completeUrl ?? "")
        return accepted()
      })
      const ids = yield* Effect.forEach(times(10, String), () => queue.begin({ url }))
      for (const id of ids) {
        assert.deepInclude(yield* jobs.ended(id), { status: "succeeded", attempts_count: 1 })
      }
      assert.lengthOf(urls, 10)
      assert.strictEqual(most, 1)
    })
  )
})
