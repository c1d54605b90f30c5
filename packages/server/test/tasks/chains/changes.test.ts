import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { insertRuns } from "../executions/history.ts"
import { ask } from "../../support/http.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { alarmStep, storedStep, setUpChains, loginStep, runOf, succeededRow } from "./chains.ts"

const later = "2026-06-01T12:01:00.000Z"

const nextFireOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    at: Date | null
  }>`SELECT next_fire_at AS at FROM tasks WHERE id = ${id}`
  return rows.map(({ at }) => at?.toISOString() ?? null)
})

layer(testAppLayer())("changing a chain", (it) => {
  it.effect("changes only the given fields, and replaces all steps together", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create({ schedule: "0 18 * * *" })
      assert.deepStrictEqual((yield* chains.update(chain.id, {})).body, chain)
      yield* TestClock.adjust("1 minute")
      const renamed = yield* chains.update(chain.id, { name: "Close it" })
      assert.strictEqual(renamed.status, 200)
      assert.deepStrictEqual(renamed.body, {
        ...chain,
        version: 2,
        name: "Close it",
        updated_at: later
      })
      const steps = [{ ...loginStep, retry_count: 3 }, alarmStep]
      const changed = yield* chains.update(chain.id, { steps })
      assert.deepStrictEqual(changed.body, {
        ...renamed.body,
        version: 3,
        steps: steps.map(storedStep)
      })
      assert.deepStrictEqual((yield* chains.get(chain.id)).body, changed.body)
    })
  )

  it.effect("moves the next firing with the schedule, and takes it away without one", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const changes: ReadonlyArray<readonly [object, string | null]> = [
        [{ schedule: "0 18 * * *" }, "2026-06-01T18:00:00.000Z"],
        [{ timezone: "Asia/Tokyo" }, "2026-06-02T09:00:00.000Z"],
        [{ name: "Still the same" }, "2026-06-02T09:00:00.000Z"],
        [{ schedule: null }, null],
        [{ timezone: "UTC" }, null],
        [{ schedule: "30 12 * * *" }, "2026-06-01T12:30:00.000Z"]
      ]
      for (const [change, next] of changes) {
        const { body } = yield* chains.update(chain.id, change)
        assert.strictEqual(body.next_run_at, next, JSON.stringify(change))
        assert.deepStrictEqual(yield* nextFireOf(chain.id), [next])
      }
    })
  )

  it.effect("of the schedule forgets the slots that were fired ahead from the old one", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const sql = yield* SqlClient.SqlClient
      const { body: chain } = yield* chains.create({ schedule: "0 18 * * *" })
      // The slot is relative to the database's clock, which tests cannot set.
      const insertSlot = sql`
        INSERT INTO runs (
          id, workspace_id, task_id, kind, trigger, slot_at, scheduled_for, due_at
        )
        SELECT
          gen_random_uuid(), workspace_id, id, kind, 'schedule', soon, soon, soon
        FROM tasks
        CROSS JOIN (SELECT now() + interval '1 minute' AS soon) AS slot
        WHERE id = ${chain.id}`
      const queued = sql`SELECT id FROM runs WHERE task_id = ${chain.id}`
      yield* insertSlot
      yield* chains.update(chain.id, { name: "Same schedule" })
      assert.strictEqual((yield* queued).length, 1)
      yield* chains.update(chain.id, { schedule: null })
      assert.strictEqual((yield* queued).length, 0)
    })
  )

  it.effect("is paused with its schedule, its queued runs and its running runs", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create({ schedule: "0 18 * * *" })
      const { body: queued } = yield* chains.act(chain.id, "run")
      const between = runOf(chain, now - 60_000, [
        succeededRow,
        { status: "queued", steps: [loginStep, alarmStep] }
      ])
      const going = runOf(chain, now, [{ status: "running" }])
      yield* insertRuns([...between, ...going])
      const paused = yield* chains.act(chain.id, "pause")
      assert.strictEqual(paused.status, 200)
      assert.strictEqual(paused.body.status, "paused")
      assert.strictEqual(paused.body.next_run_at, null)
      assert.deepStrictEqual(yield* nextFireOf(chain.id), [null])
      assert.deepStrictEqual((yield* chains.act(chain.id, "pause")).body, paused.body)
      assert.strictEqual((yield* chains.getRun(chain.id, queued.id)).body.status, "cancelled")
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`
        SELECT id, cancel_requested
        FROM runs
        WHERE task_id = ${chain.id}
        ORDER BY id`
      assert.deepStrictEqual(left, [{ id: going[0]?.id, cancel_requested: true }])
      const stopped = yield* chains.getRun(chain.id, between[0]?.id ?? "")
      assert.strictEqual(stopped.body.status, "cancelled")

      assert.strictEqual((yield* chains.act(chain.id, "run")).status, 202)
      const changed = yield* chains.update(chain.id, { schedule: "30 12 * * *" })
      assert.strictEqual(changed.body.next_run_at, null)
      yield* TestClock.adjust("1 minute")
      const resumed = yield* chains.act(chain.id, "resume")
      assert.strictEqual(resumed.status, 200)
      assert.strictEqual(resumed.body.status, "active")
      assert.strictEqual(resumed.body.next_run_at, "2026-06-01T12:30:00.000Z")
      assert.strictEqual(resumed.body.updated_at, later)
      assert.deepStrictEqual((yield* chains.act(chain.id, "resume")).body, resumed.body)
    })
  )

  it.effect("by deletion ends its runs, and keeps its history", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const { body: chain } = yield* chains.create({ schedule: "0 18 * * *" })
      const { body: queued } = yield* chains.act(chain.id, "run")
      const going = runOf(chain, now, [{ status: "running" }])
      yield* insertRuns(going)
      const removed = yield* chains.remove(chain.id)
      assert.strictEqual(removed.status, 204)
      assert.strictEqual(removed.text, "")
      assert.strictEqual((yield* chains.remove(chain.id)).status, 404)
      assert.strictEqual((yield* chains.get(chain.id)).status, 404)
      assert.strictEqual((yield* chains.getRun(chain.id, queued.id)).status, 404)
      const { body } = yield* ask("GET", `${member.workspace}/executions?task_id=${chain.id}`, {
        token: member.access_token
      })
      const statuses = Object.fromEntries(
        body.data.map((row: { id: string; status: string }) => [row.id, row.status])
      )
      assert.deepStrictEqual(statuses, {
        [queued.id]: "cancelled",
        [going[0]?.id ?? ""]: "running"
      })
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`SELECT cancel_requested FROM runs WHERE task_id = ${chain.id}`
      assert.deepStrictEqual(left, [{ cancel_requested: true }])
    })
  )
})
