import type { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { accessTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { includesRole } from "@scheduling/domain/members/Role"
import type {
  CreatedServiceAccount,
  ServiceAccount,
  ServiceAccountInput,
  ServiceAccountUpdate
} from "@scheduling/domain/service-accounts/ServiceAccount"
import type { NotFound, QuotaExceeded, RateLimited } from "@scheduling/domain/shared/Errors"
import { ServiceAccountId, SessionId, UserId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, Data, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  bearerKeyHashes,
  hashBearerKey,
  Ids,
  orNotFound,
  Secrets,
  shownPrefixOf
} from "../../core/index.ts"
import { EndSignals } from "../../events/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { Limits, UsageRepo } from "../../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import { InvitationsRepo } from "../members/InvitationsRepo.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Tokens } from "../sessions/Tokens.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { makeWorkspaceLock } from "../workspaces/makeWorkspaceLock.ts"
import { WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"
import { makeClientSecret } from "./ClientSecret.ts"
import {
  type ServiceAccountRow,
  ServiceAccountsRepo,
  toServiceAccount
} from "./ServiceAccountsRepo.ts"

/** The client id is unknown, or the client secret is wrong or has been replaced. */
export class InvalidClient extends Data.TaggedError("InvalidClient") {}

export interface IssuedToken {
  readonly access_token: Redacted.Redacted
  readonly expires_in: number
}

export class ServiceAccounts extends Context.Service<
  ServiceAccounts,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<ServiceAccount>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: ServiceAccountId
    ) => Effect.Effect<ServiceAccount, NotFound>
    /** Returns the service account of an access token, and the account's workspace. */
    readonly ofToken: (id: UserId) => Effect.Effect<
      {
        readonly service_account: ServiceAccount
        readonly workspace_id: AuthorizedWorkspaceId
      },
      NotFound
    >
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: ServiceAccountInput,
      actor: Actor
    ) => Effect.Effect<CreatedServiceAccount, InvalidToken | NotFound | Forbidden | QuotaExceeded>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: ServiceAccountId,
      change: ServiceAccountUpdate,
      actor: Actor
    ) => Effect.Effect<ServiceAccount, InvalidToken | NotFound | Forbidden>
    readonly rotate: (
      workspaceId: AuthorizedWorkspaceId,
      id: ServiceAccountId,
      graceSeconds: number,
      actor: Actor
    ) => Effect.Effect<CreatedServiceAccount, InvalidToken | NotFound | Forbidden>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: ServiceAccountId,
      actor: Actor
    ) => Effect.Effect<void, InvalidToken | NotFound | Forbidden>
    readonly issueToken: (
      client: { readonly id: string; readonly secret: Redacted.Redacted },
      origin: RequestOrigin
    ) => Effect.Effect<IssuedToken, InvalidClient | RateLimited>
  }
