import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { firstIdAt } from "../../src/engine/RunId.ts"
import { HousekeepingRepo } from "../../src/operations/HousekeepingRepo.ts"
import { eventually } from "../engine/runner/support/tasks.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const now = new Date("2026-06-01T12:00:00Z")
const past = new Date("2026-06-01T11:59:59Z")
const future = new Date("2026-06-01T12:00:01Z")
const dayAgo = new Date("2026-05-31T12:00:00Z")

const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`

layer(HousekeepingRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("housekeeping", (it) => {
  it.effect("removes expired rows and nothing else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      yield* sql`INSERT INTO users (id, email, password_hash, created_at) VALUES (${id(0)}, 'h@example.com', '', ${past})`
      yield* sql`INSERT INTO workspaces (id, name, created_at) VALUES (${id(1)}, 'w', ${past})`
      for (const [n, at] of [
        [2, past],
        [3, future]
      ] as const) {
        yield* sql`
          INSERT INTO sessions (id, user_id, rotated_at, expires_at, created_at)
          VALUES (${id(n)}, ${id(0)}, ${past}, ${at}, ${past})`
        yield* sql`INSERT INTO login_throttle (subject, failures, attempts, window_ends_at) VALUES (${`s${n}`}, 1, 1, ${at})`
        yield* sql`
          INSERT INTO signing_secrets (id, workspace_id, sealed_secret, expires_at, created_at)
          VALUES (${id(n)}, ${id(1)}, '', ${at}, ${past})`
      }
      yield* sql`
        INSERT INTO idempotent_requests (owner_id, principal_id, operation, key, request_hash, created_at)
        VALUES (${id(1)}, ${id(0)}, '', 'old', '', ${dayAgo}), (${id(1)}, ${id(0)}, '', 'new', '', ${past})`
      for (const [n, status, at, updated] of [
        [4, "finished", past, past],
        [5, "cancelled", future, past],
        [6, "pending", past, past],
        [7, "finished", future, past],
        [8, "cancelled", past, future]
      ] as const) {
        yield* sql`
          INSERT INTO tasks (id, workspace_id, kind, status, url, run_at, created_at, updated_at)
          VALUES (${id(n)}, ${id(1)}, 'delayed', ${status}, 'https://example.com', ${at}, ${past}, ${updated})`
      }
      // This task's run finished long after it was due.
      yield* sql`
        INSERT INTO tasks (id, workspace_id, kind, status, url, run_at, ended_at, created_at, updated_at)
        VALUES (${id(9)}, ${id(1)}, 'delayed', 'finished', 'https://example.com', ${past}, ${future}, ${past}, ${past})`

      yield* repo.removeExpired(now)
      yield* repo.removeEndedTasks(now)

      const left = yield* sql<{ row: string }>`
        SELECT 'session ' || id AS row FROM sessions
        UNION ALL SELECT 'throttle ' || subject FROM login_throttle
        UNION ALL SELECT 'secret ' || id FROM signing_secrets
        UNION ALL SELECT 'idempotent ' || key FROM idempotent_requests
        UNION ALL SELECT 'task ' || id FROM tasks`
      assert.deepStrictEqual(left.map(({ row }) => row).toSorted(), [
        "idempotent new",
        `secret ${id(3)}`,
        `session ${id(3)}`,
        `task ${id(6)}`,
        `task ${id(7)}`,
        `task ${id(8)}`,
        `task ${id(9)}`,
        "throttle s3"
      ])
    })
  )

  it.effect("removes a few thousand rows per statement, however many have expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      const tables = ["login_throttle", "idempotent_requests", "executions"]
      yield* sql`
        CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM removed) > 5000 THEN
            RAISE EXCEPTION 'too many rows of % at once', TG_TABLE_NAME;
          END IF;
          RETURN NULL;
        END
        $$`
      for (const table of tables) {
        yield* sql`
          CREATE TRIGGER refuse_many
          AFTER DELETE ON ${sql(table)}
          REFERENCING OLD TABLE AS removed
          FOR EACH STATEMENT
          EXECUTE FUNCTION refuse_many()`
      }
      yield* sql`
        INSERT INTO login_throttle (subject, failures, attempts, window_ends_at)
        SELECT n, 1, 1, ${past}
        FROM generate_series(1, 5001) AS n`
      yield* sql`
        INSERT INTO idempotent_requests (owner_id, principal_id, operation, key, request_hash, created_at)
        SELECT ${id(1)}::uuid, ${id(0)}::uuid, '', n, '', ${dayAgo}
        FROM generate_series(1, 5001) AS n`
      yield* sql`
        INSERT INTO executions
          (id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count)
        SELECT
          (left(${firstIdAt(Date.UTC(2027, 3, 1))}, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${id(1)}::uuid,
          ${id(1)}::uuid, 'delayed', 'schedule', 'cancelled', ${past}, ${dayAgo}, 0
        FROM generate_series(1, 5001) AS n`

      yield* repo.removeExpired(now)
      yield* repo.removeEndedAhead(future, now)

      for (const table of tables) {
        const [left] = yield* sql<{ rows: number }>`
          SELECT count(*)::int AS rows
          FROM ${sql(table)}`
        assert.isAtMost(left?.rows ?? 0, 1, table)
        yield* sql`DROP TRIGGER refuse_many ON ${sql(table)}`
      }
    })
  )

  it.effect("removes finished tasks, however many there are, and reads no young tasks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      const insert = (prefix: string, status: string, count: number) => sql`
        INSERT INTO tasks (id, workspace_id, kind, status, url, run_at, created_at, updated_at)
        SELECT
          (left(${prefix}, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${id(1)}::uuid, 'delayed', ${status},
          'https://example.com', ${dayAgo}, ${dayAgo}, ${dayAgo}
        FROM generate_series(1, ${count}::int) AS n`
      yield* insert(firstIdAt(dayAgo.getTime()), "pending", 6_000)
      yield* insert(firstIdAt(dayAgo.getTime() + 1), "finished", 6_000)
      yield* insert(firstIdAt(now.getTime() + 3 * 86_400_000), "finished", 1)
      yield* repo.removeEndedTasks(now)
      const left = yield* sql`
        SELECT status, count(*)::int AS tasks
        FROM tasks
        WHERE run_at = ${dayAgo}
        GROUP BY status
        ORDER BY status`
      assert.deepStrictEqual(left, [
        { status: "finished", tasks: 1 },
        { status: "pending", tasks: 6_000 }
      ])
    })
  )

  it.effect("removes the history of runs that were cancelled long before they were due", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      const tomorrow = new Date("2026-06-02T12:00:00Z")
      const inAYear = firstIdAt(Date.UTC(2027, 4, 1))
      for (const [execution, finished] of [
        [inAYear, past],
        [inAYear.replace(/0$/, "1"), future],
        [firstIdAt(past.getTime()), past]
      ] as const) {
        yield* sql`
          INSERT INTO executions
            (id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count)
          VALUES (${execution}, ${id(1)}, ${id(1)}, 'delayed', 'schedule', 'cancelled', ${past}, ${finished}, 0)`
      }
      yield* repo.removeEndedAhead(tomorrow, now)
      const left = yield* sql<{ id: string }>`SELECT id FROM executions ORDER BY id`
      assert.deepStrictEqual(
        left.map((row) => row.id),
        [firstIdAt(past.getTime()), inAYear.replace(/0$/, "1")]
      )
    })
  )

  it.effect("removes the progress of old runs, unless they continue", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      const ids = [dayAgo, dayAgo, future].map((time, n) =>
        firstIdAt(time.getTime()).replace(/0$/, String(n))
      )
      for (const one of ids) {
        yield* sql`INSERT INTO progress (execution_id, workspace_id, lines) VALUES (${one}, ${id(1)}, '[]')`
      }
      yield* sql`
        INSERT INTO runs (id, workspace_id, task_id, kind, trigger, scheduled_for, due_at)
        VALUES (${ids[1]}, ${id(1)}, ${id(1)}, 'cron', 'manual', ${dayAgo}, ${dayAgo})`
      yield* repo.removeProgress(past)
      const left = yield* sql<{ id: string }>`SELECT execution_id AS id FROM progress ORDER BY id`
      assert.deepStrictEqual(
        left.map((row) => row.id),
        ids.slice(1)
      )
    })
  )

  it.effect("removes old inputs, but not those of runs that continue", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      const ids = [dayAgo, dayAgo, dayAgo, future].map((time, n) =>
        firstIdAt(time.getTime()).replace(/0$/, String(n + 4))
      )
      for (const one of ids) {
        yield* sql`INSERT INTO run_inputs (id, workspace_id, input) VALUES (${one}, ${id(1)}, '1')`
      }
      yield* sql`
        INSERT INTO runs (id, workspace_id, task_id, kind, trigger, chain_run_id, scheduled_for, due_at)
        VALUES
          (${ids[1]}, ${id(1)}, ${id(1)}, 'cron', 'manual', NULL, ${dayAgo}, ${dayAgo}),
          (${randomUUID()}, ${id(1)}, ${id(1)}, 'chain', 'chain', ${ids[2]}, ${dayAgo}, ${dayAgo})`
      yield* repo.removeInputs(past)
      const left = yield* sql<{ id: string }>`SELECT id FROM run_inputs ORDER BY id`
      assert.deepStrictEqual(
        left.map((row) => row.id),
        ids.slice(1)
      )
    })
  )

  it.effect("removes calls that were replaced long ago", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      for (const at of [dayAgo, future]) {
        yield* sql`
          INSERT INTO replaced_calls (task_id, replaced_at, workspace_id, method, url, headers)
          VALUES (${id(1)}, ${at}, ${id(1)}, 'POST', 'https://example.com/', '{}')`
      }
      yield* repo.removeReplacedCalls(past)
      const left = yield* sql<{ at: Date }>`SELECT replaced_at AS at FROM replaced_calls`
      assert.deepStrictEqual(
        left.map(({ at }) => at),
        [future]
      )
    })
  )

  it.effect("removes old audit events, and the details of events of deleted owners", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* HousekeepingRepo
      yield* sql`
        INSERT INTO audit_events (id, action, workspace_id, user_id, request_id, details, created_at)
        SELECT
          (left(${firstIdAt(future.getTime())}, 24) || lpad(to_hex(n), 12, '0'))::uuid,
          'a', CASE WHEN n % 2 = 0 THEN ${id(1)}::uuid END, CASE WHEN n % 2 = 1 THEN ${id(2)}::uuid END,
          'r', '{"name": "n"}', ${future}
        FROM generate_series(1, 10002) AS n`
      yield* sql`
        INSERT INTO audit_events (id, action, workspace_id, request_id, details, created_at)
        VALUES
          (${firstIdAt(past.getTime())}, 'old', ${id(3)}, 'r', '{"name": "n"}', ${past}),
          (${firstIdAt(now.getTime())}, 'kept', ${id(3)}, 'r', '{"name": "n"}', ${now})`
      yield* sql`INSERT INTO audit_erasures (owner_id) VALUES (${id(1)}), (${id(2)})`

      yield* repo.removeAuditEvents(now)
      yield* repo.eraseAuditEvents

      const events = yield* sql`
        SELECT action, request_id, details, count(*)::int AS n
        FROM audit_events
        GROUP BY action, request_id, details
        ORDER BY action`
      assert.deepStrictEqual(events, [
        { action: "a", request_id: null, details: {}, n: 10_002 },
        { action: "kept", request_id: "r", details: { name: "n" }, n: 1 }
      ])
      assert.deepStrictEqual(yield* sql`SELECT owner_id FROM audit_erasures`, [])
    })
  )
})

layer(testAppLayer())("housekeeping of which one part fails", (it) => {
  it.effect("does the other parts", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'not now';
        END
        $$`
      yield* sql`
        CREATE TRIGGER refuse
        BEFORE DELETE ON sessions
        FOR EACH STATEMENT
        EXECUTE FUNCTION refuse()`
      const old = new Date(testNow - 86_400_000)
      yield* sql`
        INSERT INTO login_throttle (subject, failures, attempts, window_ends_at)
        VALUES ('old', 1, 1, ${old})`
      yield* sql`
        INSERT INTO audit_events (id, action, workspace_id, request_id, details, created_at)
        VALUES (${id(1)}, 'old', ${id(2)}, 'r', '{}', ${old})`
      const left = sql`
        SELECT subject
        FROM login_throttle
        WHERE subject = 'old'
        UNION ALL
        SELECT action
        FROM audit_events
        WHERE action = 'old'`
      // Moving the clock does not affect a sweep that is already running.
      const isDone = Effect.andThen(
        leap("10 minutes"),
        TestClock.withLive(Effect.exit(eventually(left, (rows) => rows.length === 0, 50)))
      )
      const done = yield* Effect.repeat(isDone, { until: Exit.isSuccess, times: 10 })
      assert.isTrue(Exit.isSuccess(done))
    })
  )
})
