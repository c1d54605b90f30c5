import type { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { NotFound, type QuotaExceeded, type RateLimited } from "@scheduling/domain/shared/Errors"
import type { WorkerId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import {
  type CreatedWorker,
  type Worker,
  type WorkerInput,
  type WorkerUpdate
} from "@scheduling/domain/workers/Worker"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Actor,
  AuditLog,
  ChangeLog,
  makeWorkspaceLock,
  Throttle,
  WorkspacesRepo
} from "../accounts/index.ts"
import { Limits, UsageRepo } from "../plans/index.ts"
import { Outbox } from "../events/index.ts"
import {
  bearerKeyHashes,
  hashBearerKey,
  Ids,
  orNotFound,
  Secrets,
  shownPrefixOf
} from "../core/index.ts"
import { pageRequest, toPage, transactionOf } from "../store/index.ts"
import { toWorker, type WorkerRow, WorkersRepo } from "./WorkersRepo.ts"
import { isWellFormed, makeToken } from "./workerToken.ts"

export class Workers extends Context.Service<
  Workers,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<Worker>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId
    ) => Effect.Effect<Worker, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: WorkerInput,
      actor: Actor
    ) => Effect.Effect<CreatedWorker, InvalidToken | NotFound | Forbidden | QuotaExceeded>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId,
      changes: WorkerUpdate,
      actor: Actor
    ) => Effect.Effect<Worker, NotFound>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId,
      actor: Actor
    ) => Effect.Effect<Worker, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId,
      actor: Actor
    ) => Effect.Effect<Worker, NotFound>
    readonly rotate: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId,
      graceSeconds: number,
      actor: Actor
    ) => Effect.Effect<CreatedWorker, InvalidToken | NotFound | Forbidden>
    /** Revokes a leaked token. Does nothing if the token is invalid. */
    readonly revokeLeaked: (
      token: Redacted.Redacted,
      origin: Actor["origin"]
    ) => Effect.Effect<void, RateLimited>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: WorkerId,
      actor: Actor
    ) => Effect.Effect<void, NotFound>
  }