>()("@scheduling/server/accounts/service-accounts/ServiceAccounts") {
  static readonly layer: Layer.Layer<
    ServiceAccounts,
    never,
    | AuditLog
    | EndSignals
    | Ids
    | InvitationsRepo
    | Limits
    | Secrets
    | ServiceAccountsRepo
    | SessionsRepo
    | SqlClient.SqlClient
    | Throttle
    | Tokens
    | UsageRepo
    | WorkspacesRepo
  > = Layer.effect(
    ServiceAccounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const audit = yield* AuditLog
      const endSignals = yield* EndSignals
      const ids = yield* Ids
      const invitations = yield* InvitationsRepo
      const limits = yield* Limits
      const repo = yield* ServiceAccountsRepo
      const ring = (yield* Secrets).keys("client-secret")
      const sessions = yield* SessionsRepo
      const throttle = yield* Throttle
      const tokens = yield* Tokens
      const usage = yield* UsageRepo
      const lockAs = makeWorkspaceLock(yield* WorkspacesRepo)

      const record = (
        action: AuditEvent["action"],
        { id, name, role, workspace_id }: ServiceAccountRow,
        { origin, user_id }: Actor,
        details: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, workspace_id, {
          actor_id: user_id,
          subject_id: id,
          origin,
          details: { name, role, ...details }
        })

      /**
       * Ends a service account's live streams. This signal is not needed for requests: new ones are
       * rejected anyway.
       */
      const endStreams = (id: string) => sql.afterCommit(Effect.sync(() => endSignals.send([id])))

      const makeSecret = () => {
        const secret = makeClientSecret()
        return {
          secret,
          hashed: { secret_hash: hashBearerKey(ring, secret), secret_prefix: shownPrefixOf(secret) }
        }
      }

      const withSecret = (
        row: ServiceAccountRow,
        client_secret: Redacted.Redacted,
        now: Date
      ): CreatedServiceAccount => ({
        ...toServiceAccount(row, now),
        client_id: ServiceAccountId.make(row.id),
        client_secret
      })

      /**
       * Starts a session that ends when the secret expires. The secrets are locked, so that no
       * token outlives a concurrent rotation or removal.
       */
      const startSession = Effect.fnUntraced(function* (
        id: string,
        secret: Redacted.Redacted,
        origin: RequestOrigin
      ) {
        const row = Option.getOrUndefined(yield* repo.findSecretsForUpdate(id))
        const now = yield* DateTime.nowAsDate
        const hashes = bearerKeyHashes(ring, Redacted.value(secret))
        const isCurrent = row !== undefined && hashes.includes(row.secret_hash)
        const endsAt = isCurrent ? Infinity : (row?.old_secret_expires_at?.getTime() ?? 0)
        const isOld = row?.old_secret_hash != null && hashes.includes(row.old_secret_hash)
        if (row === undefined || !(isCurrent || isOld) || endsAt <= now.getTime()) {
          return yield* new InvalidClient()
        }
        const [newest = row.secret_hash] = hashes
        if (isCurrent && row.secret_hash !== newest) {
          yield* repo.updateSecrets({ ...row, secret_hash: newest })
        }
        const session = {
          id: SessionId.make(yield* ids.next),
          user_id: UserId.make(row.id),
          user_agent: origin.user_agent,
          ip: origin.ip,
          expires_at: new Date(Math.min(now.getTime() + accessTokenSeconds * 1000, endsAt)),
          created_at: now
        }
        yield* repo.insertToken(session)
        yield* audit.recordForAccount("session.started", row.id, {
          actor_id: session.user_id,
          subject_id: session.id,
          origin
        })
        return session
      }, transaction)

      return ServiceAccounts.of({
        list: Effect.fn("ServiceAccounts.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          const rows = yield* repo.list(workspaceId, page)
          return toPage(rows, page, (row) => toServiceAccount(row, now))
        }),

        get: Effect.fn("ServiceAccounts.get")(function* (workspaceId, id) {
          return toServiceAccount(
            yield* requireServiceAccount(repo.find(workspaceId, id)),
            yield* DateTime.nowAsDate
          )
        }),

        ofToken: Effect.fn("ServiceAccounts.ofToken")(function* (id) {
          const row = yield* requireServiceAccount(repo.findOfToken(id))
          return {
            workspace_id: row.workspace_id,
            service_account: toServiceAccount(row, yield* DateTime.nowAsDate)
          }
        }),

        create: Effect.fn("ServiceAccounts.create")(function* (workspace_id, input, actor) {
          yield* lockAs(workspace_id, actor, "admin")
          yield* limits.allowOneMore(workspace_id, "members")
          const now = yield* DateTime.nowAsDate
          const { hashed, secret } = makeSecret()
          const row: ServiceAccountRow = {
            id: yield* ids.next,
            workspace_id,
            ...input,
            ...hashed,
            old_secret_hash: null,
            old_secret_expires_at: null,
            last_used_at: null,
            created_by: actor.user_id,
            created_at: now
          }
          yield* repo.insert(row)
          yield* usage.record("seats", [workspace_id], now)
          yield* record("service_account.created", row, actor)
          return withSecret(row, secret, now)
        }, transaction),

        update: Effect.fn("ServiceAccounts.update")(function* (workspaceId, id, change, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          const old = yield* requireServiceAccount(repo.find(workspaceId, id))
          const row = { ...old, ...change }
          const now = yield* DateTime.nowAsDate
          if (row.name === old.name && row.role === old.role) return toServiceAccount(row, now)
          yield* repo.update(row)
          // If the new role is lower, deletes the invitations that the service account has sent,
          // because they can grant a higher role.
          if (!includesRole(row.role, old.role)) {
            yield* invitations.removeCreatedBy(workspaceId, id)
          }
          yield* record("service_account.updated", row, actor, {
            was: { name: old.name, role: old.role }
          })
          return toServiceAccount(row, now)
        }, transaction),

        rotate: Effect.fn("ServiceAccounts.rotate")(function* (
          workspaceId,
          id,
          graceSeconds,
          actor
        ) {
          yield* lockAs(workspaceId, actor, "admin")
          const old = yield* requireServiceAccount(repo.find(workspaceId, id))
          yield* repo.findSecretsForUpdate(id)
          const now = yield* DateTime.nowAsDate
          const graceEnds = new Date(now.getTime() + graceSeconds * 1000)
          const { hashed, secret } = makeSecret()
          const row: ServiceAccountRow = {
            ...old,
            ...hashed,
            old_secret_hash: graceSeconds === 0 ? null : old.secret_hash,
            old_secret_expires_at: graceSeconds === 0 ? null : graceEnds
          }
          yield* repo.updateSecrets(row)
          if (graceSeconds === 0) {
            yield* sessions.removeAll(id)
            yield* endStreams(id)
          } else yield* repo.updateTokensExpiry(id, graceEnds)
          yield* record("service_account.rotated", row, actor, { grace_seconds: graceSeconds })
          return withSecret(row, secret, now)
        }, transaction),

        remove: Effect.fn("ServiceAccounts.remove")(function* (workspaceId, id, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          const row = yield* requireServiceAccount(repo.find(workspaceId, id))
          yield* repo.remove(workspaceId, id)
          yield* usage.record("seats", [workspaceId], yield* DateTime.nowAsDate)
          yield* endStreams(id)
          yield* record("service_account.deleted", row, actor)
        }, transaction),

        issueToken: Effect.fn("ServiceAccounts.issueToken")(function* ({ id, secret }, origin) {
          const check = isId(id)
            ? startSession(id.toLowerCase(), secret, origin)
            : Effect.fail(new InvalidClient())
          const session = yield* throttle.guard(
            { account: `client:${id.toLowerCase()}`, ip: origin.ip },
            check
          )
          const lifetime = session.expires_at.getTime() - session.created_at.getTime()
          const expires_in = Math.floor(lifetime / 1000)
          const claims = { session_id: session.id, user_id: session.user_id }
          return { access_token: yield* tokens.issueAccess(claims, expires_in), expires_in }
        })
      })
    })
  )
}

const isId = Schema.is(ServiceAccountId)

const requireServiceAccount = orNotFound("service_account")
