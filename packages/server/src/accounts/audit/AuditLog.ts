import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  actionsOf,
  type AuditEvent,
  type AuditFilters
} from "@scheduling/domain/workspaces/AuditEvent"
import { AuditEventId, type UserId } from "@scheduling/domain/shared/Ids"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Ids, Secrets, Waker } from "../../core/index.ts"
import { firstIdAt } from "../../engine/index.ts"
import { type PageRequest, timestampOf } from "../../store/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { attest, hashDetails, writtenEvent } from "./chainHashes.ts"

export type AccountAction =
  | "account.registered"
  | "account.updated"
  | "account.deleted"
  | "account.disabled"
  | "account.enabled"
  | "email.link_requested"
  | "email.verified"
  | "password.changed"
  | "password.reset"
  | "password.reset_requested"
  | "totp.started"
  | "totp.enabled"
  | "totp.disabled"
  | "session.started"
  | "session.ended"
  | "session.reuse_detected"
  | "workspace.deleted"

interface Subject {
  readonly actor_id: UserId | null
  readonly target_id?: string
  readonly origin: RequestOrigin
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * An append-only log. Call it in the transaction of the change, so that the change and its event
 * are both written, or neither.
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly recordInWorkspace: (
      action: AuditEvent["action"],
      workspaceId: AuthorizedWorkspaceId,
      subject: Subject
    ) => Effect.Effect<void>
    readonly recordForAccount: (
      action: AccountAction,
      userId: string,
      subject: Subject
    ) => Effect.Effect<void>
    /**
     * Erases all text of the events of a deleted workspace or account. Their actions and ids stay.
     */
    readonly erase: (ownerId: string) => Effect.Effect<void>
    /** Wakes when this node has recorded an event. */
    readonly recorded: Waker
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: AuditFilters,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<AuditRow>>
  }
>()("@scheduling/server/accounts/audit/AuditLog") {
  static readonly layer: Layer.Layer<AuditLog, never, SqlClient.SqlClient | Ids | Secrets> =
    Layer.effect(
      AuditLog,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ids = yield* Ids
        const ring = (yield* Secrets).keys("audit-chain")
        const recorded = new Waker()

        const insert = Effect.fn("AuditLog.record")(function* (
          action: string,
          owner: { readonly workspace_id: string | null; readonly user_id: string | null },
          { actor_id, details = {}, origin, target_id }: Subject
        ) {
          const { ip, request_id } = origin
          const json = JSON.stringify({ ...details, ...(yield* namedActor) })
          const details_salt = randomBytes(16).toString("base64url")
          const event = {
            id: yield* ids.next,
            action,
            ...owner,
            actor_id,
            target_id: target_id ?? null,
            ip,
            details_hash: hashDetails(details_salt, request_id, JSON.parse(json)),
            created_at: yield* DateTime.nowAsDate
          }
          yield* sql`
          INSERT INTO audit_events
            (id, action, workspace_id, user_id, actor_id, target_id, ip, request_id,
             details, details_salt, details_hash, mac, created_at)
          VALUES
            (${event.id}, ${action}, ${owner.workspace_id}, ${owner.user_id}, ${actor_id},
             ${event.target_id}, ${ip}, ${request_id}, ${json}::jsonb, ${details_salt},
             ${event.details_hash}, ${attest(ring, writtenEvent(event))}, ${event.created_at})`
          const written = Effect.logInfo(action).pipe(
            Effect.annotateLogs({
              ...(owner.workspace_id !== null && { workspace_id: owner.workspace_id }),
              ...(owner.user_id !== null && { user_id: owner.user_id }),
              ...(actor_id !== null && { actor_id }),
              ...(target_id !== undefined && { target_id }),
              ip,
              request_id
            }),
            Effect.andThen(Effect.sync(() => recorded.wake()))
          )
          yield* sql.afterCommit(written)
        }, Effect.orDie)

        return AuditLog.of({
          recorded,

          recordInWorkspace: (action, workspace_id, subject) =>
            insert(action, { workspace_id, user_id: null }, subject),
          recordForAccount: (action, user_id, subject) =>
            insert(action, { workspace_id: null, user_id }, subject),

          erase: Effect.fn("AuditLog.erase")(function* (ownerId) {
            yield* sql`
            INSERT INTO audit_erasures (owner_id)
            VALUES (${ownerId})
            ON CONFLICT DO NOTHING`
          }, Effect.orDie),

          list: Effect.fn("AuditLog.list")(function* (workspaceId, filters, page) {
            const { actor_id, from, target_id, to } = filters
            const matchesFilters = sql.and([
              sql`action = ANY (${actionsOf(filters)}::text[])`,
              ...(actor_id === undefined ? [] : [sql`actor_id = ${actor_id}`]),
              ...(target_id === undefined ? [] : [sql`target_id = ${target_id}`]),
              ...(from === undefined ? [] : createdSince(sql, Date.parse(from))),
              ...(to === undefined ? [] : createdBefore(sql, Date.parse(to)))
            ])
            return yield* sql<AuditRow>`
            SELECT id, action, actor_id, target_id, ip, details, hash, previous_hash, created_at
            FROM audit_events
            WHERE workspace_id = ${workspaceId}
              AND ${matchesFilters}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
          }, Effect.orDie)
        })
      })
    )
}

/** The name of the service account that makes the request, if one does. */
const namedActor = Effect.map(Effect.serviceOption(Principal), (found) => {
  const principal = Option.getOrUndefined(found)
  return principal?.kind === "jwt" && principal.service_account !== null
    ? { actor: { kind: "service_account", name: principal.service_account } }
    : {}
})

/**
 * The margin for a range of ids. An id is generated shortly before its event is written, so a range
 * of times is almost a range of ids.
 */
const idMarginMs = 60_000

const createdSince = (sql: SqlClient.SqlClient, ms: number) => [
  sql`id >= ${firstIdAt(Math.max(0, ms - idMarginMs))}`,
  sql`created_at >= ${new Date(ms)}`
]

const createdBefore = (sql: SqlClient.SqlClient, ms: number) => [
  sql`id < ${firstIdAt(Math.max(0, ms + idMarginMs))}`,
  sql`created_at < ${new Date(ms)}`
]

export interface AuditRow {
  readonly id: string
  readonly action: AuditEvent["action"]
  readonly actor_id: UserId | null
  readonly target_id: string | null
  readonly ip: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly hash: string | null
  readonly previous_hash: string | null
  readonly created_at: Date
}

export const toAuditEvent = (row: AuditRow): AuditEvent => ({
  ...row,
  id: AuditEventId.make(row.id),
  created_at: timestampOf(row.created_at)
})
