import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { CallbackSender } from "../../src/notifications/callbacks/CallbackSender.ts"
import { CallbackSenderRepo } from "../../src/notifications/callbacks/CallbackSenderRepo.ts"
import { CallbackSorter } from "../../src/notifications/callbacks/CallbackSorter.ts"
import { outcomeOf } from "../../src/notifications/sending/outcome.ts"
import { Sender } from "../../src/notifications/sending/Sender.ts"
import { SenderRepo } from "../../src/notifications/sending/SenderRepo.ts"
import { Sorter } from "../../src/notifications/sorting/Sorter.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { WorkspacesRepo } from "../../src/accounts/workspaces/WorkspacesRepo.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { insertChannels, insertWorkspaceOf, stepsLayer } from "./support/nodes.ts"

const TestLayer = Layer.mergeAll(stepsLayer(), WorkspacesRepo.layer).pipe(
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

/** Writes after the deletion of the workspace has locked it, and before it goes on. */
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

/** The embedded store has one session, in which nothing waits for anything. */
describe.skipIf(!onPostgres)("While a workspace is deleted, nobody waits for it", () => {
  layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    it.effect("who writes what came of a message", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const repo = yield* SenderRepo
        const workspace_id = authorize(yield* insertWorkspaceOf(77))
        yield* insertChannels(workspace_id, [{ config: { url: "http://127.0.0.1:9" } }], {
          group_seconds: 0
        })
        const at = new Date()
        yield* outbox.announce({
          workspace_id,
          event: "monitor.down",
          subject_id: randomUUID(),
          at,
          data: { name: "db" }
        })
        yield* (yield* Sorter).sort
        const [claimed] = yield* (yield* Sender).claim({ limit: 1, except: [], except_failing: [] })
        assert.isDefined(claimed)
        const update = repo.update(outcomeOf(claimed, delivered, at, 0))
        assert.isTrue(yield* whileDeleted(workspace_id, update))
      })
    )

    it.effect("who writes what came of a call-back", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* CallbackSenderRepo
        const workspace_id = authorize(yield* insertWorkspaceOf(78))
        yield* sql`
          INSERT INTO callback_outbox (workspace_id, task_id, url, event, at, data)
          VALUES (
            ${workspace_id}, ${randomUUID()}, 'http://127.0.0.1:9', 'task.succeeded', now(),
            '{"kind": "cron", "name": "often"}'
          )`
        yield* (yield* CallbackSorter).sort
        const sender = yield* CallbackSender
        const [callback] = yield* sender.claim({ limit: 1, except: [], except_targets: [] })
        assert.isDefined(callback)
        const now = new Date()
        const update = repo.update({
          callback,
          verdict: delivered,
          status: "delivered",
          due_at: now,
          now
        })
        assert.isTrue(yield* whileDeleted(workspace_id, update))
      })
    )
  })
})
