import type { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { UserId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { AuditEvent, AuditFilters } from "@scheduling/domain/workspaces/AuditEvent"
import type {
  SigningSecret,
  SigningSecretGeneration
} from "@scheduling/domain/workspaces/SigningSecret"
import type { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountEvents } from "../AccountEvents.ts"
import { authorize } from "../access/authorize.ts"
import type { Actor } from "../audit/currentActor.ts"
import { Ids, orNotFound } from "../../core/index.ts"
import { Idempotency, type RequestOrigin } from "../../http/index.ts"
import { LiveChanges, publishAfterCommit, resetChange } from "../../events/index.ts"
import { Limits, UsageRepo } from "../../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { RunQueue, SigningSecrets } from "../../engine/index.ts"
import { AuditLog, toAuditEvent } from "../audit/AuditLog.ts"
import { makeWorkspaceLock } from "./makeWorkspaceLock.ts"
import { toWorkspace, type WorkspaceRow, WorkspacesRepo } from "./WorkspacesRepo.ts"

export class Workspaces extends Context.Service<
  Workspaces,
  {
    readonly list: (userId: UserId, query: PageQuery) => Effect.Effect<Page<Workspace>>
    readonly get: (id: AuthorizedWorkspaceId) => Effect.Effect<Workspace, NotFound>
    readonly create: (
      actor: Actor,
      name: string
    ) => Effect.Effect<Workspace, InvalidToken | QuotaExceeded>
    readonly createFor: (
      userId: UserId,
      name: string,
      origin: RequestOrigin
    ) => Effect.Effect<Workspace>
    readonly rename: (
      actor: Actor,
      id: AuthorizedWorkspaceId,
      name: string | undefined
    ) => Effect.Effect<Workspace, NotFound>
    readonly stop: (
      actor: Actor,
      id: AuthorizedWorkspaceId
    ) => Effect.Effect<Workspace, InvalidToken | NotFound | Forbidden>
    readonly resume: (
      actor: Actor,
      id: AuthorizedWorkspaceId
    ) => Effect.Effect<Workspace, InvalidToken | NotFound | Forbidden>
    readonly remove: (actor: Actor, id: AuthorizedWorkspaceId) => Effect.Effect<void, NotFound>
    readonly removeSolelyOwned: (actor: Actor) => Effect.Effect<void>
    readonly signingSecrets: (
      id: AuthorizedWorkspaceId,
      query: PageQuery & { readonly url: string }
    ) => Effect.Effect<Page<SigningSecret>>
    readonly rotateSigningSecret: (
      actor: Actor,
      id: AuthorizedWorkspaceId
    ) => Effect.Effect<SigningSecretGeneration, InvalidToken | NotFound | Forbidden>
    readonly audit: (
      id: AuthorizedWorkspaceId,
      query: PageQuery & AuditFilters
    ) => Effect.Effect<Page<AuditEvent>>
  }
>()("@scheduling/server/accounts/workspaces/Workspaces") {
  static readonly layer: Layer.Layer<
    Workspaces,
    never,
    | AccountEvents
    | AuditLog
    | Idempotency
    | Ids
    | Limits
    | RunQueue
    | SigningSecrets
    | SqlClient.SqlClient
    | UsageRepo
    | WorkspacesRepo
  > = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const audit = yield* AuditLog
      const events = yield* AccountEvents
      const idempotency = yield* Idempotency
      const ids = yield* Ids
      const limits = yield* Limits
      const publish = publishAfterCommit(sql, yield* LiveChanges)
      const queue = yield* RunQueue
      const repo = yield* WorkspacesRepo
      const lockAs = makeWorkspaceLock(repo)
      const secrets = yield* SigningSecrets
      const usage = yield* UsageRepo

      const createFor = Effect.fn("Workspaces.createFor")(function* (
        userId: UserId,
        name: string,
        origin: RequestOrigin
      ) {
        const row = { id: authorize(yield* ids.next), name, created_at: yield* DateTime.nowAsDate }
        yield* repo.insert(row, userId)
        yield* usage.record("seats", [row.id], row.created_at)
        yield* events.workspaceCreated(authorize(row.id), userId)
        yield* secrets.insert(row.id)
        yield* audit.recordInWorkspace("workspace.created", row.id, {
          actor_id: userId,
          subject_id: row.id,
          origin,
          details: { name }
        })
        return toWorkspace({ ...row, stopped_at: null })
      })

      /** Deletes a deleted workspace's runs and their history, which have no foreign key to it. */
      const afterRemoval = Effect.fnUntraced(function* (actor: Actor, { id }: WorkspaceRow) {
        yield* queue.removeWorkspace(id)
        yield* idempotency.removeOwnedBy(id)
        yield* audit.erase(id)
        yield* audit.recordForAccount("workspace.deleted", actor.user_id, {
          actor_id: actor.user_id,
          subject_id: id,
          origin: actor.origin
        })
      })

      /**
       * Records the change, and publishes a reset. Every task is affected, so subscribers reload
       * their data.
       */
      const afterChange = Effect.fnUntraced(function* (
        action: "workspace.stopped" | "workspace.resumed",
        actor: Actor,
        id: AuthorizedWorkspaceId
      ) {
        yield* audit.recordInWorkspace(action, id, {
          actor_id: actor.user_id,
          subject_id: id,
          origin: actor.origin
        })
        yield* publish([{ workspace_id: id }], () => resetChange)
      })

      return Workspaces.of({
        list: Effect.fn("Workspaces.list")(function* (userId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(userId, page), page, toWorkspace)
        }),

        get: (id) => Effect.map(requireWorkspace(repo.find(id)), toWorkspace),

        createFor,

        create: Effect.fn("Workspaces.create")(function* (actor, name) {
          yield* limits.allowOneMoreWorkspace(actor.user_id)
          return yield* createFor(actor.user_id, name, actor.origin)
        }, transaction),

        rename: Effect.fn("Workspaces.rename")(function* (actor, id, name) {
          if (name === undefined) return toWorkspace(yield* requireWorkspace(repo.find(id)))
          const row = yield* requireWorkspace(repo.updateName(id, name))
          yield* audit.recordInWorkspace("workspace.renamed", id, {
            actor_id: actor.user_id,
            subject_id: id,
            origin: actor.origin,
            details: { name }
          })
          return toWorkspace(row)
        }, transaction),

        stop: Effect.fn("Workspaces.stop")(function* (actor, id) {
          yield* lockAs(id, actor, "admin")
          if (yield* queue.stopWorkspace(id)) yield* afterChange("workspace.stopped", actor, id)
          return toWorkspace(yield* requireWorkspace(repo.find(id)))
        }, transaction),

        resume: Effect.fn("Workspaces.resume")(function* (actor, id) {
          yield* lockAs(id, actor, "admin")
          if (yield* queue.resumeWorkspace(id)) yield* afterChange("workspace.resumed", actor, id)
          return toWorkspace(yield* requireWorkspace(repo.find(id)))
        }, transaction),

        remove: Effect.fn("Workspaces.remove")(function* (actor, id) {
          yield* afterRemoval(actor, yield* requireWorkspace(repo.remove(id)))
        }, transaction),

        removeSolelyOwned: Effect.fn("Workspaces.removeSolelyOwned")(function* (actor) {
          for (const row of yield* repo.removeSolelyOwned(actor.user_id))
            yield* afterRemoval(actor, row)
        }),

        signingSecrets: Effect.fn("Workspaces.signingSecrets")(function* (id, query) {
          const page = pageRequest(query)
          const listed = yield* secrets.list(id, new URL(query.url).origin, page)
          return toPage(listed, page, (secret) => secret)
        }),

        rotateSigningSecret: Effect.fn("Workspaces.rotateSigningSecret")(function* (actor, id) {
          yield* lockAs(id, actor, "admin")
          const secret = yield* secrets.rotate(id)
          yield* audit.recordInWorkspace("signing_secret.rotated", id, {
            actor_id: actor.user_id,
            subject_id: secret.id,
            origin: actor.origin
          })
          return secret
        }, transaction),

        audit: Effect.fn("Workspaces.audit")(function* (id, query) {
          const page = pageRequest(query)
          return toPage(yield* audit.list(id, query, page), page, toAuditEvent)
        })
      })
    })
  )
}

const requireWorkspace = orNotFound("workspace")
