import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { IncidentsRepo } from "../../src/incidents/IncidentsRepo.ts"
import { AuditLog } from "../../src/accounts/audit/AuditLog.ts"
import { ChangeLog } from "../../src/accounts/audit/ChangeLog.ts"
import { ChannelsRepo } from "../../src/notifications/channels/ChannelsRepo.ts"
import { MemberChannels } from "../../src/notifications/escalations/MemberChannels.ts"
import { SecretsLayer } from "../notifications/support/nodes.ts"
import { MaintenanceRepo } from "../../src/incidents/maintenance/MaintenanceRepo.ts"
import { HeartbeatsRepo } from "../../src/monitoring/heartbeat/HeartbeatsRepo.ts"
import { MonitorEventsRepo } from "../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../src/monitoring/MonitorsRepo.ts"
import { ProcessMonitorsRepo } from "../../src/monitoring/process/ProcessMonitorsRepo.ts"
import { SslMonitorsRepo } from "../../src/monitoring/ssl/SslMonitorsRepo.ts"
import { StatusChanges } from "../../src/monitoring/StatusChanges.ts"
import { SettingsRepo } from "../../src/notifications/settings/SettingsRepo.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { RoutingRepo } from "../../src/notifications/routing/RoutingRepo.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { Ids } from "../../src/core/Ids.ts"
import { Signals } from "../../src/events/Signals.ts"
import { transactionOf } from "../../src/store/transactionOf.ts"
import { WorkersRepo } from "../../src/workers/WorkersRepo.ts"
import { WorkspacesRepo } from "../../src/accounts/workspaces/WorkspacesRepo.ts"
import { insertWorkspace } from "../engine/runner/support/tasks.ts"
import { AppConfig } from "../../src/core/config/Config.ts"
import { Limits } from "../../src/plans/Limits.ts"
import { LimitsRepo } from "../../src/plans/LimitsRepo.ts"
import { UsageRepo } from "../../src/plans/UsageRepo.ts"
import { testConfig } from "../support/TestApp.ts"
import { waitUntilBlocked } from "../support/collide.ts"
import { onPostgres, ownDatabaseLayer } from "../support/TestDatabase.ts"
import { announcementData } from "../notifications/support/events.ts"

const TestLayer = Layer.mergeAll(StatusChanges.layer, Router.layer, WorkspacesRepo.layer).pipe(
  Layer.provide([Limits.layer, MemberChannels.layer]),
  Layer.provide([ChannelsRepo.layer, ChangeLog.layer.pipe(Layer.provide(AuditLog.layer))]),
  Layer.provideMerge([
    HeartbeatsRepo.layer,
    Ids.layer,
    LimitsRepo.layer,
    MonitorEventsRepo.layer,
    MonitorsRepo.layer,
    Outbox.layer,
    ProcessMonitorsRepo.layer,
    SettingsRepo.layer,
    RoutingRepo.layer.pipe(Layer.provideMerge(IncidentsRepo.layer)),
    MaintenanceRepo.layer,
    SslMonitorsRepo.layer,
    UsageRepo.layer,
    WorkersRepo.layer
  ]),
  Layer.provide([Signals.layer, Layer.succeed(AppConfig, testConfig), SecretsLayer]),
  Layer.provideMerge(ownDatabaseLayer)
)

const monitorsPerKind = 60

type Kind = "heartbeat" | "ssl" | "process"

/** Inserts 60 monitors of each kind, with the status `up`. One worker watches all processes. */
const insertMonitors = Effect.fnUntraced(function* (workspace_id: string) {
  const sql = yield* SqlClient.SqlClient
  const worker_id = randomUUID()
  yield* sql`
    INSERT INTO workers (id, workspace_id, name, labels, created_at, updated_at)
    VALUES (${worker_id}, ${workspace_id}, 'db', '{}', now(), now())`
  yield* sql`
    INSERT INTO monitors (
      id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at
    )
    SELECT gen_random_uuid(), ${workspace_id}, kind, 'db', '{}', 'up', now(), now(), now()
    FROM
      generate_series(1, ${monitorsPerKind}),
      unnest(ARRAY['heartbeat', 'ssl', 'process']) AS kinds (kind)`
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
  yield* sql`
    INSERT INTO process_monitors (
      monitor_id, workspace_id, worker_id, judge, match, min_count, interval_seconds,
      grace_seconds, since
    )
    SELECT id, workspace_id, ${worker_id}, 'each', '{}', 1, 30, 60, now()
    FROM monitors
    WHERE workspace_id = ${workspace_id} AND kind = 'process'`
  const monitors = yield* sql<{ readonly id: string; readonly kind: Kind }>`
    SELECT id, kind
    FROM monitors
    WHERE workspace_id = ${workspace_id}
    ORDER BY random()`
  return { monitors, worker_id }
})

