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
  repeatUntilFewerThan,
  timestampOf,
  timestampOrNull
} from "../../store/index.ts"
import { firstIdAt } from "../../engine/index.ts"
import type { SealedConfig } from "../channels/ChannelSecrets.ts"
import type { ChannelRow } from "../channels/ChannelsRepo.ts"
import type { MessageEvent } from "../kinds/Message.ts"
import type { AttemptOutcome, AttemptedDelivery } from "./decideAfterAttempt.ts"
import type { NewDelivery } from "./newDelivery.ts"
import { nextDeliverySql, unfinishedDeliverySql } from "./updateNextDeliveries.ts"
import { lastVisitedLane, type LaneWalk, walkLanes } from "./walkLanes.ts"
import { writeDeliveries } from "./writeDeliveries.ts"

export interface DeliveryRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  /** The channel. Null for a callback, which has a `target` instead. */
  readonly channel_id: string | null
  readonly channel_kind: DeliveryKind
  readonly target: string | null
  readonly status: DeliveryStatus
  readonly begun: number
  readonly ended: number
  readonly other: number
  readonly shown: ReadonlyArray<MessageEvent>
  readonly incident_key: string | null
  readonly due_at: Date
  readonly attempts_count: number
  readonly status_code: number | null
  readonly error: string | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

/**
 * A delivery that this node can send until its lease expires, with everything needed to send it.
 */
export interface ClaimedDelivery
  extends
    SealedConfig,
    AttemptedDelivery,
    Pick<
      DeliveryRow,
      | "id"
      | "workspace_id"
      | "channel_id"
      | "target"
      | "begun"
      | "ended"
      | "other"
      | "shown"
      | "incident_key"
      | "created_at"
    > {
  readonly share: number
  readonly workspace_name: string
  readonly channel_name: string | null
}

/** Which deliveries a node claims, and how many. */
export interface DeliveryClaim {
  /** True to claim callbacks, false to claim messages to channels. */
  readonly callbacks: boolean
  readonly now: Date
  readonly lease_until: Date
  /**
   * The shares that have reached their limit on this node. A share is the set of accounts
   * registered from one public IP address.
   */
  readonly except: ReadonlyArray<number>
  /**
   * The shares that have reached their limit of concurrent deliveries to channels that failed
   * recently.
   */
  readonly except_failing: ReadonlyArray<number>
  /** The callback URLs that have reached their limit. */
  readonly except_targets: ReadonlyArray<string>
  /** The maximum number of deliveries per lane (that is, per account), and in total. */
  readonly per_lane: number
  readonly limit: number
  /** The lane that the previous claim reached: a bigint as a string. */
  readonly after_lane: string
}

export interface DeliveryAttemptRow extends Omit<DeliveryAttempt, "started_at" | "finished_at"> {
  readonly started_at: Date
  readonly finished_at: Date | null
}

/** A page of a list of deliveries, and the filters of the list. */
export interface DeliveryPageRequest {
  readonly channel_id?: string
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
  readonly page: PageRequest
}

