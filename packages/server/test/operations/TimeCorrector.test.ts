// @tags embedded
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { correctMonitorTimesAfterClockSetBack } from "../../src/monitoring/correctMonitorTimesAfterClockSetBack.ts"
import { correctNotificationTimesAfterClockSetBack } from "../../src/notifications/correctNotificationTimesAfterClockSetBack.ts"
import { finish } from "../../src/engine/transitions/finish.ts"
import { fire } from "../../src/engine/transitions/fire.ts"
import { registerNode } from "../../src/engine/Nodes.ts"
import {
  correctRunTimesAfterClockSetBack,
  wasClockSetBack
} from "../../src/engine/transitions/correctRunTimesAfterClockSetBack.ts"
import { start } from "../../src/engine/transitions/start.ts"
import { RunQueueLayer } from "../engine/runner/support/engine.ts"
import { settlement } from "../engine/runner/support/settlement.ts"
import { eventually, insertTask, insertWorkspace } from "../engine/runner/support/tasks.ts"
import { rowsForAllTables } from "../support/rowsForAllTables.ts"
import { ask, signUp } from "../support/http.ts"
import { steppableDatabase } from "../support/stepDatabase.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const hourMs = 3_600_000
const minuteMs = 60_000

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), { excludeTestServices: true })(
  "when the clock of the database was an hour ahead",
  (it) => {
    it.effect("a task keeps firing by the right time, and no slot fires twice", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const setAhead = yield* steppableDatabase
        const workspace = yield* insertWorkspace
        const owner = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
        const task = yield* insertTask(workspace, { schedule: "* * * * *", fires_in: 0 })
        yield* sql`UPDATE tasks SET next_fire_at = date_trunc('minute', now()) + interval '1 minute'`
        const timesOf = Effect.map(
          sql<{ readonly next_ms: number; readonly until_ms: number; readonly now_ms: number }>`
            SELECT
              date_part('epoch', next_fire_at) * 1000 AS next_ms,
              date_part('epoch', fired_until) * 1000 AS until_ms,
              date_part('epoch', now()) * 1000 AS now_ms
            FROM tasks
            WHERE id = ${task}`,
          ([row]) => row ?? assert.fail("no task")
        )
        const fireSome = fire(sql, {
          node: owner,
          limit: 10,
          lookAheadMs: minuteMs,
          turns: null,
          leases: () => true
        })

        // Two future slots fire. The first run starts, and the second waits until it is due.
        yield* setAhead(hourMs)
        const first = yield* fireSome
        const second = yield* fireSome
        assert.deepStrictEqual([first.leased.length, second.leased.length], [1, 1])
        const { started } = yield* start(sql, owner, first.leased)
        yield* finish(
          sql,
          started.map(({ attempt, id, workspace_id }) =>
            settlement({ id, workspace_id, attempt, task_id: task, lease_owner: owner })
          )
        )
        const ahead = yield* timesOf
        assert.isAbove(ahead.next_ms, ahead.now_ms)

        yield* setAhead(0)
        const { now_ms: corrected_ms } = yield* timesOf
        yield* correctRunTimesAfterClockSetBack(sql)
        yield* correctRunTimesAfterClockSetBack(sql)
        const right = yield* timesOf
        assert.isAbove(right.next_ms, corrected_ms)
        assert.isAtMost(right.next_ms, right.now_ms + minuteMs)
        assert.isAtMost(right.until_ms, right.now_ms)

        // The clock moves one minute at a time, past the slots that have already fired.
        const slots: Array<number> = first.leased.map(({ due_ms }) => due_ms)
        for (let minutes = 0; minutes < 64; minutes++) {
          yield* setAhead(minutes * minuteMs)
          const { leased } = yield* fireSome
          slots.push(...leased.map(({ due_ms }) => due_ms))
        }
        assert.isAtLeast(slots.length, 63)
        assert.strictEqual(new Set(slots).size, slots.length)
        // The slot that had fired but not started has its run.
        assert.includeMembers(
          slots,
          second.leased.map(({ due_ms }) => due_ms)
        )
        const sorted = slots.toSorted((a, b) => a - b)
        assert.isTrue(sorted.every((ms, n) => n === 0 || ms - (sorted[n - 1] ?? 0) === minuteMs))
      }).pipe(Effect.scoped)
    )

    it.effect("no task fires by a time that the node does not trust", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const setAhead = yield* steppableDatabase
        const owner = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
        const task = yield* insertTask(yield* insertWorkspace, { fires_in: minuteMs })
        const latestMs = Date.now() + 5_000
        const options = { node: owner, limit: 10, lookAheadMs: 2_000, leases: () => true }
        yield* setAhead(hourMs)
        for (const turns of [null, { at_ms: 0, lane: "0" }]) {
          assert.strictEqual((yield* fire(sql, { ...options, turns, latestMs })).fired, 0)
        }
        const { leased } = yield* fire(sql, { ...options, turns: null })
        assert.isAtLeast(leased.length, 1)
        yield* sql`DELETE FROM tasks WHERE id = ${task}`
      }).pipe(Effect.scoped)
    )

    it.effect("all stored times are corrected", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const setAhead = yield* steppableDatabase
        yield* sql`DELETE FROM fired_ahead`
        for (const statement of rowsForAllTables(new Date())) yield* sql.unsafe(statement)
        // The node writes these times using the wrong clock.
        yield* setAhead(hourMs)
        yield* sql`
          UPDATE runs
          SET slot_at = NULL, trigger = 'manual', attempt = 1, started_at = NULL,
            attempt_started_at = NULL, due_at = now()
          WHERE state = 'parked'`
        yield* sql`
          UPDATE runs
          SET started_at = now(), attempt_started_at = now(), awaiting_since = now(),
            completes_by = now() + interval '30 seconds'
          WHERE state = 'awaiting'`
        yield* sql`
          UPDATE queues
          SET next_at = now() + interval '10 seconds', held_until = ARRAY[now() + interval '2 hours']`
        yield* sql`INSERT INTO nodes (holds_lock, lease_until, suspected_at) VALUES (true, now(), now())`
        yield* sql`UPDATE workers SET missed_at = now() + interval '1 minute'`
        yield* sql`UPDATE calendars SET fetched_at = now(), check_at = now() + interval '1 day'`
        yield* sql`UPDATE absences SET began_at = now() WHERE ended_at IS NULL`
        yield* sql`UPDATE ssl_monitors SET last_check_at = now(), check_at = now() + interval '1 hour'`
        yield* sql`UPDATE checked_monitors SET check_at = now() + interval '1 hour'`
        yield* sql`UPDATE process_reports SET reported_at = now(), failing_since = now()`
        yield* sql`UPDATE process_monitors SET since = now(), check_at = now() + interval '1 minute'`
        yield* sql`
          UPDATE notification_deliveries
          SET status = 'queued', finished_at = NULL, due_at = now() + interval '10 seconds',
            next_at = now() + interval '20 seconds', created_at = now()`
        yield* sql`
          UPDATE notification_channels
          SET sent_at = now(), held_until = now() + interval '20 seconds'`
        yield* sql`UPDATE notification_settings SET settings = '{"remind_every_seconds": 3600}'`
        yield* sql`
          UPDATE problems
          SET check_at = now() + interval '40 seconds', remind_at = now() + interval '1 hour'`
        assert.isFalse(yield* wasClockSetBack(sql))

        yield* setAhead(0)
        assert.isTrue(yield* wasClockSetBack(sql))
        const correctTimes = Effect.andThen(
          Effect.andThen(
            correctMonitorTimesAfterClockSetBack(sql),
            correctNotificationTimesAfterClockSetBack(sql)
          ),
          correctRunTimesAfterClockSetBack(sql)
        )
        yield* correctTimes
        assert.isFalse(yield* wasClockSetBack(sql))

        /** Each column's latest time, in seconds from now. */
        const latest = Effect.map(
          sql<Record<string, number>>`
            SELECT
              (SELECT max(date_part('epoch', due_at - now())) FROM runs WHERE trigger = 'manual' AND state = 'parked') AS due,
              (SELECT max(date_part('epoch', completes_by - now())) FROM runs WHERE state = 'awaiting') AS completion,
              (SELECT max(date_part('epoch', greatest(started_at, attempt_started_at, awaiting_since) - now())) FROM runs) AS started,
              (SELECT max(date_part('epoch', next_at - now())) FROM queues) AS queue,
              (SELECT max(date_part('epoch', held_until[1] - now())) FROM queues) AS held_slot,
              (SELECT max(date_part('epoch', greatest(lease_until, suspected_at) - now())) FROM nodes WHERE lease_until < 'infinity') AS node,
              (SELECT max(date_part('epoch', missed_at - now())) FROM workers) AS worker,
              (SELECT max(date_part('epoch', check_at - now())) FROM calendars) AS calendar,
              (SELECT max(date_part('epoch', began_at - now())) FROM absences) AS absence,
              (SELECT max(date_part('epoch', check_at - now())) FROM ssl_monitors) AS certificate,
              (SELECT max(date_part('epoch', check_at - now())) FROM checked_monitors) AS target,
              (SELECT max(date_part('epoch', greatest(check_at, since) - now())) FROM process_monitors) AS process,
              (SELECT max(date_part('epoch', greatest(reported_at, failing_since) - now())) FROM process_reports) AS report,
              (SELECT max(date_part('epoch', due_at - now())) FROM notification_deliveries) AS delivery,
              (SELECT max(date_part('epoch', next_at - now())) FROM notification_deliveries) AS next_attempt,
              (SELECT max(date_part('epoch', held_until - now())) FROM notification_channels) AS channel,
              (SELECT max(date_part('epoch', check_at - now())) FROM problems) AS missed_recovery,
              (SELECT max(date_part('epoch', remind_at - now())) FROM problems) AS reminder`,
          ([row]) => row ?? assert.fail("no row")
        )
        const inSeconds = yield* latest
        const atMost = {
          due: 0,
          completion: 30,
          started: 0,
          queue: 10,
          held_slot: 910,
          node: 15,
          worker: 60,
          calendar: 0,
          absence: 0,
          certificate: 0,
          target: 0,
          process: 0,
          report: 0,
          delivery: 10,
          next_attempt: 20,
          channel: 20,
          missed_recovery: 40,
          reminder: 3_600
        }
        for (const [what, seconds] of Object.entries(atMost)) {
          assert.isAtMost(inSeconds[what] ?? assert.fail(`nothing of ${what}`), seconds, what)
          assert.isAbove(inSeconds[what] ?? 0, seconds - 5, what)
        }
        // A second correction changes nothing.
        yield* correctTimes
        const again = yield* latest
        for (const what of Object.keys(atMost)) {
          assert.isAtMost(again[what] ?? 0, inSeconds[what] ?? 0, what)
        }
      }).pipe(Effect.scoped)
    )
  }
)

