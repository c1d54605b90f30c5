import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, statusAndError, signUp } from "../support/http.ts"
import { unknownId } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { insertRuns, runAt } from "./executions/history.ts"
import { setUpCron, runsOf } from "./cron/tasks.ts"

const hour = 3_600_000

/**
 * Creates a cron task in Berlin's time zone. Returns functions that send backfill requests for the
 * task.
 */
const beginWithTask = Effect.fnUntraced(function* (input: object = {}) {
  const { cron, key: token, member } = yield* setUpCron
  const { body: task } = yield* cron.create({ timezone: "Europe/Berlin", ...input })
  return {
    cron,
    member,
    task,
    backfill: (body: object, headers: Readonly<Record<string, string>> = {}, id = task.id) =>
      ask("POST", `${member.workspace}/cron/${id}/backfill`, { token, headers, body }),
    ended: (at: string, status: "failed" | "succeeded" | "skipped", trigger = "schedule") =>
      runAt(Date.parse(at), {
        workspace_id: member.workspace_id,
        task_id: task.id,
        status,
        trigger
      })
  }
})

const timesOf = Effect.fnUntraced(function* (taskId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly scheduled_for: Date; readonly trigger: string }>`
    SELECT scheduled_for, trigger
    FROM runs
    WHERE task_id = ${taskId}
    ORDER BY id`
  assert.isTrue(rows.every(({ trigger }) => trigger === "backfill"))
  return rows.map(({ scheduled_for }) => scheduled_for.toISOString())
})

