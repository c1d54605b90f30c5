import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { insertRuns } from "../executions/history.ts"
import { ask, statusAndError } from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import {
  setUpChains,
  failedRow,
  loginRow,
  loginStep,
  queuedRow,
  runOf,
  runningRow,
  closeRow,
  type CheckedRun,
  runAndStepStatuses,
  skippedRow,
  succeededRow,
  alarmRow,
  withoutResponses
} from "./chains.ts"

const minute = 60_000
layer(testAppLayer())("runs of a chain", (it) => {
  it.effect("are queued by hand, with every step still to come", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const { body, status } = yield* chains.act(chain.id, "run")
      assert.strictEqual(status, 202)
      const { id, scheduled_for, ...rest } = body
      assert.match(scheduled_for, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(rest, {
        chain_id: chain.id,
        trigger: "manual",
        status: "queued",
        started_at: null,
        finished_at: null,
        steps: [
          {
            name: "login",
            status: "queued",
            execution: {
              id,
              started_at: null,
              finished_at: null,
              duration_ms: null,
              status_code: null,
              error: null,
              awaiting_completion_since: null,
              waits_until: null,
              approval: null
            }
          },
          { name: "close", status: "pending", execution: null },
          { name: "alarm", status: "pending", execution: null }
        ]
      })
      assert.deepStrictEqual((yield* chains.getRun(chain.id, id)).body, withoutResponses(body))
      assert.deepStrictEqual((yield* chains.get(chain.id)).body.last_run, {
        run_id: id,
        status: "queued",
        finished_at: null
      })
    })
  )

  it.effect("show each step with its execution, and the run from its start to its end", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const run = runOf(chain, now, [
        {
          ...loginRow,
          ...failedRow,
          started_at: new Date(now + 4),
          finished_at: new Date(now + 131)
        },
        { ...closeRow, ...skippedRow, finished_at: new Date(now + 131) },
        {
          ...alarmRow,
          ...succeededRow,
          started_at: new Date(now + 140),
          finished_at: new Date(now + 240)
        }
      ])
      yield* insertRuns(run)
      const [a, b, c] = run.map(({ id }) => id)
      const { body, status } = yield* chains.getRun(chain.id, a ?? "")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, {
        id: a,
        input: null,
        chain_id: chain.id,
        trigger: "schedule",
        status: "failed",
        scheduled_for: "2026-06-01T12:00:00.000Z",
        started_at: "2026-06-01T12:00:00.004Z",
        finished_at: "2026-06-01T12:00:00.240Z",
        steps: [
          {
            name: "login",
            status: "failed",
            execution: {
              id: a,
              started_at: "2026-06-01T12:00:00.004Z",
              finished_at: "2026-06-01T12:00:00.131Z",
              duration_ms: 127,
              status_code: 500,
              error: { code: "http_status", message: "responded with 500" },
              awaiting_completion_since: null,
              waits_until: null,
              approval: null,
              response_body: null
            }
          },
          {
            name: "close",
            status: "skipped",
            execution: {
              id: b,
              started_at: null,
              finished_at: "2026-06-01T12:00:00.131Z",
              duration_ms: null,
              status_code: null,
              error: null,
              awaiting_completion_since: null,
              waits_until: null,
              approval: null,
              response_body: null
            }
          },
          {
            name: "alarm",
            status: "succeeded",
            execution: {
              id: c,
              started_at: "2026-06-01T12:00:00.140Z",
              finished_at: "2026-06-01T12:00:00.240Z",
              duration_ms: 100,
              status_code: 200,
              error: null,
              awaiting_completion_since: null,
              waits_until: null,
              approval: null,
              response_body: null
            }
          }
        ]
      })
    })
  )

  it.effect("keep the steps they started with when the chain gets others", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const ended = runOf(chain, now - minute, [
        { ...loginRow, ...succeededRow },
        { ...closeRow, ...succeededRow },
        { ...alarmRow, ...skippedRow }
      ])
      const going = runOf(chain, now, [{ ...loginRow, ...runningRow }])
      const waiting = runOf(chain, now + minute, [{ status: "queued" }])
      yield* insertRuns([...ended, ...going, ...waiting])
      yield* chains.update(chain.id, { steps: [{ ...loginStep, name: "hello" }] })
      const { body } = yield* chains.runs(chain.id)
      const names = body.data.map((run: CheckedRun) => run.steps.map(({ name }) => name))
      const before = ["login", "close", "alarm"]
      assert.deepStrictEqual(names, [["hello"], before, before])
    })
  )

  it.effect("include the latest run of the chain, also in the list", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: never } = yield* chains.create()
      const { body: going } = yield* chains.create()
      const { body: ended } = yield* chains.create()
      const lastOfGoing = runOf(going, now, [
        { ...loginRow, ...succeededRow },
        { ...closeRow, ...runningRow }
      ])
      const lastOfEnded = runOf(ended, now, [{ ...loginRow, ...succeededRow }])
      yield* insertRuns([
        ...lastOfGoing,
        ...lastOfEnded,
        ...runOf(going, now - minute, [{ ...loginRow, ...failedRow }]),
        ...runOf(ended, now - minute, [{ ...loginRow, ...runningRow }])
      ])
      const { body } = yield* chains.list()
      const expected = [
        {
          run_id: lastOfEnded[0]?.id,
          status: "succeeded",
          finished_at: "2026-06-01T12:00:00.000Z"
        },
        { run_id: lastOfGoing[0]?.id, status: "running", finished_at: null },
        null
      ]
      assert.deepStrictEqual(
        body.data.map((chain: { last_run: object }) => chain.last_run),
        expected
      )
      assert.deepStrictEqual((yield* chains.get(ended.id)).body.last_run, expected[0])
      assert.strictEqual((yield* chains.get(never.id)).body.last_run, null)
    })
  )

  it.effect("are found under their own chain and their own id only", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const { body: other } = yield* chains.create()
      const run = runOf(chain, now, [
        { ...loginRow, ...succeededRow },
        { ...closeRow, ...runningRow }
      ])
      yield* insertRuns(run)
      const [head, step] = run.map(({ id }) => id)
      for (const [of, id] of [
        [other.id, head],
        [chain.id, step],
        [chain.id, unknownId],
        [chain.id, "7"]
      ]) {
        const answer = yield* chains.getRun(of, id ?? "")
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "chain_run")
      }
    })
  )

  it.effect("end with the cancelled step, and cannot be cancelled once finished", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const cancel = (id: string) =>
        ask("POST", `${member.workspace}/executions/${id}/cancel`, { token: member.access_token })

      const run = runOf(chain, now - minute, [
        { ...loginRow, ...succeededRow },
        { ...closeRow, ...queuedRow }
      ])
      yield* insertRuns(run)
      const [head, step] = run.map(({ id }) => id ?? "")
      const answer = yield* cancel(step ?? "")
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.body.status, "cancelled")
      const { body: got } = yield* ask("GET", `${member.workspace}/executions/${step}`, {
        token: member.access_token
      })
      assert.deepStrictEqual({ ...answer.body, input: null, attempts: [], progress: [] }, got)
      const { body: seen } = yield* chains.getRun(chain.id, head ?? "")
      assert.deepStrictEqual(runAndStepStatuses(seen), [
        "cancelled",
        ["succeeded", "cancelled", "skipped"]
      ])
      assert.deepStrictEqual((yield* cancel(step ?? "")).body, answer.body)
      assert.strictEqual(statusAndError(yield* cancel(head ?? "")), "409 conflict")

      const going = runOf(chain, now, [{ ...loginRow, ...runningRow }])
      yield* insertRuns(going)
      const requested = yield* cancel(going[0]?.id ?? "")
      assert.deepStrictEqual([requested.status, requested.body.status], [200, "running"])
      assert.strictEqual((yield* cancel(going[0]?.id ?? "")).status, 200)
      const missing = yield* cancel(unknownId)
      assert.strictEqual(statusAndError(missing), "404 not_found")
      assert.strictEqual(missing.body.detail.resource, "execution")
    })
  )
})
