import type { ActivityTimeline } from "@scheduling/domain/activity/ActivityTimeline"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { StatsRollUpRepo } from "../../../src/tasks/executions/StatsRollUpRepo.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { ask, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { chainClientOf } from "../chains/chains.ts"
import { setUpCron, cronClientOf, insertRun } from "../cron/tasks.ts"
import { insertRuns, runAt } from "../executions/history.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const beginTimeline = Effect.gen(function* () {
  const { cron, key: token, member } = yield* setUpCron
  const get = (from: number, to: number) =>
    ask(
      "GET",
      `${member.workspace}/activity/timeline?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`,
      { token }
    )
  return {
    cron,
    get,
    member,
    token,
    chains: chainClientOf({ ...member, access_token: token }),
    timeline: (from: number, to: number) =>
      Effect.map(get(from, to), ({ body }): ActivityTimeline => body),
    /** Inserts runs of this task that were due the given numbers of minutes ago. */
    ran: (taskId: string, ...runs: ReadonlyArray<readonly [minutesAgo: number, status: string]>) =>
      insertRuns(
        runs.map(([minutesAgo, status]) =>
          runAt(testNow - minutesAgo * minuteMs, {
            workspace_id: member.workspace_id,
            task_id: taskId,
            status: status as "failed"
          })
        )
      )
  }
})

const laneOf = ({ lanes }: ActivityTimeline, taskId: string | null) =>
  lanes.find(({ task_id }) => task_id === taskId)