layer(testAppLayer({ retentionDays: 3_650 }))("a backfill of a cron task", (it) => {
  for (const { from, slots, to } of [
    {
      from: "2025-03-29T00:00:00Z",
      to: "2025-04-01T00:00:00Z",
      slots: ["2025-03-29T01:30", "2025-03-30T01:00", "2025-03-31T00:30"]
    },
    {
      from: "2025-10-25T00:30:00Z",
      to: "2025-10-28T01:30:00Z",
      slots: ["2025-10-25T00:30", "2025-10-26T00:30", "2025-10-27T01:30"]
    }
  ]) {
    it.effect(`runs each slot across the clock change after ${from} in order`, () =>
      Effect.gen(function* () {
        const { backfill, task } = yield* beginWithTask({ schedule: "30 2 * * *" })
        const times = slots.map((slot) => `${slot}:00.000Z`)
        const answer = { count: 3, first: times[0], last: times[2] }
        const dry = yield* backfill({ from, to, dry_run: true })
        assert.deepStrictEqual([dry.status, dry.body], [202, answer])
        assert.isEmpty(yield* runsOf(task.id))
        assert.deepStrictEqual((yield* backfill({ from, to })).body, answer)
        assert.deepStrictEqual(yield* timesOf(task.id), times)
        const states = (yield* runsOf(task.id)).map(({ state }) => state)
        assert.deepStrictEqual(states, ["blocked", "blocked", "blocked"])
      })
    )
  }

  it.effect("runs each missing slot once, even when two requests arrive simultaneously", () =>
    Effect.gen(function* () {
      const { backfill, ended, task } = yield* beginWithTask({
        schedule: "0 * * * *",
        overlap: "allow",
        excluded_days: ["2025-10-25"]
      })
      const known = [
        ended("2025-10-24T03:00:00Z", "succeeded"),
        ended("2025-10-26T01:00:00Z", "failed"),
        ended("2025-10-26T02:00:00Z", "skipped", "rerun"),
        // A manual run, or an execution with a different time, does not belong to the slot.
        ended("2025-10-26T03:00:00Z", "succeeded", "manual"),
        ended("2025-10-26T04:00:01Z", "succeeded"),
        // An earlier backfill, whose id contains a later time.
        {
          ...ended("2025-11-20T00:00:00Z", "succeeded", "backfill"),
          scheduled_for: new Date("2025-10-26T05:00:00Z")
        }
      ]
      yield* insertRuns(known)
      const period = { from: "2025-10-24T00:00:00Z", to: "2025-10-28T00:00:00Z" }
      const answers = yield* Effect.all([backfill(period), backfill(period)], {
        concurrency: "unbounded"
      })
      const excluded = {
        from: Date.parse("2025-10-24T22:00Z"),
        to: Date.parse("2025-10-25T22:00Z")
      }
      const taken = new Set(
        ["24T03", "26T01", "26T02", "26T05"].map((at) => Date.parse(`2025-10-${at}:00Z`))
      )
      const expected = Array.from(
        { length: 96 },
        (_, index) => Date.parse(period.from) + index * hour
      )
        .filter((at) => (at < excluded.from || at >= excluded.to) && !taken.has(at))
        .map((at) => new Date(at).toISOString())
      assert.deepStrictEqual(yield* timesOf(task.id), expected)
      assert.sameMembers(
        answers.map(({ body }) => body.count),
        [0, expected.length]
      )
      assert.isTrue((yield* runsOf(task.id)).every(({ state }) => state === "ready"))
    })
  )

  it.effect("runs failed slots, or all of them, unless they are unfinished", () =>
    Effect.gen(function* () {
      const { backfill, cron, ended, task } = yield* beginWithTask({ schedule: "0 * * * *" })
      yield* insertRuns([
        ended("2025-06-01T01:00:00Z", "failed"),
        ended("2025-06-01T02:00:00Z", "failed"),
        ended("2025-06-01T02:00:00Z", "succeeded", "rerun"),
        ended("2025-06-01T03:00:00Z", "skipped")
      ])
      // A backfill's runs are not scheduled runs, so they are permitted even if the task is paused.
      yield* cron.act(task.id, "pause")
      const period = { from: "2025-06-01T01:00:00Z", to: "2025-06-01T05:00:00Z" }
      const headers = { "idempotency-key": "failed" }
      const failed = yield* backfill({ ...period, only: "failed" }, headers)
      assert.strictEqual(failed.body.count, 1)
      assert.deepStrictEqual(
        (yield* backfill({ ...period, only: "failed" }, headers)).body,
        failed.body
      )
      assert.strictEqual((yield* backfill({ ...period, only: "failed" })).body.count, 0)
      const all = yield* backfill({ ...period, only: "all" })
      assert.deepStrictEqual(all.body, {
        count: 3,
        first: "2025-06-01T02:00:00.000Z",
        last: "2025-06-01T04:00:00.000Z"
      })
    })
  )

  it.effect("leaves out slots that the schedule itself will fire", () =>
    Effect.gen(function* () {
      const { backfill, task } = yield* beginWithTask({ schedule: "0 0 * * *", timezone: "UTC" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        UPDATE tasks
        SET next_fire_at = '2025-07-03T00:00:00Z'
        WHERE id = ${task.id}`
      const { body } = yield* backfill({ from: "2025-07-01T00:00:00Z", to: "2100-01-01T00:00:00Z" })
      assert.deepStrictEqual(body, {
        count: 2,
        first: "2025-07-01T00:00:00.000Z",
        last: "2025-07-02T00:00:00.000Z"
      })
    })
  )

  it.effect("is recorded in the audit log", () =>
    Effect.gen(function* () {
      const { backfill, member, task } = yield* beginWithTask({ schedule: "0 0 * * *" })
      yield* backfill({ from: "2025-07-01T00:00:00Z", to: "2025-07-03T00:00:00Z" })
      const { body } = yield* ask("GET", `${member.workspace}/audit`, {
        token: member.access_token
      })
      assert.strictEqual(body.data[0].action, "cron_task.backfilled")
      assert.strictEqual(body.data[0].subject_id, task.id)
    })
  )

  it.effect("is rejected for a wrong period, a task of nobody, and to others", () =>
    Effect.gen(function* () {
      const { backfill, member, task } = yield* beginWithTask({ schedule: "* * * * *" })
      const day = { from: "2025-06-01T00:00:00Z", to: "2025-06-02T00:00:00Z" }
      for (const period of [
        { from: day.to, to: day.from },
        { from: "2001-01-01T00:00:00Z", to: "2001-01-02T00:00:00Z" },
        { from: day.from, to: "2025-06-09T00:00:00Z" }
      ]) {
        assert.strictEqual(statusAndError(yield* backfill(period)), "422 validation_failed")
      }
      assert.strictEqual(statusAndError(yield* backfill(day, {}, unknownId)), "404 not_found")
      const stranger = yield* signUp()
      const path = `${member.workspace}/cron/${task.id}/backfill`
      const theirs = yield* ask("POST", path, { token: stranger.access_token, body: day })
      assert.strictEqual(theirs.status, 404)
      assert.isEmpty(yield* runsOf(task.id))
    })
  )
})

layer(testAppLayer({ retentionDays: 3_650 }))("a backfill of a chain", (it) => {
  it.effect("counts the status of a run with all its steps, and starts at the first step", () =>
    Effect.gen(function* () {
      const { key: token, member } = yield* setUpCron
      const step = (name: string) => ({ name, url: "https://api.example.com/step" })
      const chain = yield* ask("POST", `${member.workspace}/chains`, {
        token,
        body: { name: "Load", schedule: "0 * * * *", steps: [step("a"), step("b")] }
      })
      const chainRun = (
        at: string,
        first: "failed" | "skipped" | "succeeded",
        second?: "cancelled" | "failed" | "running" | "succeeded"
      ) => {
        const fields = {
          workspace_id: member.workspace_id,
          task_id: chain.body.id,
          kind: "chain"
        } as const
        const head = runAt(Date.parse(at), { ...fields, status: first, step_index: 0, step: "a" })
        const next = runAt(Date.parse(at) + 2 * hour, {
          ...fields,
          trigger: "chain",
          step_index: 1,
          step: "b",
          chain_run_id: head.id,
          ...(second !== undefined && { status: second })
        })
        return [{ ...head, chain_run_id: head.id }, ...(second === undefined ? [] : [next])]
      }
      yield* insertRuns(
        [
          chainRun("2025-06-01T01:00:00Z", "succeeded", "failed"),
          chainRun("2025-06-01T02:00:00Z", "succeeded", "succeeded"),
          chainRun("2025-06-01T03:00:00Z", "succeeded", "running"),
          chainRun("2025-06-01T04:00:00Z", "failed"),
          chainRun("2025-06-01T05:00:00Z", "succeeded", "cancelled")
        ].flat()
      )
      const path = `${member.workspace}/chains/${chain.body.id}/backfill`
      const backfill = (only: string, dry_run = true) =>
        ask("POST", path, {
          token,
          body: { from: "2025-06-01T01:00:00Z", to: "2025-06-01T07:00:00Z", only, dry_run }
        })
      const at = (hours: number) => `2025-06-01T0${hours}:00:00.000Z`
      assert.deepStrictEqual((yield* backfill("missing")).body, {
        count: 1,
        first: at(6),
        last: at(6)
      })
      assert.strictEqual((yield* backfill("all")).body.count, 5)
      const failed = yield* backfill("failed", false)
      assert.deepStrictEqual(failed.body, { count: 2, first: at(1), last: at(4) })
      const sql = yield* SqlClient.SqlClient
      const runs = yield* sql`
        SELECT chain_run_id = id AS is_head, step_index, scheduled_for
        FROM runs
        WHERE task_id = ${chain.body.id}
          AND trigger = 'backfill'
        ORDER BY id`
      assert.deepStrictEqual(
        runs,
        [1, 4].map((hours) => ({
          is_head: true,
          step_index: 0,
          scheduled_for: new Date(at(hours))
        }))
      )
      assert.strictEqual((yield* backfill("failed")).body.count, 0)
      const { body: audit } = yield* ask("GET", `${member.workspace}/audit`, {
        token: member.access_token
      })
      assert.strictEqual(audit.data[0].action, "chain.backfilled")
    })
  )
})