/** Locks a monitor of any kind. Returns false if it was deleted. */
const lockAny = Effect.gen(function* () {
  const heartbeats = yield* HeartbeatsRepo
  const ssl = yield* SslMonitorsRepo
  const processes = yield* ProcessMonitorsRepo
  return (workspaceId: AuthorizedWorkspaceId, id: string, kind: Kind): Effect.Effect<boolean> => {
    if (kind === "heartbeat")
      return Effect.map(heartbeats.findForUpdate(workspaceId, id), Option.isSome)
    if (kind === "ssl") return Effect.map(ssl.findForUpdate(workspaceId, id), Option.isSome)
    return Effect.map(processes.findForUpdate(workspaceId, id), Option.isSome)
  }
})

/** The embedded store has only one session, so nothing can deadlock. */
describe.skipIf(!onPostgres)("A status change of a monitor", () => {
  layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    it.effect("does not deadlock with the deletion of its monitor, worker or workspace", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const lock = yield* lockAny
        const monitorsRepo = yield* MonitorsRepo
        const outbox = yield* Outbox
        const router = yield* Router
        const statusChanges = yield* StatusChanges
        const workers = yield* WorkersRepo
        const workspaces = yield* WorkspacesRepo
        const transaction = transactionOf(sql)

        for (let round = 0; round < 6; round++) {
          const workspace_id = authorize(yield* insertWorkspace)
          const { monitors, worker_id } = yield* insertMonitors(workspace_id)
          const goDown = ({ id, kind }: (typeof monitors)[number]) =>
            transaction(
              Effect.gen(function* () {
                if (!(yield* lock(workspace_id, id, kind))) return
                const cause = { code: "failed", message: "It failed." } as const
                const change = { monitor_id: id, workspace_id, kind, at: Date.now(), cause }
                yield* statusChanges.record([{ ...change, from: "up", to: "down" }])
              })
            )
          const remove = ({ id, kind }: (typeof monitors)[number]) =>
            transaction(
              Effect.gen(function* () {
                if (!(yield* lock(workspace_id, id, kind))) return
                yield* monitorsRepo.remove(workspace_id, id)
                yield* outbox.forget({ workspace_id, subject_id: id })
              })
            )
          const others = yield* Effect.forkChild(
            Effect.all(
              [
                Effect.forEach(monitors, goDown, { concurrency: 2, discard: true }),
                Effect.forEach(monitors.toReversed(), remove, { discard: true }),
                Effect.replicateEffect(router.route, 20, { discard: true }),
                transaction(
                  Effect.andThen(
                    workers.lock(workspace_id, worker_id),
                    workers.remove(workspace_id, worker_id)
                  )
                )
              ],
              { concurrency: "unbounded", discard: true }
            )
          )
          yield* Effect.sleep("20 millis")
          yield* transaction(workspaces.remove(workspace_id))
          yield* Fiber.join(others)
        }
        const [row] = yield* sql<{ readonly deadlocks: number }>`
          SELECT deadlocks::float8 AS deadlocks
          FROM pg_stat_database
          WHERE datname = current_database()`
        assert.strictEqual(row?.deadlocks, 0)
      })
    )

    it.effect("is routed without a deadlock while its monitor and its workspace are deleted", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const lock = yield* lockAny
        const monitorsRepo = yield* MonitorsRepo
        const outbox = yield* Outbox
        const router = yield* Router
        const workspaces = yield* WorkspacesRepo

        const workspace_id = authorize(yield* insertWorkspace)
        const { monitors } = yield* insertMonitors(workspace_id)
        const [{ id = "", kind = "ssl" } = {}] = monitors
        yield* outbox.announce({
          workspace_id,
          event: "incident.opened",
          subject_id: id,
          at: new Date(),
          data: announcementData("incident.opened", id)
        })
        const isLocked = yield* Deferred.make<void>()
        const canContinue = yield* Deferred.make<void>()
        // `sql.withTransaction` does not retry, so a deadlock would fail the test.
        const monitorRemoval = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              assert.isTrue(yield* lock(workspace_id, id, kind))
              yield* Deferred.succeed(isLocked, undefined)
              yield* Deferred.await(canContinue)
              yield* monitorsRepo.remove(workspace_id, id)
              yield* outbox.forget({ workspace_id, subject_id: id })
            })
          )
        )
        yield* Deferred.await(isLocked)
        const workspaceRemoval = yield* Effect.forkChild(
          sql.withTransaction(workspaces.remove(workspace_id))
        )
        yield* waitUntilBlocked(1)
        const routing = yield* Effect.forkChild(sql.withTransaction(router.route))
        yield* waitUntilBlocked(2)
        yield* Deferred.succeed(canContinue, undefined)
        yield* Fiber.join(monitorRemoval)
        yield* Fiber.join(workspaceRemoval)
        yield* Fiber.join(routing)
      })
    )
  })
})
