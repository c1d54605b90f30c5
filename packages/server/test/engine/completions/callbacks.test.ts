// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, times } from "../../support/http.ts"
import { eventually } from "../../support/ServerProcess.ts"
import {
  setUpJobs,
  contradictedResponse,
  onOtherNode,
  finishedResponse,
  completesLater,
  acceptedResponse,
  supersededResponse,
  reportTo,
  sendReport,
  startTarget
} from "./jobs.ts"
import { runningNodesLayer } from "../../support/TestApp.ts"

const accepted = () => ({ status: 202, body: "accepted" })

layer(runningNodesLayer, { excludeTestServices: true })("a completion", (it) => {
  describe("of a job that continues after its response", () => {
    it.effect("ends the execution, which is running until then and holds no node", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const jobs = yield* setUpJobs
        const { url, urls } = yield* startTarget(accepted)
        const id = yield* jobs.begin({ url, completion: "callback", timeout_seconds: 86_400 })
        const waiting = yield* jobs.awaiting(id)
        assert.deepInclude(waiting, { status: "running", attempts_count: 1, status_code: 202 })
        assert.isNull(waiting.finished_at)
        assert.isNotNull(waiting.started_at)
        assert.deepInclude(waiting.attempts[0], { number: 1, status_code: 202, finished_at: null })
        const held = yield* sql`
          SELECT lease_owner, state
          FROM runs
          WHERE id = ${id}`
        assert.deepStrictEqual(held, [{ lease_owner: null, state: "awaiting" }])

        assert.strictEqual(
          yield* reportTo(yield* onOtherNode(urls[0]), "42 rows"),
          acceptedResponse
        )
        const ended = yield* jobs.ended(id)
        assert.deepInclude(ended, { status: "succeeded", status_code: 202, error: null })
        assert.isNull(ended.awaiting_completion_since)
        assert.strictEqual(ended.attempts[0].response_body, "42 rows")
        assert.isAtLeast(ended.duration_ms, 0)

        // A repeated report is accepted, and a different report is too late. Neither changes
        // anything.
        assert.strictEqual(yield* reportTo(urls[0], "43 rows"), acceptedResponse)
        assert.strictEqual(yield* reportTo(`${urls[0]}/fail`), contradictedResponse)
        assert.strictEqual(yield* reportTo(`${urls[0]}/log`, "hello?"), finishedResponse)
        assert.deepStrictEqual(yield* jobs.execution(id), ended)
      })
    )

    it.effect("that arrives before the response is not lost, and counts once", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const said: Array<string> = []
        const { url, urls } = yield* startTarget(async (completeUrl) => {
          said.push(await sendReport(completeUrl ?? "", "done already"))
          return accepted()
        })
        const ids = yield* Effect.forEach(times(5, String), () =>
          jobs.begin({ url, completion: "callback", retry_count: 3 })
        )
        for (const id of ids) {
          const ended = yield* jobs.ended(id)
          assert.deepInclude(ended, { status: "succeeded", attempts_count: 1, status_code: null })
          assert.strictEqual(ended.attempts[0].response_body, "done already")
        }
        assert.deepStrictEqual(said, [
          acceptedResponse,
          acceptedResponse,
          acceptedResponse,
          acceptedResponse,
          acceptedResponse
        ])
        assert.lengthOf(urls, 5)
      })
    )

    it.effect("decides, whatever the later response is", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const { url } = yield* startTarget(async (completeUrl) => {
          await sendReport(completeUrl ?? "")
          return { status: 500 }
        })
        const id = yield* jobs.begin({ url, completion: "auto", retry_count: 3 })
        assert.deepInclude(yield* jobs.ended(id), { status: "succeeded", attempts_count: 1 })
      })
    )

    it.effect("that reports a failure leads to a retry, and the old URL reports it", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const { url, urls } = yield* startTarget(accepted)
        const retry = { count: 1, first_seconds: 1, factor: 1 }
        const id = yield* jobs.begin({ url, completion: "callback", retry })
        yield* jobs.awaiting(id)
        assert.strictEqual(yield* reportTo(`${urls[0]}/fail`, "disk full"), acceptedResponse)
        assert.strictEqual(yield* reportTo(`${urls[0]}/fail`, "disk full"), acceptedResponse)
        assert.strictEqual(yield* reportTo(urls[0]), supersededResponse)
        yield* eventually("the second attempt", async () => urls.length === 2)
        yield* jobs.awaiting(id)
        assert.notStrictEqual(urls[1], urls[0])
        assert.strictEqual(yield* reportTo(yield* onOtherNode(urls[0])), supersededResponse)
        assert.strictEqual(yield* reportTo(`${urls[0]}/log`, "still here"), supersededResponse)
        assert.strictEqual(yield* reportTo(urls[1]), acceptedResponse)
        const ended = yield* jobs.ended(id)
        assert.deepInclude(ended, { status: "succeeded", attempts_count: 2 })
        assert.deepInclude(ended.attempts[0], {
          error: {
            code: "completion_failed",
            message: "the job reported a failure to its completion URL"
          },
          response_body: "disk full",
          status_code: 202
        })
        assert.strictEqual(yield* reportTo(urls[0]), supersededResponse)
      })
    )

    it.effect("fails for good once no attempt is left", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const { url, urls } = yield* startTarget(accepted)
        const id = yield* jobs.begin({ url, completion: "callback" })
        yield* jobs.awaiting(id)
        assert.strictEqual(yield* reportTo(`${urls[0]}/fail`), acceptedResponse)
        assert.deepInclude(yield* jobs.ended(id), {
          status: "failed",
          error: {
            code: "completion_failed",
            message: "the job reported a failure to its completion URL"
          }
        })
        assert.strictEqual(yield* reportTo(`${urls[0]}/fail`), acceptedResponse)
        assert.strictEqual(yield* reportTo(urls[0]), contradictedResponse)
      })
    )

    it.effect("that does not arrive in time fails the attempt, and later ones get a 410", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const { url, urls } = yield* startTarget(accepted)
        const id = yield* jobs.begin({ url, completion: "callback", timeout_seconds: 1 })
        const ended = yield* jobs.ended(id)
        assert.deepInclude(ended, {
          status: "failed",
          attempts_count: 1,
          status_code: 202,
          error: { code: "completion_timeout", message: "no completion within 1 s" }
        })
        for (const kind of ["", "/fail", "/log"]) {
          assert.strictEqual(yield* reportTo(urls[0] + kind), finishedResponse)
        }
        assert.deepStrictEqual(yield* jobs.execution(id), ended)
      })
    )

    it.effect("counts once if many arrive at both nodes at the same time", () =>
      Effect.gen(function* () {
        const jobs = yield* setUpJobs
        const { url, urls } = yield* startTarget(accepted)
        const id = yield* jobs.begin({ url, completion: "callback" })
        yield* jobs.awaiting(id)
        const other = yield* onOtherNode(urls[0])
        const answers = yield* Effect.all(
          times(24, (n) =>
            reportTo((n % 2 === 0 ? other : urls[0]) + (n % 3 === 0 ? "/fail" : ""))
          ),
          { concurrency: "unbounded" }
        )
        const { status } = yield* jobs.ended(id)
        const expected = (n: number) =>
          (n % 3 === 0) === (status === "failed") ? acceptedResponse : contradictedResponse
        assert.deepStrictEqual(answers, [...times(24, expected)])
      })
    )
  })

  it.effect("is requested by the target, if the task lets the target decide", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const replies = [
        completesLater,
        { status: 202 },
        { status: 200, headers: { "scheduling-complete": "later" } }
      ]
      const { url, urls } = yield* startTarget((_, n) => replies[n - 1] ?? { status: 500 })
      const waiting = yield* jobs.begin({ url, completion: "auto" })
      yield* jobs.awaiting(waiting)
      for (const status_code of [202, 200]) {
        const id = yield* jobs.begin({ url, completion: "auto" })
        assert.deepInclude(yield* jobs.ended(id), { status: "succeeded", status_code })
      }
      assert.strictEqual(yield* reportTo(urls[0]), acceptedResponse)
      assert.deepInclude(yield* jobs.ended(waiting), { status: "succeeded", status_code: 202 })
    })
  )

  it.effect("has no URL and no effect if the task does not use it", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(() => completesLater)
      const id = yield* jobs.begin({ url })
      assert.deepInclude(yield* jobs.ended(id), { status: "succeeded", status_code: 202 })
      assert.deepStrictEqual(urls, [undefined])
    })
  )

  it.effect("is not awaited if the response is not a success by the rules of the task", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url } = yield* startTarget(() => ({ status: 200, body: "queue full" }))
      const id = yield* jobs.begin({ url, completion: "callback", body_lacks: "full" })
      assert.deepInclude(yield* jobs.ended(id), { status: "failed", status_code: 200 })
    })
  )

  it.effect("is rejected without a right token, and changes nothing", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback" })
      yield* jobs.awaiting(id)
      const right = urls[0] ?? ""
      const token = right.slice(right.lastIndexOf("/") + 1)
      const base = right.slice(0, -token.length)
      const flipped = (at: number) =>
        token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1)
      const wrong = ["x", token.slice(1), `${token}A`, flipped(0), flipped(30), flipped(60), id]
      for (const guess of wrong) {
        for (const kind of ["", "/fail", "/log", "/other"]) {
          assert.strictEqual(yield* reportTo(base + guess + kind), "404 not found")
        }
      }
      assert.strictEqual(yield* reportTo(`${right}/other`), "404 not found")
      const got = yield* Effect.promise(() => fetch(right))
      assert.strictEqual(got.status, 405)
      assert.strictEqual(got.headers.get("allow"), "POST")
      assert.deepInclude(yield* jobs.execution(id), { status: "running" })
    })
  )

  it.effect("comes too late for a run that was cancelled, paused or deleted before", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const cron = { name: "a", schedule: "0 0 1 1 *", url, completion: "callback" }
      const stops = [
        (_: string, id: string) => jobs.request("POST", `/executions/${id}/cancel`),
        (task: string) => jobs.request("POST", `/cron/${task}/pause`),
        (task: string) => jobs.request("DELETE", `/cron/${task}`)
      ]
      for (const [n, stop] of stops.entries()) {
        const task = (yield* jobs.request("POST", "/cron", cron)).body.id
        const { id } = (yield* jobs.request("POST", `/cron/${task}/run`)).body
        yield* jobs.awaiting(id)
        assert.oneOf((yield* stop(task, id)).status, [200, 202, 204])
        const ended = yield* jobs.ended(id)
        assert.deepInclude(ended, { status: "cancelled", attempts_count: 1, status_code: 202 })
        assert.isNotNull(ended.attempts[0].finished_at)
        assert.strictEqual(yield* reportTo(urls[n]), finishedResponse)
        assert.deepStrictEqual(yield* jobs.execution(id), ended)
      }
    })
  )

  it.effect("keeps other runs of the task from starting until it arrives", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const cron = { name: "a", schedule: "0 0 1 1 *", url, completion: "callback" }
      const beginSlot = Effect.fnUntraced(function* (overlap: string) {
        const task = (yield* jobs.request("POST", "/cron", { ...cron, overlap })).body.id
        const { id } = (yield* jobs.request("POST", `/cron/${task}/run`)).body
        yield* jobs.awaiting(id)
        yield* sql`
          UPDATE tasks
          SET next_fire_at = now()
          WHERE id = ${task}`
        return { of: `/executions?task_id=${task}` }
      })
      const skip = yield* beginSlot("skip")
      const skipped = yield* jobs.until(skip.of, ({ data }) => data[0].status === "skipped")
      assert.deepStrictEqual(skipped.data[0].error, {
        code: "overlap",
        message: "the previous run was still in progress"
      })
      const queue = yield* beginSlot("queue")
      yield* eventually("a run that waits", async () => {
        const waiting = await Effect.runPromise(sql`SELECT id FROM runs WHERE state = 'blocked'`)
        return waiting.length === 1
      })
      assert.lengthOf(urls, 2)
      assert.strictEqual(yield* reportTo(urls[1]), acceptedResponse)
      const { data } = yield* jobs.until(
        queue.of,
        (page) => page.data[0].awaiting_completion_since !== null
      )
      assert.strictEqual(data[1].status, "succeeded")
      assert.lengthOf(urls, 3)
    })
  )

  it.effect("arrives too late for a deleted workspace", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback" })
      yield* jobs.awaiting(id)
      assert.strictEqual(yield* reportTo(`${urls[0]}/log`, "half"), acceptedResponse)
      const { access_token: token, workspace } = jobs.member
      assert.strictEqual((yield* ask("DELETE", workspace, { token })).status, 204)
      const left = yield* sql`
        SELECT id
        FROM runs
        WHERE id = ${id}`
      assert.deepStrictEqual(left, [])
      assert.strictEqual(yield* reportTo(urls[0]), finishedResponse)
      assert.strictEqual(yield* reportTo(`${urls[0]}/log`), finishedResponse)
    })
  )

  it.effect("starts the next step of a chain, which may use its body", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { bodies, url, urls } = yield* startTarget(accepted)
      const chain = yield* jobs.request("POST", "/chains", {
        name: "a",
        steps: [
          { name: "report", url, completion: "callback", timeout_seconds: 7_200 },
          {
            name: "mail",
            url,
            body: '{"rows":{{ steps.report.body.rows }},"status":{{ steps.report.status }}}'
          }
        ]
      })
      assert.strictEqual(chain.status, 201, chain.text)
      const run = (yield* jobs.request("POST", `/chains/${chain.body.id}/run`)).body.id
      const at = `/chains/${chain.body.id}/runs/${run}`
      const waiting = yield* jobs.until(
        at,
        ({ steps }) => typeof steps[0].execution?.awaiting_completion_since === "string"
      )
      assert.deepInclude(waiting, { status: "running" })
      assert.deepInclude(waiting.steps[0], { status: "running" })
      assert.deepInclude(waiting.steps[1], { status: "pending" })
      assert.strictEqual(
        yield* reportTo(yield* onOtherNode(urls[0]), '{"rows":7}'),
        acceptedResponse
      )
      const ended = yield* jobs.until(at, ({ finished_at }) => finished_at !== null)
      assert.strictEqual(ended.status, "succeeded")
      assert.strictEqual(bodies[1], '{"rows":7,"status":202}')
      assert.strictEqual(ended.steps[0].execution.response_body, '{"rows":7}')
    })
  )

  it.effect("that arrives before a step's response starts the next step immediately", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(async (completeUrl) => {
        if (completeUrl !== undefined) await sendReport(completeUrl, "early")
        return accepted()
      })
      const steps = [
        { name: "a", url, completion: "callback" },
        { name: "b", url, body: "{{ steps.a.body }}", headers: { "content-type": "text/plain" } }
      ]
      const chain = yield* jobs.request("POST", "/chains", { name: "a", steps })
      const run = (yield* jobs.request("POST", `/chains/${chain.body.id}/run`)).body.id
      const ended = yield* jobs.until(
        `/chains/${chain.body.id}/runs/${run}`,
        ({ finished_at }) => finished_at !== null
      )
      assert.strictEqual(ended.status, "succeeded")
      assert.lengthOf(urls, 2)
    })
  )

  it.effect("keeps the last lines of progress that the job reported before", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback" })
      yield* jobs.awaiting(id)
      assert.strictEqual(
        yield* reportTo(`${urls[0]}/log`, `${"ü".repeat(400)}\nsecond line`),
        acceptedResponse
      )
      const [line] = (yield* jobs.execution(id)).progress
      assert.strictEqual(line.text, "ü".repeat(250))
      assert.strictEqual(line.attempt, 1)
      assert.match(line.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      for (const n of times(52, (index) => index)) {
        assert.strictEqual(yield* reportTo(`${urls[0]}/log`, `${n} %\n`), acceptedResponse)
      }
      assert.strictEqual(yield* reportTo(urls[0]), acceptedResponse)
      const { progress } = yield* jobs.ended(id)
      assert.deepStrictEqual(
        progress.map(({ text }: { readonly text: string }) => text),
        times(50, (n) => `${n + 2} %`)
      )
    })
  )

  it.effect("may send at most 60 lines in a minute", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback" })
      yield* jobs.awaiting(id)
      const answers = yield* Effect.forEach(times(130, String), (n) =>
        reportTo(`${urls[0]}/log`, n)
      )
      assert.include(answers, "429 too many progress lines: at most 60 per minute")
    })
  )

  it.effect("keeps 10,000 bytes of a long body", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url, urls } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback" })
      yield* jobs.awaiting(id)
      assert.strictEqual(yield* reportTo(urls[0], "a".repeat(200_000)), acceptedResponse)
      assert.strictEqual((yield* jobs.ended(id)).attempts[0].response_body, "a".repeat(10_000))
    })
  )
})