export const toDelivery = (row: DeliveryRow): NotificationDelivery => ({
  id: NotificationDeliveryId.make(row.id),
  channel_id: row.channel_id === null ? null : NotificationChannelId.make(row.channel_id),
  kind: row.channel_kind,
  status: row.status,
  events_count: row.begun + row.ended + row.other,
  events: row.shown.map(({ at, event, name, reason, subject_id }) => ({
    type: event,
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

export const toDeliveryAttempt = ({
  finished_at,
  started_at,
  ...row
}: DeliveryAttemptRow): DeliveryAttempt => ({
  ...row,
  started_at: timestampOf(started_at),
  finished_at: timestampOrNull(finished_at)
})

/**
 * Reads and writes deliveries and their attempts. Each delivery has its own lease. While a delivery
 * is being sent, `next_at` is the lease's expiry, and the attempt number is the fencing token.
 */
export class DeliveriesRepo extends Context.Service<DeliveriesRepo>()(
  "@scheduling/server/notifications/sending/DeliveriesRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(shownColumns)

      /** Leases due deliveries, and begins an attempt for each. */
      const claim = Effect.fn("DeliveriesRepo.claim")(function* (options: DeliveryClaim) {
        const { now } = options
        const predicate = `next_at IS NOT NULL AND channel_id IS ${options.callbacks ? "" : "NOT "}NULL`
        const rows = yield* sql<ClaimedDelivery & LaneWalk>`
          WITH RECURSIVE ${walkLanes(sql, predicate, options.after_lane)}, due AS (
            SELECT found.id
            FROM lanes
            CROSS JOIN LATERAL (
              SELECT id
              FROM notification_deliveries AS deliveries
              WHERE ${sql.literal(predicate)}
                AND lane = lanes.lane
                AND next_at <= ${now}
                AND (target IS NULL OR target <> ALL (${options.except_targets}::text[]))
                AND (
                  (lanes.lane >> 32)::integer <> ALL (${options.except_failing}::integer[])
                  OR EXISTS (
                    SELECT
                    FROM notification_channels AS channels
                    WHERE channels.id = deliveries.channel_id
                      AND channels.failures = 0
                  )
                )
              ORDER BY next_at
              LIMIT ${options.per_lane}
              FOR UPDATE SKIP LOCKED
            ) AS found
            WHERE (lanes.lane >> 32)::integer <> ALL (${options.except}::integer[])
            LIMIT ${options.limit}
          ), taken AS (
            UPDATE notification_deliveries
            SET
              status = 'sending',
              mergeable = false,
              attempts_count = attempts_count + 1,
              next_at = ${options.lease_until}
            WHERE id = ANY (ARRAY (SELECT id FROM due))
            RETURNING *, (lane >> 32)::integer AS share
          ), attempts AS (
            INSERT INTO notification_attempts (delivery_id, number, started_at)
            SELECT id, attempts_count, ${now}
            FROM taken
          )
          SELECT
            taken.id, taken.workspace_id, taken.channel_id, taken.channel_kind, taken.target,
            taken.share, taken.begun, taken.ended, taken.other, taken.shown, taken.incident_key,
            taken.attempts_count, taken.give_up_at, taken.created_at,
            coalesce(channels.config, jsonb_build_object('url', taken.target)) AS config,
            coalesce(channels.sealed_secrets, '') AS sealed_secrets,
            channels.name AS channel_name, coalesce(channels.failures, 0) AS failures,
            coalesce(channels.window_ms, 0) AS window_ms, channels.sent_at,
            workspaces.name AS workspace_name,
            (notification_settings.settings ->> 'group_seconds')::int AS group_seconds,
            walked.lane, walked.visited
          FROM walked
          LEFT JOIN taken ON true
          LEFT JOIN notification_channels AS channels ON channels.id = taken.channel_id
          LEFT JOIN workspaces ON workspaces.id = taken.workspace_id
          LEFT JOIN notification_settings
            ON notification_settings.workspace_id = taken.workspace_id`
        return { claimed: rows.filter(({ id }) => id !== null), reached: lastVisitedLane(rows[0]) }
      }, Effect.orDie)

      /** Returns when the next delivery can be claimed. */
      const findNextAt = Effect.fn("DeliveriesRepo.findNextAt")(function* (callbacks: boolean) {
        const [row] = yield* sql<{ readonly next_at: Date | null }>`
          SELECT min(next_at) AS next_at
          FROM notification_deliveries
          WHERE next_at IS NOT NULL
            AND channel_id IS ${sql.literal(callbacks ? "NULL" : "NOT NULL")}`
        return row?.next_at ?? null
      }, Effect.orDie)

      /**
       * Records an attempt, and makes the channel's next delivery claimable. Returns false if the
       * lease was lost. Call it in a transaction.
       */
      const record = Effect.fn("DeliveriesRepo.record")(function* (
        delivery: ClaimedDelivery,
        attempt: AttemptOutcome
      ) {
        const { channel_id } = delivery
        const finished_at = attempt.status === "queued" ? null : attempt.now
        if (channel_id !== null && !(yield* lockChannel(channel_id))) return false
        const next = yield* findNext(delivery, attempt)
        const updated = yield* sql`
          UPDATE notification_deliveries
          SET
            status = ${attempt.status},
            due_at = ${attempt.due_at},
            next_at = ${next?.id === delivery.id ? next.next_at : null},
            status_code = ${attempt.result.status_code},
            error = ${attempt.result.error},
            finished_at = ${finished_at}
          WHERE id = ${delivery.id}
            AND workspace_id = ${delivery.workspace_id}
            AND status = 'sending'
            AND attempts_count = ${delivery.attempts_count}
          RETURNING id`
        yield* updateAttempt(delivery, attempt)
        if (updated.length === 0) return false
        if (attempt.status === "delivered") yield* countDelivered(delivery, attempt.now)
        if (channel_id === null) return true
        if (next !== undefined && next.id !== delivery.id) {
          yield* sql`
            UPDATE notification_deliveries
            SET next_at = ${next.next_at}
            WHERE id = ${next.id}`
        }
        // This is one statement. If a transaction updates a row twice, PostgreSQL checks the row's
        // foreign keys again, which deadlocks with the workspace's deletion.
        yield* sql`
          UPDATE notification_channels
          SET
            last_status = ${attempt.result.outcome},
            last_error = ${attempt.result.error},
            last_at = ${attempt.now},
            held_until = ${attempt.held_until},
            failures = ${attempt.failures},
            window_ms = ${attempt.window_ms},
            sent_at = ${attempt.now},
            config = config || ${JSON.stringify(attempt.result.changes ?? {})}::jsonb
          WHERE id = ${channel_id}`
        return true
      }, Effect.orDie)

      const lockChannel = (id: string) =>
        Effect.map(
          sql`
            SELECT id
            FROM notification_channels
            WHERE id = ${id}
            FOR UPDATE`,
          ({ length }) => length > 0
        )

      /**
       * Returns the delivery that can be claimed after the attempt is recorded. It can be the
       * attempt's own delivery. The query computes the state after the attempt, so that no row is
       * updated twice.
       */
      const findNext = Effect.fnUntraced(function* (
        { channel_id, id }: ClaimedDelivery,
        { due_at, held_until, now, status }: AttemptOutcome
      ) {
        if (channel_id === null) return status === "queued" ? { id, next_at: due_at } : undefined
        const [next] = yield* sql<{ readonly id: string; readonly next_at: Date }>`
          SELECT next.id, next.next_at
          FROM (
            SELECT id, workspace_id, confirmed, ${held_until}::timestamptz AS held_until
            FROM notification_channels
            WHERE id = ${channel_id}
          ) AS channels
          CROSS JOIN LATERAL (
            WITH notification_deliveries AS (
              SELECT
                waiting.id, waiting.workspace_id, waiting.channel_id, waiting.status, waiting.begun,
                waiting.ended, waiting.other, waiting.after, waiting.ordinal,
                CASE
                  WHEN waiting.id = ${id} THEN ${due_at}::timestamptz
                  ELSE waiting.due_at
                END AS due_at
              FROM notification_deliveries AS waiting
              WHERE waiting.channel_id = channels.id
                AND ${sql.literal(unfinishedDeliverySql("waiting"))}
                AND (${status === "queued"}::boolean OR waiting.id <> ${id})
            )
            ${sql.literal(nextDeliverySql)}
          ) AS next
          WHERE NOT EXISTS (
            SELECT
            FROM notification_deliveries AS sent
            WHERE sent.channel_id = ${channel_id}
              AND sent.id <> ${id}
              AND sent.status = 'sending'
              AND sent.next_at > ${now}
          )`
        return next
      })

      const updateAttempt = (
        { attempts_count, id }: Pick<ClaimedDelivery, "id" | "attempts_count">,
        { now, result }: Pick<AttemptOutcome, "now" | "result">
      ) => sql`
        UPDATE notification_attempts
        SET
          finished_at = ${now},
          status_code = ${result.status_code},
          response_body = ${result.response},
          error = ${result.error}
        WHERE delivery_id = ${id}
          AND number = ${attempts_count}`

      const countDelivered = ({ workspace_id }: ClaimedDelivery, now: Date) => sql`
        INSERT INTO usage_days AS used (workspace_id, day, notifications)
        VALUES (${workspace_id}, (${now}::timestamptz AT TIME ZONE 'UTC')::date, 1)
        ON CONFLICT (workspace_id, day) DO UPDATE
        SET notifications = used.notifications + 1`

      const write = (deliveries: ReadonlyArray<NewDelivery>, now: Date) =>
        Effect.orDie(writeDeliveries(sql, deliveries, now))

      /** Writes a finished test message with its only attempt. The channel must be locked. */
      const insertTest = Effect.fn("DeliveriesRepo.insertTest")(function* (
        { id, workspace_id }: ChannelRow,
        delivery: NewDelivery,
        { now, result }: Pick<AttemptOutcome, "now" | "result">
      ) {
        const { begun, channel_id, channel_kind, due_at, ended, mergeable, other } = delivery
        yield* sql`
          INSERT INTO notification_deliveries
          ${sql.insert({
            id: delivery.id,
            workspace_id,
            channel_id,
            channel_kind,
            begun,
            ended,
            other,
            mergeable,
            due_at,
            status: result.outcome === "delivered" ? "delivered" : "failed",
            shown: JSON.stringify(delivery.shown),
            subjects: `{${[...delivery.subjects].join(",")}}`,
            give_up_at: due_at,
            attempts_count: 1,
            status_code: result.status_code,
            error: result.error,
            created_at: due_at,
            finished_at: now
          })}`
        yield* sql`
          INSERT INTO notification_attempts
          ${sql.insert({
            delivery_id: delivery.id,
            number: 1,
            started_at: delivery.due_at,
            finished_at: now,
            status_code: result.status_code,
            response_body: result.response,
            error: result.error
          })}`
        yield* sql`
          UPDATE notification_channels
          SET last_status = ${result.outcome}, last_error = ${result.error}, last_at = ${now}
          WHERE id = ${id}
            AND workspace_id = ${workspace_id}`
      }, Effect.orDie)

      const list = Effect.fn("DeliveriesRepo.list")(function* (
        workspaceId: AuthorizedWorkspaceId,
        { channel_id, kind, page, status }: DeliveryPageRequest
      ) {
        return yield* sql<DeliveryRow>`
          SELECT ${columns}
          FROM notification_deliveries
          WHERE workspace_id = ${workspaceId}
            AND id < ${page.before}
            ${channel_id === undefined ? sql`` : sql`AND channel_id = ${channel_id}`}
            ${kind === undefined ? sql`` : sql`AND channel_kind = ${kind}`}
            ${kind === "callback" ? sql`AND channel_id IS NULL` : sql``}
            ${status === undefined ? sql`` : sql`AND status = ${status}`}
            ${status === undefined || status === "delivered" ? sql`` : sql`AND status <> 'delivered'`}
          ORDER BY id DESC
          LIMIT ${page.limit + 1}`
      }, Effect.orDie)

      const find = Effect.fn("DeliveriesRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: string
      ) {
        const rows = yield* sql<DeliveryRow & { readonly subjects: ReadonlyArray<string> }>`
          SELECT ${columns}, subjects
          FROM notification_deliveries
          WHERE workspace_id = ${workspaceId}
            AND id = ${id}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      const listAttempts = Effect.fn("DeliveriesRepo.listAttempts")(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: string
      ) {
        return yield* sql<DeliveryAttemptRow>`
          SELECT number, started_at, attempts.finished_at, attempts.status_code,
            response_body, attempts.error
          FROM notification_attempts AS attempts
          JOIN notification_deliveries AS deliveries ON deliveries.id = attempts.delivery_id
          WHERE deliveries.workspace_id = ${workspaceId}
            AND deliveries.id = ${id}
          ORDER BY number`
      }, Effect.orDie)

      const listTests = Effect.fn("DeliveriesRepo.listTests")(function* (
        workspaceId: AuthorizedWorkspaceId,
        channelId: string,
        since: Date
      ) {
        const rows = yield* sql<Pick<DeliveryRow, "created_at">>`
          SELECT created_at
          FROM notification_deliveries
          WHERE workspace_id = ${workspaceId}
            AND channel_id = ${channelId}
            AND id >= ${firstIdAt(since.getTime() - clockSlackMs)}
            AND created_at > ${since}
            AND shown -> 0 ->> 'event' = 'test'
          ORDER BY created_at`
        return rows.map(({ created_at }) => created_at)
      }, Effect.orDie)

      /** Counts the deliveries that wait for a channel, or the callbacks that wait if it is null. */
      const countWaiting = Effect.fn("DeliveriesRepo.countWaiting")(function* (
        workspaceId: AuthorizedWorkspaceId,
        channelId: string | null
      ) {
        const [row] = yield* sql<{ readonly waiting: number }>`
          SELECT count(*)::int AS waiting
          FROM notification_deliveries AS deliveries
          WHERE workspace_id = ${workspaceId}
            AND ${sql.literal(unfinishedDeliverySql())}
            AND ${channelId === null ? sql`channel_id IS NULL` : sql`channel_id = ${channelId}`}`
        return row?.waiting ?? 0
      }, Effect.orDie)

      /** Cancels a channel's waiting deliveries, or only its emails that request consent. */
      const cancel = Effect.fn("DeliveriesRepo.cancel")(function* (
        workspaceId: AuthorizedWorkspaceId,
        channelId: string,
        what: "all" | "confirmations",
        now: Date
      ) {
        yield* sql`
          UPDATE notification_deliveries AS deliveries
          SET status = 'cancelled', next_at = NULL, finished_at = ${now}
          WHERE workspace_id = ${workspaceId}
            AND channel_id = ${channelId}
            AND ${sql.literal(unfinishedDeliverySql())}
            AND (${what === "all"}::boolean OR begun + ended + other = 0)`
      }, Effect.orDie)

      const findWorkspaceName = Effect.fn("DeliveriesRepo.findWorkspaceName")(function* (
        id: AuthorizedWorkspaceId
      ) {
        const [row] = yield* sql<{ readonly name: string }>`
          SELECT name
          FROM workspaces
          WHERE id = ${id}`
        return row?.name ?? ""
      }, Effect.orDie)

      const removeOlder = (areOfKind: string, before: Date) =>
        repeatUntilFewerThan(
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

      /**
       * Deletes deliveries that finished before `before`. Delivered callbacks are deleted if they
       * finished before `callbacksBefore`.
       */
      const removeFinished = Effect.fn("DeliveriesRepo.removeFinished")(function* (
        before: Date,
        callbacksBefore: Date
      ) {
        yield* removeOlder(finishedDeliverySql.others, before)
        yield* removeOlder(finishedDeliverySql.deliveredCallbacks, callbacksBefore)
      }, Effect.orDie)

      return {
        claim,
        findNextAt,
        record,
        write,
        insertTest,
        list,
        find,
        listAttempts,
        listTests,
        countWaiting,
        cancel,
        findWorkspaceName,
        removeFinished
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/** The tolerance for the time in an id, which is a time of the node that created the id. */
const clockSlackMs = 5 * 60_000

const batch = 1_000

/**
 * SQL predicates for finished deliveries with different retention times. They match the predicates
 * of the indexes.
 */
export const finishedDeliverySql = {
  deliveredCallbacks: "channel_id IS NULL AND status = 'delivered'",
  others: "(channel_id IS NOT NULL OR status <> 'delivered')"
}

/** All columns except `subjects` and `after`, which can be long. */
const shownColumns = `
  id, workspace_id, channel_id, channel_kind, target, status, begun, ended, other, shown,
  incident_key, due_at, attempts_count, status_code, error, created_at, finished_at`
