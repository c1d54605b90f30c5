import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { decideAfterAttempt } from "../../src/notifications/sending/decideAfterAttempt.ts"
import { DeliveriesRepo } from "../../src/notifications/sending/DeliveriesRepo.ts"
import { alertLimits, callbackLimits, Sender } from "../../src/notifications/sending/Sender.ts"
import { WorkspacesRepo } from "../../src/accounts/workspaces/WorkspacesRepo.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { insertChannels, insertWorkspaceOf, steppedNotifierLayer } from "./support/nodes.ts"
import { runData } from "./support/events.ts"

const TestLayer = Layer.mergeAll(steppedNotifierLayer(), WorkspacesRepo.layer).pipe(
  Layer.provideMerge(TestDatabaseLayer)
)

const delivered = {
  outcome: "delivered",
  status_code: 200,
  response: null,
  error: null,
  after_seconds: null,
  gone: false
} as const

const refused = { ...delivered, outcome: "again", status_code: 500, error: "no" } as const

let share = 7_000

/** Runs a write while the deletion of the workspace is paused and holds the workspace's lock. */
const whileDeleted = <A, E, R>(
  workspace_id: AuthorizedWorkspaceId,
  write: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const workspaces = yield* WorkspacesRepo
    const isLocked = yield* Deferred.make<void>()
    const mayGoOn = yield* Deferred.make<void>()
    const goes = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspace_id}
            FOR UPDATE`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(mayGoOn)
          yield* workspaces.remove(workspace_id)
        })
      )
    )
    yield* Deferred.await(isLocked)
    const written = yield* Effect.timeout(sql.withTransaction(write), "5 seconds")
    yield* Deferred.succeed(mayGoOn, undefined)
    yield* Fiber.join(goes)
    return written
  })

/** The embedded store has only one session, so nothing can deadlock. */
describe.skipIf(!onPostgres)("While a workspace is deleted, nobody waits for it", () => {
  layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    it.effect.each([
      { name: "a message", queue: alertLimits, result: delivered },
      { name: "a message that is sent again", queue: alertLimits, result: refused },
      { name: "a callback", queue: callbackLimits, result: delivered }
    ])("who records an attempt of $name", ({ queue, result }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* DeliveriesRepo
        const workspace_id = authorize(yield* insertWorkspaceOf(++share))
        const url = "http://127.0.0.1:9"
        yield* insertChannels(workspace_id, [{ config: { url } }], { group_seconds: 0 })
        const callback_url = queue.callbacks ? url : null
        // There are two subjects, so that there is a second delivery.
        for (const subject_id of [randomUUID(), randomUUID()]) {
          yield* sql`
            INSERT INTO outbox (workspace_id, event, subject_id, at, data, callback_url)
            VALUES (
              ${workspace_id}, 'execution.failed', ${subject_id}, now(),
              ${JSON.stringify({ name: "often", run: runData() })}::jsonb, ${callback_url}
            )`
        }
        yield* (yield* Router).route
        const [claimed] = yield* (yield* Sender).claim(queue, [])
        assert.isDefined(claimed)
        const record = repo.record(claimed, decideAfterAttempt(claimed, result, new Date(), 0))
        assert.isTrue(yield* whileDeleted(workspace_id, record))
      })
    )
  })
})