layer(testAppLayer())("the timeline", (it) => {
  it.effect("counts finished, unfinished and planned runs of each task in buckets", () =>
    Effect.gen(function* () {
      const { chains, cron, member, ran, timeline, token } = yield* beginTimeline
      const { body: task } = yield* cron.create({
        name: "Every ten minutes",
        schedule: "*/10 * * * *",
        tags: ["reports"]
      })
      const { body: paused } = yield* cron.create({ name: "Paused", schedule: "* * * * *" })
      yield* cron.act(paused.id, "pause")
      const { body: chain } = yield* chains.create({ name: "By hand only" })
      yield* ran(task.id, [30, "succeeded"], [30, "succeeded"], [20, "failed"], [10, "skipped"])
      yield* ran(randomUUID(), [15, "succeeded"])
      yield* insertRun(member.workspace_id, task.id, {
        slot: new Date(testNow),
        now: testNow,
        state: "running"
      })
      yield* ask("POST", `${member.workspace}/delayed`, {
        token,
        body: {
          run_at: new Date(testNow + 25 * minuteMs).toISOString(),
          url: "https://api.example.com/once"
        }
      })

      const shown = yield* timeline(testNow - hourMs, testNow + hourMs)
      assert.strictEqual(shown.bucket_seconds, 60)
      assert.strictEqual(shown.complete_from, shown.from)
      assert.deepStrictEqual(
        shown.lanes.map(({ kind, name }) => [kind, name]),
        [
          ["chain", "By hand only"],
          ["cron", "Paused"],
          ["cron", "Every ten minutes"],
          ["other", null]
        ]
      )
      assert.deepStrictEqual(laneOf(shown, task.id), {
        kind: "cron",
        task_id: task.id,
        name: "Every ten minutes",
        tags: ["reports"],
        queue_id: null,
        paused: false,
        succeeded: [30, 2],
        failed: [40, 1],
        other: [50, 1],
        running: [60, 1],
        planned: [60, 1, 70, 1, 80, 1, 90, 1, 100, 1, 110, 1]
      })
      assert.deepStrictEqual(laneOf(shown, paused.id)?.planned, [])
      assert.isTrue(laneOf(shown, paused.id)?.paused)
      assert.deepStrictEqual(laneOf(shown, chain.id)?.planned, [])
      assert.deepStrictEqual(laneOf(shown, null)?.succeeded, [45, 1])
      assert.deepStrictEqual(laneOf(shown, null)?.planned, [85, 1])
    })
  )

  it.effect("counts the runs of all tasks together", () =>
    Effect.gen(function* () {
      const { cron, member, ran, timeline, token } = yield* beginTimeline
      const { body: task } = yield* cron.create({ schedule: "*/10 * * * *" })
      yield* ran(task.id, [30, "succeeded"], [20, "failed"])
      yield* ran(randomUUID(), [30, "succeeded"])
      const period = `from=${new Date(testNow - hourMs).toISOString()}&to=${new Date(testNow + hourMs).toISOString()}`
      const { body }: { readonly body: ActivityTimeline } = yield* ask(
        "GET",
        `${member.workspace}/activity/timeline?${period}&by_task=false`,
        { token }
      )
      assert.deepStrictEqual(
        body.lanes.map(({ failed, kind, planned, succeeded }) => ({
          failed,
          kind,
          planned,
          succeeded
        })),
        [{ failed: [40, 1], kind: "other", planned: [], succeeded: [30, 2] }]
      )
      assert.isFalse(body.has_all_lanes)
      assert.isFalse(body.has_all_plans)
      assert.isTrue((yield* timeline(testNow - hourMs, testNow + hourMs)).has_all_lanes)
    })
  )

  it.effect("counts an execution whose id is from another time", () =>
    Effect.gen(function* () {
      const { cron, member, timeline } = yield* beginTimeline
      const { body: task } = yield* cron.create({ schedule: "0 0 1 1 *" })
      const due = testNow - 40 * minuteMs
      const late = testNow - 2 * hourMs
      yield* insertRuns([
        {
          ...runAt(due, { workspace_id: member.workspace_id, task_id: task.id }),
          id: makeRunId(late, late)
        }
      ])
      const shown = yield* timeline(testNow - hourMs, testNow)
      assert.deepStrictEqual(laneOf(shown, task.id)?.succeeded, [120, 1])
    })
  )

  it.effect("counts each execution once, before and after it is in the statistics", () =>
    Effect.gen(function* () {
      const { cron, ran, timeline } = yield* beginTimeline
      const { body: task } = yield* cron.create({ schedule: "0 0 1 1 *" })
      const [from, to] = [testNow - 20 * dayMs, testNow]
      const day = 24 * 60
      yield* ran(task.id, [day, "succeeded"], [3 * day, "failed"])
      yield* ran(randomUUID(), [day, "cancelled"])
      const fresh = yield* timeline(from, to)
      assert.strictEqual(fresh.bucket_seconds, 6 * 60 * 60)
      assert.deepStrictEqual(laneOf(fresh, task.id)?.succeeded, [76, 1])
      assert.deepStrictEqual(laneOf(fresh, task.id)?.failed, [68, 1])
      assert.deepStrictEqual(laneOf(fresh, null)?.other, [76, 1])
      const rollUp = yield* Effect.provide(StatsRollUpRepo, StatsRollUpRepo.layer)
      const sql = yield* SqlClient.SqlClient
      const [last] = yield* sql<{ readonly ordinal: string }>`
        SELECT max(ordinal)::text AS ordinal
        FROM executions`
      yield* rollUp.takeIn({ upTo: last?.ordinal ?? "0", size: 100_000 })
      yield* ran(task.id, [day, "succeeded"])
      const rolledUp = yield* timeline(from, to)
      assert.deepStrictEqual(laneOf(rolledUp, task.id)?.succeeded, [76, 2])
      assert.deepStrictEqual(laneOf(rolledUp, task.id)?.failed, [68, 1])
      assert.deepStrictEqual(laneOf(rolledUp, null), laneOf(fresh, null))
    })
  )

  it.effect("shows which worker ran what, in short buckets", () =>
    Effect.gen(function* () {
      const { cron, member, ran, timeline } = yield* beginTimeline
      const { body: task } = yield* cron.create({ schedule: "0 0 1 1 *" })
      yield* ran(task.id, [30, "succeeded"], [20, "failed"])
      const { body: worker } = yield* ask("POST", `${member.workspace}/workers`, {
        token: member.access_token,
        body: { name: "In the cellar", labels: ["cellar"] }
      })
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        UPDATE executions
        SET worker_id = ${worker.id}
        WHERE workspace_id = ${member.workspace_id}
          AND status = 'failed'`
      assert.deepStrictEqual((yield* timeline(testNow - hourMs, testNow)).workers, [
        { worker_id: worker.id, succeeded: [], failed: [240, 1], other: [] }
      ])
      assert.deepStrictEqual((yield* timeline(testNow - 10 * dayMs, testNow)).workers, [])
    })
  )

  it.effect("shows who paused which record, and when it was resumed", () =>
    Effect.gen(function* () {
      const { cron, member, timeline, token } = yield* beginTimeline
      const { body: paused } = yield* cron.create({ name: "Paused", schedule: "0 0 1 1 *" })
      const { body: resumed } = yield* cron.create({ name: "Resumed", schedule: "0 0 1 1 *" })
      const { body: deleted } = yield* cron.create({ schedule: "0 0 1 1 *", paused: true })
      const { body: worker } = yield* ask("POST", `${member.workspace}/workers`, {
        token: member.access_token,
        body: { name: "In the cellar", labels: ["cellar"] }
      })
      yield* TestClock.adjust("1 minute")
      yield* cron.act(resumed.id, "pause")
      yield* cron.remove(deleted.id)
      yield* ask("POST", `${member.workspace}/workers/${worker.id}/pause`, {
        token: member.access_token
      })
      yield* TestClock.adjust("1 minute")
      yield* cron.act(resumed.id, "resume")
      // A pause together with another change is an update in the audit log.
      yield* ask("PATCH", `${member.workspace}/cron/${paused.id}`, {
        token,
        body: { name: "Paused for now", paused: true }
      })
      const at = (minutes: number) => new Date(testNow + minutes * minuteMs).toISOString()
      const pausesIn = (from: number, to: number) =>
        Effect.map(timeline(testNow + from * minuteMs, testNow + to * minuteMs), ({ pauses }) =>
          pauses.map(({ paused_at, resumed_at, subject_id }) => [subject_id, paused_at, resumed_at])
        )
      const [first, second, third, fourth] = [
        [deleted.id, at(0), at(1)],
        [resumed.id, at(1), at(2)],
        [worker.id, at(1), null],
        [paused.id, at(2), null]
      ]
      assert.deepStrictEqual(yield* pausesIn(-60, 60), [first, second, third, fourth])
      assert.deepStrictEqual(yield* pausesIn(3, 60), [third, fourth])
      assert.deepStrictEqual(yield* pausesIn(-60, 0), [])
      const { pauses } = yield* timeline(testNow, testNow + hourMs)
      assert.deepStrictEqual(
        pauses.map(({ paused_by, reason }) => [paused_by?.kind, reason]),
        [
          ["api_key", null],
          ["api_key", null],
          ["user", null],
          ["api_key", null]
        ]
      )
      const { body } = yield* ask("GET", `${member.workspace}/activity/timeline?by_task=false`, {
        token
      })
      assert.deepStrictEqual(body.pauses, [])
    })
  )

  it.effect("says if it leaves out lanes, and counts their runs with the others", () =>
    Effect.gen(function* () {
      const { cron, ran, timeline } = yield* beginTimeline
      const { body: oldest } = yield* cron.create({ name: "Oldest", schedule: "0 0 1 1 *" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO tasks (
          id, workspace_id, kind, name, status, method, url, headers, timeout_seconds, retry_count,
          lane, created_at, updated_at
        )
        SELECT
          ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, workspace_id, kind,
          'Task ' || n, status, method, url, headers, timeout_seconds, retry_count, lane,
          created_at, updated_at
        FROM tasks
        CROSS JOIN generate_series(1, 500) AS n
        WHERE id = ${oldest.id}`
      yield* ran(oldest.id, [30, "succeeded"])
      const shown = yield* timeline(testNow - hourMs, testNow)
      assert.strictEqual(shown.has_all_lanes, false)
      assert.strictEqual(shown.lanes.length, 501)
      assert.strictEqual(laneOf(shown, oldest.id), undefined)
      assert.deepStrictEqual(laneOf(shown, null)?.succeeded, [180, 1])
    })
  )

  it.effect("stops planning where the schedules have too many slots", () =>
    Effect.gen(function* () {
      const { cron, member, timeline } = yield* beginTimeline
      const { body: task } = yield* cron.create({ schedule: "0 0 1 1 *" })
      // Schedules with the same slots, written in different ways.
      const schedules = Array.from(
        { length: 499 },
        (_, index) => `${index % 60},* ${Math.floor(index / 60)},* * * *`
      )
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO tasks (
          id, workspace_id, kind, name, status, method, url, headers, timeout_seconds, retry_count,
          schedule, timezone, overlap, missed, dst_overlap, lane, created_at, updated_at
        )
        SELECT
          gen_random_uuid(), workspace_id, kind, name, status, method, url, headers,
          timeout_seconds, retry_count, schedules.schedule, timezone, overlap, missed, dst_overlap,
          lane, created_at, updated_at
        FROM tasks
        CROSS JOIN unnest(${schedules}::text[]) AS schedules (schedule)
        WHERE id = ${task.id}
          AND workspace_id = ${member.workspace_id}`
      const shown = yield* timeline(testNow, testNow + 7 * dayMs)
      assert.strictEqual(shown.has_all_plans, false)
      assert.isTrue(shown.lanes.some(({ planned }) => planned.length > 0))
    })
  )

  it.effect("is at most 38 days long, and not of another workspace", () =>
    Effect.gen(function* () {
      const { cron, get, ran } = yield* beginTimeline
      const { body: task } = yield* cron.create()
      yield* ran(task.id, [1, "failed"])
      assert.strictEqual(
        statusAndError(yield* get(testNow - 30 * dayMs, testNow + 7 * dayMs)),
        "200"
      )
      assert.strictEqual(
        statusAndError(yield* get(testNow - 39 * dayMs, testNow)),
        "422 validation_failed"
      )
      assert.strictEqual(statusAndError(yield* get(testNow, testNow)), "422 validation_failed")
      const stranger = yield* signUp()
      yield* cronClientOf(stranger).create({ schedule: "0 0 1 1 *" })
      const { body } = yield* ask("GET", `${stranger.workspace}/activity/timeline`, {
        token: stranger.access_token
      })
      assert.strictEqual(laneOf(body, task.id), undefined)
      assert.deepStrictEqual(laneOf(body, null)?.failed, [])
    })
  )
})
