import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { SubscriptionState } from "./chooseSubscription.ts"

export interface SubscriptionRow extends SubscriptionState {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly customer_id: string
  readonly past_due_since: Date | null
  readonly checkout_id: string | null
  /** Incremented by each change, so that an outdated response from the provider is not written. */
  readonly version: number
}

export class SubscriptionsRepo extends Context.Service<
  SubscriptionsRepo,
  {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<Option.Option<SubscriptionRow>>
    readonly insert: (
      workspaceId: AuthorizedWorkspaceId,
      customerId: string,
      now: Date
    ) => Effect.Effect<void>
    /**
     * Reserves the subscription until `until`, or returns none if another request has reserved it.
     */
    readonly hold: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date,
      until: Date
    ) => Effect.Effect<Option.Option<SubscriptionRow>>
    readonly release: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void>
    readonly updateCheckout: (
      workspaceId: AuthorizedWorkspaceId,
      checkoutId: string | null
    ) => Effect.Effect<void>
    /**
     * Reserves subscriptions that are due to be read from Stripe, including those of deleted
     * workspaces.
     */
    readonly claim: (
      now: Date,
      until: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SubscriptionRow & { readonly is_gone: boolean }>>
    /** Writes the state from Stripe. Returns false if the row has changed since it was read. */
    readonly update: (
      row: SubscriptionRow,
      state: SubscriptionState & { readonly past_due_since: Date | null },
      syncAt: Date
    ) => Effect.Effect<boolean>
    readonly remove: (row: SubscriptionRow) => Effect.Effect<void>
    /** Records a webhook. Returns false if it was already recorded. */
    readonly insertEvent: (id: string, now: Date) => Effect.Effect<boolean>
    /**
     * Marks the subscription as due to be read. If the provider still responds to an earlier
     * request, that response is not written.
     */
    readonly updateToStale: (customerId: string, now: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/billing/SubscriptionsRepo") {
  static readonly layer: Layer.Layer<SubscriptionsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SubscriptionsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnNames.join(", "))

      return SubscriptionsRepo.of({
        find: Effect.fn("SubscriptionsRepo.find")(function* (workspaceId) {
          const rows = yield* sql<SubscriptionRow>`
            SELECT ${columns}
            FROM subscriptions
            WHERE workspace_id = ${workspaceId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        insert: Effect.fn("SubscriptionsRepo.insert")(function* (workspaceId, customerId, now) {
          yield* sql`
            INSERT INTO subscriptions (workspace_id, customer_id, sync_at)
            VALUES (${workspaceId}, ${customerId}, ${now})
            ON CONFLICT (workspace_id) DO NOTHING`
        }, Effect.orDie),

        hold: Effect.fn("SubscriptionsRepo.hold")(function* (workspaceId, now, until) {
          const rows = yield* sql<SubscriptionRow>`
            UPDATE subscriptions
            SET held_until = ${until}
            WHERE workspace_id = ${workspaceId}
              AND (held_until IS NULL OR held_until <= ${now})
            RETURNING ${columns}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        release: Effect.fn("SubscriptionsRepo.release")(function* (workspaceId) {
          yield* sql`
            UPDATE subscriptions
            SET held_until = NULL
            WHERE workspace_id = ${workspaceId}`
        }, Effect.orDie),

        updateCheckout: Effect.fn("SubscriptionsRepo.updateCheckout")(function* (
          workspaceId,
          checkoutId
        ) {
          yield* sql`
              UPDATE subscriptions
              SET checkout_id = ${checkoutId}
              WHERE workspace_id = ${workspaceId}`
        }, Effect.orDie),

        claim: Effect.fn("SubscriptionsRepo.claim")(function* (now, until, limit) {
          return yield* sql<SubscriptionRow & { readonly is_gone: boolean }>`
            UPDATE subscriptions
            SET sync_at = ${until}
            WHERE workspace_id IN (
              SELECT workspace_id
              FROM subscriptions
              WHERE sync_at <= ${now}
                OR (sync_at > ${until} AND NOT EXISTS (
                  SELECT
                  FROM workspaces
                  WHERE workspaces.id = subscriptions.workspace_id
                ))
              ORDER BY sync_at
              LIMIT ${limit}
              FOR UPDATE SKIP LOCKED
            )
            RETURNING
              ${columns},
              NOT EXISTS (
                SELECT
                FROM workspaces
                WHERE workspaces.id = subscriptions.workspace_id
              ) AS is_gone`
        }, Effect.orDie),

        update: Effect.fn("SubscriptionsRepo.update")(function* (row, state, syncAt) {
          const rows = yield* sql`
            UPDATE subscriptions
            SET ${sql.update({ ...state, sync_at: syncAt, version: row.version + 1 })}
            WHERE workspace_id = ${row.workspace_id}
              AND version = ${row.version}
            RETURNING workspace_id`
          return rows.length > 0
        }, Effect.orDie),

        remove: Effect.fn("SubscriptionsRepo.remove")(function* ({ workspace_id }) {
          yield* sql`
            DELETE FROM subscriptions
            WHERE workspace_id = ${workspace_id}`
        }, Effect.orDie),

        insertEvent: Effect.fn("SubscriptionsRepo.insertEvent")(function* (id, now) {
          const rows = yield* sql`
            INSERT INTO billing_events (id, received_at)
            VALUES (${id}, ${now})
            ON CONFLICT DO NOTHING
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        updateToStale: Effect.fn("SubscriptionsRepo.updateToStale")(function* (customerId, now) {
          yield* sql`
            UPDATE subscriptions
            SET sync_at = ${now}, version = version + 1
            WHERE customer_id = ${customerId}`
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "workspace_id",
  "customer_id",
  "subscription_id",
  "status",
  "price_id",
  "next_price_id",
  "period_end",
  "cancel_at",
  "past_due_since",
  "checkout_id",
  "version"
] satisfies ReadonlyArray<keyof SubscriptionRow>