>()("@scheduling/server/workers/Workers") {
  static readonly layer: Layer.Layer<
    Workers,
    never,
    | AuditLog
    | ChangeLog
    | Ids
    | Limits
    | Outbox
    | Secrets
    | SqlClient.SqlClient
    | Throttle
    | UsageRepo
    | WorkersRepo
    | WorkspacesRepo
  > = Layer.effect(
    Workers,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const changeLog = yield* ChangeLog
      const ids = yield* Ids
      const limits = yield* Limits
      const outbox = yield* Outbox
      const repo = yield* WorkersRepo
      const throttle = yield* Throttle
      const usage = yield* UsageRepo
      const lockAs = makeWorkspaceLock(yield* WorkspacesRepo)
      const ring = (yield* Secrets).keys("worker-token")

      const find = (workspaceId: AuthorizedWorkspaceId, id: string) =>
        requireWorker(repo.find(workspaceId, id))

      const findLocked = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: string
      ) {
        if (!(yield* repo.lock(workspaceId, id))) {
          return yield* new NotFound({ resource: "worker" })
        }
        return yield* find(workspaceId, id)
      })

      const record = (
        action: AuditEvent["action"],
        row: WorkerRow,
        actor: Pick<Actor, "origin"> & { readonly user_id: Actor["user_id"] | null },
        details: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, row.workspace_id, {
          actor_id: actor.user_id,
          subject_id: row.id,
          origin: actor.origin,
          details: {
            name: row.name,
            labels: row.labels,
            token_prefix: row.token_prefix,
            ...details
          }
        })

      const issue = Effect.fnUntraced(function* (
        worker_id: string,
        now: Date,
        graceSeconds: number
      ) {
        const token = makeToken()
        yield* repo.insertToken(
          {
            worker_id,
            token_hash: hashBearerKey(ring, token),
            token_prefix: shownPrefixOf(token),
            created_at: now
          },
          new Date(now.getTime() + graceSeconds * 1_000)
        )
        return token
      })

      const setPaused = (paused: boolean) =>
        Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: WorkerId,
          actor: Actor
        ) {
          const before = yield* findLocked(workspaceId, id)
          if ((before.status === "paused") === paused) return toWorker(before)
          const updated_at = yield* DateTime.nowAsDate
          yield* repo.updatePaused({ id, workspace_id: workspaceId, paused, updated_at })
          const action = paused ? "worker.paused" : "worker.resumed"
          yield* record(action, before, actor, { changes: { paused: [!paused, paused] } })
          return toWorker(yield* find(workspaceId, id))
        }, transaction)

      return Workers.of({
        list: Effect.fn("Workers.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, page), page, toWorker)
        }),

        get: Effect.fn("Workers.get")(function* (workspaceId, id) {
          return toWorker(yield* find(workspaceId, id))
        }),

        create: Effect.fn("Workers.create")(function* (workspaceId, { labels = [], name }, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          yield* limits.allowOneMore(workspaceId, "workers")
          const now = yield* DateTime.nowAsDate
          const id = yield* ids.next
          yield* repo.insert({ id, workspace_id: workspaceId, name, labels, created_at: now })
          const token = yield* issue(id, now, 0)
          const row = yield* Effect.orDie(find(workspaceId, id))
          yield* record("worker.created", row, actor)
          return { ...toWorker(row), token }
        }, transaction),

        update: Effect.fn("Workers.update")(function* (workspaceId, id, changes, actor) {
          const before = yield* findLocked(workspaceId, id)
          if (Object.keys(changes).length === 0) return toWorker(before)
          yield* repo.update({ ...before, ...changes, updated_at: yield* DateTime.nowAsDate })
          const row = yield* find(workspaceId, id)
          yield* record("worker.updated", row, actor)
          return toWorker(row)
        }, transaction),

        pause: setPaused(true),

        resume: setPaused(false),

        rotate: Effect.fn("Workers.rotate")(function* (workspaceId, id, graceSeconds, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          yield* findLocked(workspaceId, id)
          const token = yield* issue(id, yield* DateTime.nowAsDate, graceSeconds)
          if (graceSeconds === 0) yield* repo.endSession(workspaceId, id)
          const row = yield* find(workspaceId, id)
          yield* record("worker.rotated", row, actor)
          return { ...toWorker(row), token }
        }, transaction),

        revokeLeaked: Effect.fn("Workers.revokeLeaked")(function* (secret, origin) {
          yield* throttle.count("leaked keys", origin.ip)
          const token = Redacted.value(secret)
          if (!isWellFormed(token)) return
          yield* transaction(
            Effect.gen(function* () {
              const now = yield* DateTime.nowAsDate
              const expired = yield* repo.expireToken(bearerKeyHashes(ring, token), now)
              if (Option.isNone(expired)) return
              const { id, workspace_id } = expired.value
              yield* repo.endSession(workspace_id, id)
              const row = yield* Effect.orDie(find(workspace_id, id))
              yield* record("worker.token_revoked", row, { origin, user_id: null })
            })
          )
        }),

        remove: Effect.fn("Workers.remove")(function* (workspaceId, id, actor) {
          yield* limits.hold(workspaceId)
          const row = yield* findLocked(workspaceId, id)
          yield* repo.endSession(workspaceId, id)
          const monitors = yield* repo.remove(workspaceId, id)
          for (const { name, updated_at, version, ...monitor } of monitors) {
            const fields = { name }
            yield* changeLog.record({
              kind: "monitor",
              workspace_id: workspaceId,
              id: monitor.id,
              details: { kind: "process", worker_id: id },
              before: { version, updated_at, updated_by: null, shown: fields, stored: fields }
            })
          }
          yield* usage.record("monitors", [workspaceId], yield* DateTime.nowAsDate)
          for (const subject_id of [...monitors.map((monitor) => monitor.id), id]) {
            yield* outbox.forget({ workspace_id: workspaceId, subject_id })
          }
          yield* record("worker.deleted", row, actor)
        }, transaction)
      })
    })
  )
}

const requireWorker = orNotFound("worker")
