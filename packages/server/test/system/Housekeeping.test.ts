import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { HousekeepingRepo } from "../../src/system/HousekeepingRepo.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const now = new Date("2026-06-01T12:00:00Z")
const past = new Date("2026-06-01T11:59:59Z")
const future = new Date("2026-06-01T12:00:01Z")
const dayAgo = new Date("2026-05-31T12:00:00Z")

const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`

layer(HousekeepingRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("housekeeping", (it) => {
  it.effect("removes what is over and nothing else", () =>
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
        INSERT INTO idempotent_requests (scope, key, request_hash, created_at)
        VALUES ('s', 'old', '', ${dayAgo}), ('s', 'new', '', ${past})`
      for (const [n, status, at] of [
        [4, "finished", past],
        [5, "cancelled", past],
        [6, "pending", past],
        [7, "finished", future]
      ] as const) {
        yield* sql`
          INSERT INTO tasks (id, workspace_id, kind, status, url, run_at, created_at, updated_at)
          VALUES (${id(n)}, ${id(1)}, 'delayed', ${status}, 'https://example.com', ${at}, ${past}, ${past})`
      }

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
        "throttle s3"
      ])
    })
  )
})
