// @tags idle
import { findVerificationProblem } from "@scheduling/domain/webhooks/StandardWebhooks"
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Deferred, Effect } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { httpTarget, tcpTarget } from "@scheduling/calls/testing/CallTargets"
import { endlessStream, Service, ServiceLayer } from "./support/service.ts"

const minute = 60_000

layer(ServiceLayer, { excludeTestServices: true })("a server", (it) => {
  // The tests run concurrently and share one service, which runs the tasks of all of them.
  describe.concurrent("and what it calls", () => {
    it.effect("a call to a hanging target is aborted at its timeout", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        const port = yield* tcpTarget(() => {})
        const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/`, timeout_seconds: 1 })
        assert.deepInclude(outcome, { status: "failed", attempts_count: 1, status_code: null })
        assert.deepStrictEqual(outcome.error, {
          code: "timeout",
          message: "timeout after 1 s while waiting for the response"
        })
        // A timer counts from the start of the event loop's current iteration, which is a few
        // milliseconds before the call.
        assert.isAtLeast(outcome.duration_ms, 950)
        assert.isBelow(outcome.duration_ms, 3_000)
      })
    )

    it.effect("the error message says that the target reset the connection", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        const port = yield* tcpTarget((socket) => {
          socket.once("data", () => socket.resetAndDestroy())
        })
        const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/` })
        assert.deepInclude(outcome, {
          status: "failed",
          error: { code: "connection", message: "connection reset" }
        })
      })
    )

    it.effect("an endless response is truncated at 10,000 bytes, and its status decides", () =>
      Effect.gen(function* () {
        const { outcomeOf, request, server } = yield* Service
        let written = 0
        const port = yield* httpTarget((incoming, response) => {
          response.writeHead(Number(incoming.url?.slice(1)), { "content-length": 10_000_000_000 })
          endlessStream((bytes) => (written += bytes)).pipe(response)
        })
        for (const [code, status, error] of [
          [200, "succeeded", null],
          [400, "failed", { code: "http_status", message: "responded with 400" }]
        ] as const) {
          const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/${code}` })
          assert.deepInclude(outcome, { status, status_code: code, error })
          assert.strictEqual(outcome.attempts[0].response_body, "a".repeat(10_000))
        }
        // The kernel buffers on both sides hold less than this.
        assert.isBelow(written, 32 * 1024 * 1024)
        assert.strictEqual((yield* request("GET", "/executions")).status, 200)
        assert.strictEqual(server.stderr(), "")
      })
    )

    it.effect("a redirect to the cloud's metadata address is not followed", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        const port = yield* httpTarget((_, response) => {
          response
            .writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" })
            .end("no")
        })
        const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/`, retry_count: 3 })
        assert.deepInclude(outcome, {
          status: "failed",
          status_code: 307,
          attempts_count: 1,
          error: {
            code: "http_status",
            message: "responded with 307, and redirects are not followed"
          }
        })
        assert.strictEqual(outcome.attempts[0].response_body, "no")
      })
    )

    it.effect("a response counts as a success only by the rules of its task", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        let calls = 0
        const port = yield* httpTarget((incoming, response) => {
          if (incoming.url === "/gone") response.writeHead(404).end("gone")
          else response.end(++calls > 1 ? '{"state":"ready"}' : '{"state":"starting"}')
        })
        const url = `http://127.0.0.1:${port}`
        const rule = { success_codes: ["404"], body_lacks: "here" }
        assert.deepInclude(yield* outcomeOf({ url: `${url}/gone`, ...rule }), {
          status: "succeeded",
          status_code: 404,
          error: null
        })
        const retry = { count: 2, first_seconds: 1, factor: 1 }
        const second = yield* outcomeOf({ url, body_contains: '"ready"', retry })
        assert.deepInclude(second, { status: "succeeded", attempts_count: 2 })
        assert.strictEqual(
          second.attempts[0].error.message,
          'the response does not contain "\\"ready\\"" in the part that is stored'
        )
        assert.deepInclude(yield* outcomeOf({ url, success_codes: ["204"], retry_count: 1 }), {
          status: "failed",
          status_code: 200,
          attempts_count: 1,
          error: { code: "http_status", message: "the status 200 is not one of 204" }
        })
      })
    )

    it.effect("a target that has responded gets its connection before the next call is due", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        let connectedAt = 0
        const port = yield* tcpTarget((socket) => {
          connectedAt = Date.now()
          const answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
          socket.once("data", () => socket.end(answer))
        })
        const aheadMs = Effect.gen(function* () {
          const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/`, delay_seconds: 1 })
          assert.strictEqual(outcome.status, "succeeded")
          return Date.parse(outcome.scheduled_for) - connectedAt
        })
        assert.isAtMost(yield* aheadMs, 0)
        // A stalled machine can connect late, but is unlikely to do so every time.
        const best = yield* Effect.repeat(aheadMs, { until: (ms) => ms > 20, times: 10 })
        assert.isAbove(best, 20)
      })
    )

    it.effect("a target with a Retry-After is called again at that time", () =>
      Effect.gen(function* () {
        const { outcomeOf } = yield* Service
        const calls: Array<{ readonly at: number; readonly headers: IncomingHttpHeaders }> = []
        const clock = yield* Clock.Clock
        const port = yield* httpTarget((incoming, response) => {
          const { headers } = incoming
          if (calls.push({ at: clock.currentTimeMillisUnsafe(), headers }) > 1) response.end("well")
          else response.writeHead(503, { "retry-after": "1" }).end("busy")
        })
        const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/`, retry_count: 1 })
        assert.deepInclude(outcome, { status: "succeeded", status_code: 200, attempts_count: 2 })
        assert.containSubset(outcome.attempts, [
          { number: 1, status_code: 503, response_body: "busy" },
          { number: 2, status_code: 200, response_body: "well" }
        ])
        const [first, second] = calls
        assert(first !== undefined && second !== undefined)
        // A node waits according to the database's clock, which it knows only to within half a
        // round trip.
        assert.isAtLeast(second.at - first.at, 990)
        for (const [index, { headers }] of calls.entries()) {
          assert.deepInclude(headers, {
            "idempotency-key": outcome.id,
            "x-scheduling-task-id": outcome.task_id,
            "x-scheduling-execution-id": outcome.id,
            "x-scheduling-attempt": String(index + 1),
            "x-scheduling-scheduled-for": outcome.scheduled_for
          })
        }
      })
    )

    it.effect("a rerun of a failed execution sends the time for which it was scheduled", () =>
      Effect.gen(function* () {
        const { finished, outcomeOf, request } = yield* Service
        const times: Array<unknown> = []
        const port = yield* httpTarget(({ headers }, response) => {
          times.push(headers["x-scheduling-scheduled-for"])
          response.writeHead(times.length > 1 ? 200 : 400).end()
        })
        const first = yield* outcomeOf({ url: `http://127.0.0.1:${port}/` })
        assert.strictEqual(first.status, "failed")
        const again = yield* request("POST", `/executions/${first.id}/rerun`)
        assert.strictEqual(again.status, 202)
        assert.deepInclude(yield* finished(again.body.id), {
          status: "succeeded",
          trigger: "rerun",
          scheduled_for: first.scheduled_for,
          lateness_ms: null
        })
        assert.deepStrictEqual(times, [first.scheduled_for, first.scheduled_for])
      })
    )

    it.effect.each([
      ["paused", "POST", "/pause"],
      ["deleted", "DELETE", ""]
    ] as const)("a call that hangs ends when its task is %s", ([, method, at]) =>
      Effect.gen(function* () {
        const { create, finished, request } = yield* Service
        const arrived = yield* Deferred.make<void>()
        const closed = yield* Deferred.make<void>()
        const port = yield* tcpTarget((socket) => {
          socket.once("data", () => Deferred.doneUnsafe(arrived, Effect.void))
          socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
        })
        const task = yield* create("cron", {
          name: "hangs",
          url: `http://127.0.0.1:${port}/`,
          schedule: "0 0 1 1 *"
        })
        const { body: run, status } = yield* request("POST", `/cron/${task.id}/run`)
        assert.strictEqual(status, 202)
        yield* Deferred.await(arrived)

        const before = yield* Clock.currentTimeMillis
        assert.isBelow((yield* request(method, `/cron/${task.id}${at}`)).status, 300)
        yield* Deferred.await(closed)
        const outcome = yield* finished(run.id)
        assert.isBelow((yield* Clock.currentTimeMillis) - before, 2_000)
        assert.deepInclude(outcome, {
          status: "cancelled",
          error: { code: "cancelled", message: "cancelled" },
          trigger: "manual"
        })
      })
    )

    it.effect("a schedule of every minute fires next at the next minute, as its preview says", () =>
      Effect.gen(function* () {
        const { create, request } = yield* Service
        const schedule = "* * * * *"
        const task = yield* create("cron", { name: "m", url: "http://127.0.0.1:9/", schedule })
        const { body } = yield* request(
          "GET",
          `/cron/preview?schedule=${encodeURIComponent(schedule)}`
        )
        yield* request("DELETE", `/cron/${task.id}`)
        const next = Date.parse(task.next_run_at)
        assert.strictEqual(next, Math.floor(Date.parse(task.created_at) / minute + 1) * minute)
        const fires = body.data.map((fire: { readonly at: string }) => Date.parse(fire.at))
        // A new minute can start between the two responses.
        assert.include([next, next + minute], fires[0])
        assert.deepStrictEqual(
          fires,
          fires.map((_: number, index: number) => fires[0] + index * minute)
        )
      })
    )

    it.effect("a call is signed with the secret of its recipient, and no other", () =>
      Effect.gen(function* () {
        const { outcomeOf, request } = yield* Service
        const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: string }> = []
        const port = yield* httpTarget(async (incoming, response) => {
          const body = Buffer.concat(await incoming.toArray()).toString()
          received.push({ headers: incoming.headers, body })
          response.end()
        })
        const body = '{"greeting":"grüß dich"}'
        const outcome = yield* outcomeOf({ url: `http://127.0.0.1:${port}/`, body })
        assert.strictEqual(outcome.status, "succeeded")
        const [got] = received
        assert(got !== undefined && received.length === 1)
        assert.strictEqual(got.body, body)
        const message = {
          id: String(got.headers["webhook-id"]),
          timestamp: String(got.headers["webhook-timestamp"]),
          signature: String(got.headers["webhook-signature"]),
          body: got.body
        }
        assert.strictEqual(message.id, outcome.id)
        const secretsAt = (url: string) =>
          Effect.map(
            request("GET", `/signing-secrets?url=${encodeURIComponent(url)}`),
            ({ body: { data } }) => data[0]
          )
        const { call_secret: secret, message_secret } = yield* secretsAt(`http://127.0.0.1:${port}`)
        const nowSeconds = (yield* Clock.currentTimeMillis) / 1_000
        const problemOf = (received: typeof message, using = secret) =>
          Effect.promise(() => findVerificationProblem(received, [using], { nowSeconds }))
        assert.isUndefined(yield* problemOf(message))
        // Neither another recipient's secret nor the messages' secret verifies the signature.
        const { call_secret: another } = yield* secretsAt(`http://127.0.0.1:${port + 1}`)
        for (const foreign of [message_secret, another]) {
          assert.strictEqual(yield* problemOf(message, foreign), "no_matching_signature")
        }
        const forged = { ...message, body: `${body} ` }
        assert.strictEqual(yield* problemOf(forged), "no_matching_signature")
      })
    )
  })

  it.effect("and its statistics, which count what is in its history", () =>
    Effect.gen(function* () {
      const { request } = yield* Service
      const { body: history } = yield* request("GET", "/executions?limit=100")
      const { body: stats } = yield* request("GET", "/executions/stats")
      const counts = { queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
      for (const run of history.data) counts[run.status as keyof typeof counts]++
      assert.isNull(history.next_cursor)
      assert.deepStrictEqual(stats.totals.counts, counts)
      assert.isAbove(counts.succeeded, 0)
      assert.isAbove(counts.failed, 0)
      assert.isAbove(counts.cancelled, 0)
      const rate = counts.succeeded / (counts.succeeded + counts.failed)
      assert.closeTo(stats.totals.success_rate, rate, 0.0001)
    })
  )
})
