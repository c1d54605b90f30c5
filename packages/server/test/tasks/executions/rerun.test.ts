import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import {
  setUpChains,
  failedRow,
  loginRow,
  runOf,
  closeRow,
  skippedRow,
  succeededRow,
  alarmRow
} from "../chains/chains.ts"
import { setUpCron, runsOf } from "../cron/tasks.ts"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { insertRuns, runAt, type RunOrExecution } from "./history.ts"

const minute = 60_000

/**
 * Creates a workspace with a cron task. Returns functions that send requests for the task's
 * executions.
 */
const beginWithTask = Effect.gen(function* () {
  const { cron, key: token, member } = yield* setUpCron
  const { body: task } = yield* cron.create()
  const at = `${member.workspace}/executions`
  return {
    cron,
    member,
    task,
    token,
    ended: (ago: number, fields: Partial<RunOrExecution> = {}) =>
      runAt(now - ago * minute, {
        workspace_id: member.workspace_id,
        task_id: task.id,
        status: "failed",
        ...fields
      }),
    rerun: (id: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${at}/${id}/rerun`, { token, headers }),
    rerunMany: (filter: object, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${at}/rerun`, { token, headers, body: filter }),
    get: (id: string) => ask("GET", `${at}/${id}`, { token })
  }
})

layer(testAppLayer())("running an execution again", (it) => {
  it.effect("queues a run now, with the time for which the first was scheduled", () =>
    Effect.gen(function* () {
      const { cron, ended, get, rerun, task } = yield* beginWithTask
      const run = ended(90)
      yield* insertRuns([run])
      yield* cron.act(task.id, "pause")
      const again = yield* rerun(run.id)
      assert.strictEqual(again.status, 202)
      const { id, ...rest } = again.body
      assert.deepStrictEqual(rest, {
        kind: "cron",
        task_id: task.id,
        chain_run_id: null,
        step: null,
        flow_key: null,
        trigger: "rerun",
        status: "queued",
        scheduled_for: "2026-06-01T10:30:00.000Z",
        started_at: null,
        finished_at: null,
        lateness_ms: null,
        duration_ms: null,
        attempts_count: 0,
        status_code: null,
        error: null,
        awaiting_completion_since: null,
        waits_until: null,
        approval: null
      })
      assert.deepStrictEqual((yield* get(id)).body, {
        ...again.body,
        input: null,
        attempts: [],
        progress: []
      })
      const [queued, ...others] = yield* runsOf(task.id)
      assert.isEmpty(others)
      assert.isAbove(queued?.due_at.getTime() ?? 0, run.scheduled_for.getTime())
    })
  )

  it.effect("has no lateness, while it runs and afterwards", () =>
    Effect.gen(function* () {
      const { ended, get } = yield* beginWithTask
      const run = ended(90, {
        trigger: "rerun",
        status: "running",
        started_at: new Date(now),
        id: randomUUID()
      })
      yield* insertRuns([run])
      const { body } = yield* get(run.id)
      assert.deepInclude(body, { trigger: "rerun", status: "running", lateness_ms: null })
    })
  )

  it.effect("is done once for each Idempotency-Key", () =>
    Effect.gen(function* () {
      const { ended, rerun, task } = yield* beginWithTask
      const [one, two] = [ended(2), ended(1)]
      yield* insertRuns([one, two])
      const headers = { "idempotency-key": "again-1" }
      const again = yield* rerun(one.id, headers)
      assert.deepStrictEqual((yield* rerun(one.id, headers)).body, again.body)
      assert.strictEqual((yield* rerun(two.id, headers)).status, 202)
      assert.strictEqual((yield* runsOf(task.id)).length, 2)
    })
  )

  it.effect("is rejected before it has ended, once its task no longer exists, and to others", () =>
    Effect.gen(function* () {
      const { cron, ended, member, rerun, task } = yield* beginWithTask
      const run = ended(1)
      const going = ended(0, { status: "running" })
      yield* insertRuns([run, going])
      assert.strictEqual(statusAndError(yield* rerun(going.id)), "409 conflict")
      const missing = yield* rerun(unknownId)
      assert.strictEqual(statusAndError(missing), "404 not_found")
      assert.strictEqual(missing.body.detail.resource, "execution")

      const stranger = yield* signUp()
      const path = `${stranger.workspace}/executions/${run.id}/rerun`
      const { access_token } = stranger
      assert.strictEqual(
        statusAndError(yield* ask("POST", path, { token: access_token })),
        "404 not_found"
      )
      const { key } = yield* createKey(member, { scopes: ["tasks:read", "executions:read"] })
      const own = `${member.workspace}/executions/${run.id}/rerun`
      const readOnly = yield* ask("POST", own, { token: key })
      assert.strictEqual(statusAndError(readOnly), "403 insufficient_scope")

      yield* cron.remove(task.id)
      const gone = yield* rerun(run.id)
      assert.strictEqual(statusAndError(gone), "404 not_found")
      assert.strictEqual(gone.body.detail.resource, "task")
      assert.deepStrictEqual(
        (yield* runsOf(task.id)).map(({ id }) => id),
        [going.id]
      )
    })
  )

  it.effect("runs the whole chain again for any of its steps, once it has ended", () =>
    Effect.gen(function* () {
      const { chains, key: token, member } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const over = runOf(chain, now - 5 * minute, [
        { ...loginRow, ...failedRow },
        { ...closeRow, ...skippedRow },
        { ...alarmRow, ...succeededRow }
      ])
      const goesOn = runOf(chain, now - 2 * minute, [
        { ...loginRow, ...failedRow },
        { ...alarmRow, status: "queued", step_index: 2 }
      ])
      yield* insertRuns([...over, ...goesOn])
      const rerun = (run: RunOrExecution | undefined) =>
        ask("POST", `${member.workspace}/executions/${run?.id}/rerun`, { token })
      const again = yield* rerun(over[2])
      assert.strictEqual(again.status, 202)
      assert.deepInclude(again.body, {
        kind: "chain",
        trigger: "rerun",
        chain_run_id: again.body.id,
        scheduled_for: "2026-06-01T11:55:00.000Z"
      })
      const { body: run } = yield* chains.getRun(chain.id, again.body.id)
      assert.deepInclude(run, { trigger: "rerun", status: "queued" })
      assert.strictEqual(run.steps.length, 3)
      assert.strictEqual(statusAndError(yield* rerun(goesOn[0])), "409 conflict")
      yield* chains.remove(chain.id)
      const gone = yield* rerun(over[0])
      assert.strictEqual(statusAndError(gone), "404 not_found")
      assert.strictEqual(gone.body.detail.resource, "chain")
    })
  )
})

