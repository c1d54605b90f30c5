import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  DeliveryAttempt,
  DeliveryKind,
  DeliveryStatus,
  NotificationDelivery
} from "@scheduling/domain/notifications/NotificationDelivery"
import {
  NotificationChannelId,
  NotificationDeliveryId,
  SubjectId
} from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import {
  type PageRequest,
  timestampOf,
  timestampOrNull,
  untilFewerThan
} from "../../store/index.ts"
import type { ToldEvent } from "../Message.ts"

export interface DeliveryRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  /** Null for a call-back, which goes to its `target`. */
  readonly channel_id: string | null
  readonly channel_kind: DeliveryKind
  readonly target: string | null
  readonly status: DeliveryStatus
  readonly begun: number
  readonly ended: number
  readonly other: number
  readonly shown: ReadonlyArray<ToldEvent>
  readonly subjects: ReadonlyArray<string>
  readonly incident_key: string | null
  readonly mergeable: boolean
  readonly due_at: Date
  readonly give_up_at: Date
  readonly attempts_count: number
  readonly status_code: number | null
  readonly error: string | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

export interface AttemptRow extends Omit<DeliveryAttempt, "started_at" | "finished_at"> {
  readonly started_at: Date
  readonly finished_at: Date | null
}

export const toDelivery = (row: Omit<DeliveryRow, "subjects">): NotificationDelivery => ({
  id: NotificationDeliveryId.make(row.id),
  channel_id: row.channel_id === null ? null : NotificationChannelId.make(row.channel_id),
  kind: row.channel_kind,
  status: row.status,
  events_count: row.begun + row.ended + row.other,
  events: row.shown.map(({ at, event, name, reason, subject_id }) => ({
    event,
    subject_id: SubjectId.make(subject_id),
    name,
    reason,
    at
  })),
  attempts_count: row.attempts_count,
  status_code: row.status_code,
  error: row.error,
  next_attempt_at: row.finished_at === null ? timestampOf(row.due_at) : null,
  created_at: timestampOf(row.created_at),
  finished_at: timestampOrNull(row.finished_at)
})

export const toAttempt = ({ finished_at, started_at, ...row }: AttemptRow): DeliveryAttempt => ({
  ...row,
  started_at: timestampOf(started_at),
  finished_at: timestampOrNull(finished_at)
})

export interface DeliveryListing {
  readonly channel_id?: string
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
  readonly page: PageRequest
}

