import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { AuditEventId, type UserId } from "@scheduling/domain/shared/Ids"
import {
  matchingActions,
  type AuditAction,
  type AuditEvent,
  type AuditFilters,
  subjectKindOf
} from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer, type Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Ids, Secrets, Waker } from "../../core/index.ts"
import { firstIdAt } from "../../engine/index.ts"
import { columnsOf, type PageRequest, timestampOf } from "../../store/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import {
  attestedUnlinkedEvent,
  canonicalJson,
  createMac,
  type AuditEventContent,
  hashDetails
} from "./auditChainHashes.ts"
import { findActorById } from "./currentAuthor.ts"

export type AccountAction =
  | "account.registered"
  | "account.updated"
  | "account.deleted"
  | "account.disabled"
  | "account.enabled"
  | "email.link_requested"
  | "email.verified"
  | "identity.linked"
  | "identity.unlinked"
  | "passkey.added"
  | "passkey.renamed"
  | "passkey.removed"
  | "passkey.clone_detected"
  | "password.changed"
  | "password.reset"
  | "password.reset_requested"
  | "totp.started"
  | "totp.enabled"
  | "totp.disabled"
  | "session.started"
  | "session.ended"
  | "session.link_created"
  | "session.reuse_detected"
  | "workspace.deleted"

interface Subject {
  readonly actor_id: UserId | null
  readonly subject_id?: string
  readonly origin: RequestOrigin
  readonly details?: Readonly<Record<string, unknown>>
}