layer(testAppLayer())("running executions of a filter again", (it) => {
  it.effect("selects executions by status, kind, task and time", () =>
    Effect.gen(function* () {
      const { cron, ended, rerunMany, task } = yield* beginWithTask
      const { body: other } = yield* cron.create()
      const fits = [ended(10), ended(11)]
      yield* insertRuns([
        ...fits,
        ended(10, { status: "succeeded" }),
        ended(10, { status: "cancelled" }),
        ended(10, { task_id: other.id }),
        ended(9),
        ended(12)
      ])
      const filter = {
        status: ["failed"],
        kind: ["cron"],
        task_id: [task.id],
        from: "2026-06-01T11:49:00.000Z",
        to: "2026-06-01T11:51:00.000Z"
      }
      const headers = { "idempotency-key": "all-1" }
      const { body, status } = yield* rerunMany(filter, headers)
      assert.strictEqual(status, 202)
      assert.deepStrictEqual(body, { count: 2, cursor: null })
      assert.deepStrictEqual((yield* rerunMany(filter, headers)).body, body)
      const sql = yield* SqlClient.SqlClient
      const queued = yield* sql<{ readonly at: Date; readonly trigger: string }>`
        SELECT scheduled_for AS at, trigger
        FROM runs
        WHERE workspace_id = ${task.workspace_id}
        ORDER BY id`
      assert.deepStrictEqual(
        queued,
        fits.toReversed().map((run) => ({ at: run.scheduled_for, trigger: "rerun" }))
      )
    })
  )

  it.effect("takes 1,000 per request and continues from its cursor, past deleted tasks", () =>
    Effect.gen(function* () {
      const { ended, rerunMany, task } = yield* beginWithTask
      const runs = Array.from({ length: 1_200 }, (_, index) => ended(1 + index / 100))
      yield* insertRuns([...runs, ended(0.5, { task_id: randomUUID() })])
      const one = yield* rerunMany({ status: ["failed"] })
      assert.strictEqual(one.body.count, 999)
      const two = yield* rerunMany({ status: ["failed"], cursor: one.body.cursor })
      assert.deepStrictEqual(two.body, { count: 201, cursor: null })
      assert.strictEqual((yield* runsOf(task.id)).length, 1_200)
    })
  )

  it.effect("runs a chain again once, and not for skipped steps", () =>
    Effect.gen(function* () {
      const { chains, key: token, member } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      yield* insertRuns([
        ...runOf(chain, now - 9 * minute, [
          { ...loginRow, ...failedRow },
          { ...closeRow, ...failedRow },
          { ...alarmRow, ...failedRow }
        ]),
        ...runOf(chain, now - 8 * minute, [
          { ...loginRow, ...succeededRow },
          { ...closeRow, ...succeededRow },
          { ...alarmRow, ...skippedRow }
        ]),
        ...runOf(chain, now - 7 * minute, [{ ...skippedRow }]),
        ...runOf(chain, now - 6 * minute, [
          { ...loginRow, ...failedRow },
          { ...alarmRow, status: "queued", step_index: 2 }
        ])
      ])
      const counts: Array<number> = []
      for (const filter of [
        { status: ["failed"] },
        { status: ["skipped"] },
        { status: ["cancelled"] },
        { status: ["failed", "skipped"] },
        { status: ["failed"], trigger: ["chain"] }
      ]) {
        const path = `${member.workspace}/executions/rerun`
        counts.push((yield* ask("POST", path, { token, body: filter })).body.count)
      }
      assert.deepStrictEqual(counts, [1, 1, 0, 2, 1])
    })
  )

  it.effect("finds nothing of a task of another workspace", () =>
    Effect.gen(function* () {
      const { ended, member, rerunMany, task } = yield* beginWithTask
      const stranger = yield* beginWithTask
      yield* insertRuns([ended(1)])
      const filter = { status: ["failed"], task_id: [task.id] }
      assert.deepStrictEqual((yield* stranger.rerunMany(filter)).body, { count: 0, cursor: null })
      const path = `${member.workspace}/executions/rerun`
      const { token } = stranger
      const refused = yield* ask("POST", path, { token, body: filter })
      assert.strictEqual(statusAndError(refused), "403 workspace_forbidden")
      assert.isEmpty(yield* runsOf(task.id))
      assert.strictEqual((yield* rerunMany(filter)).body.count, 1)
    })
  )

  it.effect("rejects other statuses and unknown fields", () =>
    Effect.gen(function* () {
      const { rerunMany } = yield* beginWithTask
      for (const filter of [
        {},
        { status: [] },
        { status: "failed" },
        { status: ["succeeded"] },
        { status: ["running"] },
        { status: ["failed"], limit: 5 },
        { status: ["failed"], cursor: "x" }
      ]) {
        assert.strictEqual(statusAndError(yield* rerunMany(filter)), "422 validation_failed")
      }
    })
  )
})