export class DeliveriesRepo extends Context.Service<
  DeliveriesRepo,
  {
    /** Its channel, if it has one, must be locked, and looks at it in time. */
    readonly insert: (delivery: DeliveryRow) => Effect.Effect<void>
    readonly insertAttempt: (delivery: DeliveryRow, attempt: AttemptRow) => Effect.Effect<void>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      listing: DeliveryListing
    ) => Effect.Effect<ReadonlyArray<DeliveryRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<DeliveryRow>>
    readonly listAttempts: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<ReadonlyArray<AttemptRow>>
    readonly listTests: (
      workspaceId: AuthorizedWorkspaceId,
      channelId: string,
      since: Date
    ) => Effect.Effect<ReadonlyArray<Date>>
    readonly countWaitingCallbacks: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /** What waits for a channel that is gone or disabled. */
    readonly updateToCancelled: (
      workspaceId: AuthorizedWorkspaceId,
      channelId: string,
      now: Date
    ) => Effect.Effect<void>
    /** Those that tell of nothing and ask whether an address wants to be told. */
    readonly cancelConfirmations: (
      workspaceId: AuthorizedWorkspaceId,
      channelId: string,
      now: Date
    ) => Effect.Effect<void>
    /** Those to channels, and those to call-backs, which are told of every run. */
    readonly removeEnded: (before: Date, callbacksBefore: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/deliveries/DeliveriesRepo") {
  static readonly layer: Layer.Layer<DeliveriesRepo, never, SqlClient.SqlClient> = Layer.effect(
    DeliveriesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(shownColumns.join(", "))

      const removeOlder = (areOfKind: string, before: Date) =>
        untilFewerThan(
          batch,
          sql`
            DELETE FROM notification_deliveries
            WHERE id IN (
              SELECT id
              FROM notification_deliveries
              WHERE finished_at < ${before}
                AND ${sql.literal(areOfKind)}
              ORDER BY finished_at
              LIMIT ${batch}
            )
            RETURNING id`
        )

      return DeliveriesRepo.of({
        insert: Effect.fn("DeliveriesRepo.insert")(function* (delivery) {
          const { shown, subjects, ...row } = delivery
          yield* sql`
            INSERT INTO notification_deliveries
            ${sql.insert({ ...row, shown: JSON.stringify(shown), subjects: `{${subjects.join(",")}}` })}`
          if (delivery.finished_at !== null || delivery.channel_id === null) return
          yield* sql`
            UPDATE notification_channels
            SET next_at = least(next_at, ${delivery.due_at})
            WHERE workspace_id = ${delivery.workspace_id}
              AND id = ${delivery.channel_id}
              AND (lease_until IS NULL OR lease_until <= ${delivery.created_at})`
        }, Effect.orDie),

        insertAttempt: Effect.fn("DeliveriesRepo.insertAttempt")(function* (delivery, attempt) {
          yield* sql`
            INSERT INTO notification_attempts
            ${sql.insert({ delivery_id: delivery.id, ...attempt })}`
        }, Effect.orDie),

        list: Effect.fn("DeliveriesRepo.list")(function* (workspaceId, listing) {
          const { channel_id, kind, page, status } = listing
          return yield* sql<DeliveryRow>`
            SELECT ${columns}
            FROM notification_deliveries
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
              ${channel_id === undefined ? sql`` : sql`AND channel_id = ${channel_id}`}
              ${kind === undefined ? sql`` : sql`AND channel_kind = ${kind}`}
              ${kind === "callback" ? sql`AND channel_id IS NULL` : sql``}
              ${status === undefined ? sql`` : sql`AND status = ${status}`}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        find: Effect.fn("DeliveriesRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<DeliveryRow>`
            SELECT ${columns}, subjects
            FROM notification_deliveries
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        listAttempts: Effect.fn("DeliveriesRepo.listAttempts")(function* (workspaceId, id) {
          return yield* sql<AttemptRow>`
            SELECT number, started_at, attempts.finished_at, attempts.status_code,
              response_body, attempts.error
            FROM notification_attempts AS attempts
            JOIN notification_deliveries AS deliveries ON deliveries.id = attempts.delivery_id
            WHERE deliveries.workspace_id = ${workspaceId}
              AND deliveries.id = ${id}
            ORDER BY number`
        }, Effect.orDie),

        listTests: Effect.fn("DeliveriesRepo.listTests")(function* (workspaceId, channelId, since) {
          const rows = yield* sql<Pick<DeliveryRow, "created_at">>`
            SELECT created_at
            FROM notification_deliveries
            WHERE workspace_id = ${workspaceId}
              AND channel_id = ${channelId}
              AND created_at > ${since}
              AND shown -> 0 ->> 'event' = 'test'
            ORDER BY created_at`
          return rows.map(({ created_at }) => created_at)
        }, Effect.orDie),

        countWaitingCallbacks: Effect.fn("DeliveriesRepo.countWaitingCallbacks")(function* (
          workspaceId
        ) {
          const [row] = yield* sql<{ readonly waiting: number }>`
            SELECT count(*)::int AS waiting
            FROM notification_deliveries
            WHERE workspace_id = ${workspaceId}
              AND status IN ('queued', 'sending')
              AND channel_id IS NULL`
          return row?.waiting ?? 0
        }, Effect.orDie),

        updateToCancelled: Effect.fn("DeliveriesRepo.updateToCancelled")(function* (
          workspaceId,
          channelId,
          now
        ) {
          yield* sql`
            UPDATE notification_deliveries
            SET status = 'cancelled', finished_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND channel_id = ${channelId}
              AND status IN ('queued', 'sending')`
        }, Effect.orDie),

        cancelConfirmations: Effect.fn("DeliveriesRepo.cancelConfirmations")(function* (
          workspaceId,
          channelId,
          now
        ) {
          yield* sql`
            UPDATE notification_deliveries
            SET status = 'cancelled', finished_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND channel_id = ${channelId}
              AND status IN ('queued', 'sending')
              AND begun + ended + other = 0`
        }, Effect.orDie),

        removeEnded: Effect.fn("DeliveriesRepo.removeEnded")(function* (before, callbacksBefore) {
          yield* removeOlder(endedKinds.others, before)
          yield* removeOlder(endedKinds.calledBack, callbacksBefore)
        }, Effect.orDie)
      })
    })
  )
}

const batch = 1_000

/** SQL for deliveries that are kept for different times once they have ended, as in their indexes. */
export const endedKinds = {
  calledBack: "channel_id IS NULL AND status = 'delivered'",
  others: "(channel_id IS NOT NULL OR status <> 'delivered')"
}

const shownColumns = [
  "id",
  "workspace_id",
  "channel_id",
  "channel_kind",
  "target",
  "status",
  "begun",
  "ended",
  "other",
  "shown",
  "incident_key",
  "mergeable",
  "due_at",
  "give_up_at",
  "attempts_count",
  "status_code",
  "error",
  "created_at",
  "finished_at"
] satisfies ReadonlyArray<keyof DeliveryRow>