/** An event's content before the event receives its id, its time and its MAC. */
export interface NewAuditEvent {
  readonly action: AuditAction | AccountAction
  readonly workspace_id: AuthorizedWorkspaceId | null
  readonly user_id: string | null
  readonly actor: Actor | null
  readonly subject_id: string | null
  readonly origin: Pick<RequestOrigin, "ip" | "request_id">
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * Writes and reads the append-only audit log. Record each change in the change's own transaction,
 * so that either both the change and its event are written, or neither.
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly recordInWorkspace: (
      action: AuditAction,
      workspaceId: AuthorizedWorkspaceId,
      subject: Subject
    ) => Effect.Effect<void>
    readonly recordForAccount: (
      action: AccountAction,
      userId: string,
      subject: Subject
    ) => Effect.Effect<void>
    readonly record: (event: NewAuditEvent) => Effect.Effect<void>
    /**
     * Records an event in the same statement as the change. `write` is called with the SQL that
     * inserts the event, or with undefined if `collectEvents` will write the event later.
     */
    readonly recordBy: <A, E, R>(
      event: NewAuditEvent,
      write: (insertion: Statement.Fragment | undefined) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /**
     * Collects the events that an effect records, and writes them with one statement when the
     * effect ends, in the same transaction.
     */
    readonly collectEvents: <A, E, R>(changes: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Within `collectEvents`, drops a change's events if this change fails and is rolled back while
     * other changes continue.
     */
    readonly dropEventsOnFailure: <A, E, R>(
      change: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /**
     * Erases all text in a deleted workspace's or account's events. Their actions and ids remain.
     */
    readonly erase: (ownerId: string) => Effect.Effect<void>
    /** Wakes the loop that links events whenever this node has recorded an event. */
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

        const toRow = Effect.fnUntraced(function* (event: NewAuditEvent) {
          const { action, actor, origin, subject_id, user_id, workspace_id } = event
          const details = canonicalJson({ ...event.details, ...(actor && shownIn(event, actor)) })
          const details_salt = randomUUID()
          const { request_id } = origin
          const content: AuditEventContent = {
            id: yield* ids.next,
            action,
            workspace_id,
            user_id,
            actor_id: actor?.id ?? null,
            subject_id,
            ip: origin.ip,
            details_hash: hashDetails(details_salt, request_id, details),
            created_at: yield* DateTime.nowAsDate
          }
          const mac = createMac(ring, attestedUnlinkedEvent(content))
          return { ...content, request_id, details, details_salt, mac }
        })

        /**
         * Usually there is one event. PostgreSQL inserts it a quarter faster from VALUES than from
         * arrays.
         */
        const insertionOf = (rows: ReadonlyArray<NewRow>) => {
          const [row, ...others] = rows
          if (row !== undefined && others.length === 0) {
            return sql`INSERT INTO audit_events ${sql.insert({ ...row })}`
          }
          const column = columnsOf(rows)
          return sql`
            INSERT INTO audit_events (
              id, action, workspace_id, user_id, actor_id, subject_id, ip, request_id,
              details, details_salt, details_hash, mac, created_at
            )
            SELECT
              id, action, workspace_id, user_id, actor_id, subject_id, ip, request_id,
              details::jsonb, details_salt, details_hash, mac, created_at
            FROM unnest(
              ${column("uuid", ({ id }) => id)}, ${column("text", ({ action }) => action)},
              ${column("uuid", ({ workspace_id }) => workspace_id)},
              ${column("uuid", ({ user_id }) => user_id)},
              ${column("uuid", ({ actor_id }) => actor_id)},
              ${column("text", ({ subject_id }) => subject_id)}, ${column("text", ({ ip }) => ip)},
              ${column("text", ({ request_id }) => request_id)},
              ${column("text", ({ details }) => details)},
              ${column("text", ({ details_salt }) => details_salt)},
              ${column("text", ({ details_hash }) => details_hash)},
              ${column("text", ({ mac }) => mac)},
              ${column("timestamptz", ({ created_at }) => created_at)}
            ) AS events (
              id, action, workspace_id, user_id, actor_id, subject_id, ip, request_id,
              details, details_salt, details_hash, mac, created_at
            )`
        }

        const wake = Effect.sync(() => recorded.wake())
        const wakeAfterCommit = Effect.orDie(sql.afterCommit(wake))

        const write = (rows: ReadonlyArray<NewRow>) =>
          rows.length === 0
            ? Effect.void
            : Effect.andThen(Effect.orDie(insertionOf(rows)), wakeAfterCommit)

        const record = Effect.fn("AuditLog.record")(function* (event: NewAuditEvent) {
          const row = yield* toRow(event)
          const later = yield* CollectedEvents
          if (later === undefined) return yield* write([row])
          later.push(row)
        })

        /** Records an event, and writes it to the process log as well. */
        const announce = Effect.fnUntraced(function* (event: NewAuditEvent) {
          yield* record(event)
          const { action, actor, origin, subject_id, user_id, workspace_id } = event
          yield* sql.afterCommit(
            Effect.annotateLogs(Effect.logInfo(action), {
              ...(workspace_id !== null && { workspace_id }),
              ...(user_id !== null && { user_id }),
              ...(actor !== null && actor.id !== null && { actor_id: actor.id }),
              ...(subject_id !== null && { subject_id }),
              ...origin
            })
          )
        }, Effect.orDie)

        const announced = Effect.fnUntraced(function* (
          action: NewAuditEvent["action"],
          owner: Pick<NewAuditEvent, "workspace_id" | "user_id">,
          { actor_id, details = {}, origin: { ip, request_id }, subject_id }: Subject
        ) {
          const actor = yield* findActorById(actor_id)
          const origin = { ip, request_id }
          const event = { action, ...owner, actor, origin, details }
          yield* announce({ ...event, subject_id: subject_id ?? null })
        })

        return AuditLog.of({
          recorded,

          recordInWorkspace: (action, workspace_id, subject) =>
            announced(action, { workspace_id, user_id: null }, subject),
          recordForAccount: (action, user_id, subject) =>
            announced(action, { workspace_id: null, user_id }, subject),
          record,

          recordBy: (event, writeWith) =>
            Effect.gen(function* () {
              const row = yield* toRow(event)
              const later = yield* CollectedEvents
              const written = yield* writeWith(later === undefined ? insertionOf([row]) : undefined)
              if (later === undefined) yield* wakeAfterCommit
              else later.push(row)
              return written
            }),

          collectEvents: (changes) =>
            Effect.gen(function* () {
              const outer = yield* CollectedEvents
              const rows: Array<NewRow> = []
              const result = yield* Effect.provideService(changes, CollectedEvents, rows)
              if (outer === undefined) yield* write(rows)
              else outer.push(...rows)
              return result
            }),

          dropEventsOnFailure: (change) =>
            Effect.flatMap(CollectedEvents, (later) => {
              const kept = later?.length ?? 0
              const forget = Effect.sync(() => later?.splice(kept))
              return Effect.tapError(change, () => forget)
            }),

          erase: Effect.fn("AuditLog.erase")(function* (ownerId) {
            yield* sql`
            INSERT INTO audit_erasures (owner_id)
            VALUES (${ownerId})
            ON CONFLICT DO NOTHING`
          }, Effect.orDie),

          list: Effect.fn("AuditLog.list")(function* (workspaceId, filters, page) {
            const { actor_id, from, subject_id, to } = filters
            const actions = matchingActions(filters)
            const columns = sql`
              id, action, actor_id, subject_id, ip, request_id, details, hash, previous_hash,
              created_at`
            const matches = sql.and([
              sql`workspace_id = ${workspaceId}`,
              sql`id < ${page.before}`,
              ...(actor_id === undefined ? [] : [sql`actor_id = ${actor_id}`]),
              ...(subject_id === undefined ? [] : [sql`subject_id = ${subject_id}`]),
              ...(from === undefined ? [] : createdSince(sql, Date.parse(from))),
              ...(to === undefined ? [] : createdBefore(sql, Date.parse(to)))
            ])
            const newest = sql`ORDER BY id DESC LIMIT ${page.limit + 1}`
            if (actor_id !== undefined || subject_id !== undefined) {
              return yield* sql<AuditRow>`
                SELECT ${columns}
                FROM audit_events
                WHERE ${matches}
                  AND action = ANY (${actions}::text[])
                ${newest}`
            }
            // One page per action is read from that action's index, and the pages are merged into
            // one, so that a rare action is found quickly among millions of events. The condition
            // on the action is a range, because with `=` the planner would read all events in the
            // order of their ids, which takes seconds.
            return yield* sql<AuditRow>`
              SELECT ${columns}
              FROM unnest(${actions}::text[]) AS asked (asked_action)
              CROSS JOIN LATERAL (
                SELECT ${columns}
                FROM audit_events
                WHERE ${matches}
                  AND action >= asked_action
                  AND action <= asked_action
                ORDER BY action, id DESC
                LIMIT ${page.limit + 1}
              ) AS events
              ${newest}`
          }, Effect.orDie)
        })
      })
    )
}