layer(runningNodeLayer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "a step of the database's clock that is undone",
  (it) => {
    it.effect(
      "is reported by readiness, and runs that were added during the step start at once",
      () =>
        Effect.gen(function* () {
          const setAhead = yield* steppableDatabase
          const sql = yield* SqlClient.SqlClient
          const { access_token: token, workspace } = yield* signUp()
          const created = yield* ask("POST", `${workspace}/cron`, {
            token,
            body: { name: "minutely", schedule: "* * * * *", url: "http://127.0.0.1:9/" }
          })
          assert.strictEqual(created.status, 201, created.text)
          const at = `${workspace}/cron/${created.body.id}`
          const ready = ask("GET", "/v1/ready?deep=1")
          yield* setAhead(hourMs)
          const degraded = yield* eventually(ready, ({ status }) => status === 503)
          assert.deepStrictEqual(
            degraded.body.detail.failing.map(({ loop }: { readonly loop: string }) => loop),
            ["following the clock of the database"]
          )
          const delayed = yield* ask("POST", `${workspace}/delayed`, {
            token,
            body: { name: "delayed", url: "http://127.0.0.1:9/", delay_seconds: 1 }
          })
          assert.strictEqual(delayed.status, 201, delayed.text)
          const run = yield* ask("POST", `${at}/run`, { token })
          assert.strictEqual(run.status, 202, run.text)
          const [queued] = yield* sql<{ readonly is_ahead: boolean }>`
          SELECT due_at > now() - interval '1 minute' AS is_ahead
          FROM runs
          WHERE id = ${run.body.id}`
          assert.isTrue(queued?.is_ahead)
          yield* Effect.sleep("1 second")

          yield* setAhead(0)
          yield* eventually(ready, ({ status }) => status === 200)
          const execution = ask("GET", `${workspace}/executions/${run.body.id}`, { token })
          yield* eventually(execution, ({ body }) => body.status === "failed")
          const delayedTask = ask("GET", `${workspace}/delayed/${delayed.body.id}`, { token })
          yield* eventually(delayedTask, ({ body }) => body.status === "finished")
          const { body: task } = yield* ask("GET", at, { token })
          assert.isBelow(Date.parse(task.next_run_at), Date.now() + 2 * minuteMs)
        }).pipe(Effect.scoped)
    )
  }
)
