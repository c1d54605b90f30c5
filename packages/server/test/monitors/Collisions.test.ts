import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../../src/access/authorize.ts"
import { IncidentsRepo } from "../../src/incidents/IncidentsRepo.ts"
import { HeartbeatsRepo } from "../../src/monitors/heartbeat/HeartbeatsRepo.ts"
import { MonitorsRepo } from "../../src/monitors/MonitorsRepo.ts"
import { SslMonitorsRepo } from "../../src/monitors/ssl/SslMonitorsRepo.ts"
import { StatusChanges } from "../../src/monitors/StatusChanges.ts"
import { Outbox } from "../../src/outbox/Outbox.ts"
import { Signals } from "../../src/signals/Signals.ts"
import { transactionOf } from "../../src/sql/transaction.ts"
import { WorkspacesRepo } from "../../src/workspaces/WorkspacesRepo.ts"
import { insertWorkspace } from "../runner/support/tasks.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"

const TestLayer = Layer.mergeAll(StatusChanges.layer, WorkspacesRepo.layer).pipe(
  Layer.provideMerge([
    HeartbeatsRepo.layer,
    IncidentsRepo.layer,
    MonitorsRepo.layer,
    Outbox.layer,
    SslMonitorsRepo.layer
  ]),
  Layer.provide(Signals.layer),
  Layer.provideMerge(TestDatabaseLayer)
)

const monitorsOfEach = 60

/** As many of each kind, all of them up. */
const insertMonitors = Effect.fnUntraced(function* (workspace_id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO monitors (
      id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at
    )
    SELECT gen_random_uuid(), ${workspace_id}, kind, 'db', '{}', 'up', now(), now(), now()
    FROM generate_series(1, ${monitorsOfEach}), unnest(ARRAY['heartbeat', 'ssl']) AS kinds (kind)`
  yield* sql`
    INSERT INTO heartbeats (monitor_id, workspace_id, period_seconds, timezone, grace_seconds)
    SELECT id, workspace_id, 60, 'UTC', 60
    FROM monitors
    WHERE workspace_id = ${workspace_id} AND kind = 'heartbeat'`
  yield* sql`
    INSERT INTO ssl_monitors (
      monitor_id, workspace_id, host, port, protocol, warn_days, check_interval_seconds
    )
    SELECT id, workspace_id, 'example.com', 443, 'tls', '{30}', 3600
    FROM monitors
    WHERE workspace_id = ${workspace_id} AND kind = 'ssl'`
  return yield* sql<{ readonly id: string; readonly kind: "heartbeat" | "ssl" }>`
    SELECT id, kind
    FROM monitors
    WHERE workspace_id = ${workspace_id}
    ORDER BY random()`
})

/** The embedded store has one session, in which nothing waits for anything. */
describe.skipIf(!onPostgres)("What monitors hear and see", () => {
  layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    it.effect("never waits in a circle with who deletes their workspace", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const heartbeats = yield* HeartbeatsRepo
        const ssl = yield* SslMonitorsRepo
        const statusChanges = yield* StatusChanges
        const workspaces = yield* WorkspacesRepo
        const transaction = transactionOf(sql)

        for (let round = 0; round < 6; round++) {
          const workspace_id = authorize(yield* insertWorkspace)
          const monitors = yield* insertMonitors(workspace_id)
          const goDown = ({ id, kind }: (typeof monitors)[number]) =>
            transaction(
              Effect.gen(function* () {
                const row = yield* (kind === "ssl" ? ssl : heartbeats).claim(workspace_id, id)
                if (row._tag === "None") return
                const cause = { code: "failed", message: "It failed." } as const
                const change = { monitor_id: id, workspace_id, kind, at: Date.now(), cause }
                yield* statusChanges.record([{ ...change, from: "up", to: "down" }])
              })
            )
          const goingDown = yield* Effect.forkChild(
            Effect.forEach(monitors, goDown, { concurrency: 3, discard: true })
          )
          yield* Effect.sleep("20 millis")
          yield* transaction(workspaces.remove(workspace_id))
          yield* Fiber.join(goingDown)
        }
        const [row] = yield* sql<{ readonly deadlocks: number }>`
          SELECT deadlocks::float8 AS deadlocks
          FROM pg_stat_database
          WHERE datname = current_database()`
        assert.strictEqual(row?.deadlocks, 0)
      })
    )
  })
})