/**
 * The events that `collectEvents` has collected. Undefined outside `collectEvents`, where each
 * event is written immediately.
 */
const CollectedEvents = Context.Reference<Array<NewRow> | undefined>(
  "@scheduling/server/accounts/audit/AuditLog/CollectedEvents",
  { defaultValue: () => undefined }
)

interface NewRow extends AuditEventContent {
  readonly request_id: string | null
  readonly details: string
  readonly details_salt: string
  readonly mac: string
}

/** Returns the details that describe the actor. They are empty for a user whose id is enough. */
const shownIn = ({ workspace_id }: NewAuditEvent, { kind, name }: Actor) =>
  kind === "user" && (name === null || workspace_id === null) ? {} : { actor: { kind, name } }

/**
 * The margin for a range of ids. An event's id is generated shortly before the event is written, so
 * a range of ids matches a range of times only approximately.
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

/** A field's old and new value. It is a tuple without field names, which saves space in the log. */
export type StoredChange = readonly [old: Schema.Json, new: Schema.Json]

export interface AuditRow {
  readonly id: string
  readonly action: AuditAction
  readonly actor_id: string | null
  readonly subject_id: string | null
  readonly ip: string | null
  readonly request_id: string | null
  readonly details: {
    readonly actor?: Omit<Actor, "id">
    readonly changes?: Readonly<Record<string, StoredChange>>
    readonly [name: string]: unknown
  }
  readonly hash: string | null
  readonly previous_hash: string | null
  readonly created_at: Date
}

/** Returns the author of an event. */
export const actorOfEvent = (
  actor: Omit<Actor, "id"> | null | undefined,
  id: string | null
): Actor | null => {
  const known = actor ?? (id === null ? null : { kind: "user" as const, name: null })
  return known && { ...known, id }
}

export const toAuditEvent = (row: AuditRow): AuditEvent => {
  const { actor, changes = {}, ...details } = row.details
  return {
    id: AuditEventId.make(row.id),
    action: row.action,
    subject_kind: subjectKindOf(row.action),
    subject_id: row.subject_id,
    actor: actorOfEvent(actor, row.actor_id),
    request_id: row.request_id,
    ip: row.ip,
    changes: Object.entries(changes).map(([field, [before, after]]) => ({
      field,
      old: before,
      new: after
    })),
    details,
    hash: row.hash,
    previous_hash: row.previous_hash,
    created_at: timestampOf(row.created_at)
  }
}
