import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The usage of workspaces, their subscriptions, and the effects of their plans. */
export const billing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The usage of a workspace on a UTC day. `executions` counts executions up to `counted_up_to` of
  // execution_stats_progress. Later executions are counted as rows. A row has seats only if members
  // were added or removed that day: the highest number after a change, and the number after the
  // last change. The columns for monitors work the same way. There is no reference to workspaces,
  // because the statement that counts would wait for a workspace that is being deleted.
  yield* sql`
    CREATE TABLE usage_days (
      workspace_id uuid NOT NULL,
      day date NOT NULL,
      executions bigint NOT NULL DEFAULT 0,
      notifications bigint NOT NULL DEFAULT 0,
      most_seats integer,
      last_seats integer,
      most_monitors integer,
      last_monitors integer,
      PRIMARY KEY (workspace_id, day)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX usage_days_by_day ON usage_days (day)`

  // The last known state of a workspace's subscription at the payment provider, which is fetched
  // again at `sync_at`. There is no reference to workspaces: the subscription of a deleted
  // workspace has to be cancelled first. `held_until` is the lease of the request that is changing
  // the subscription.
  yield* sql`
    CREATE TABLE subscriptions (
      workspace_id uuid PRIMARY KEY,
      customer_id text NOT NULL UNIQUE,
      subscription_id text,
      status text,
      price_id text,
      next_price_id text,
      period_end timestamptz,
      cancel_at timestamptz,
      past_due_since timestamptz,
      checkout_id text,
      version integer NOT NULL DEFAULT 1,
      sync_at timestamptz NOT NULL,
      held_until timestamptz
    )`
  yield* sql`CREATE INDEX subscriptions_by_sync ON subscriptions (sync_at)`

  // Received webhooks, because the provider may send a webhook more than once.
  yield* sql`
    CREATE TABLE billing_events (
      id text PRIMARY KEY,
      received_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX billing_events_by_age ON billing_events (received_at)`

  // Tasks and chains that are paused because the plan does not allow them. They resume when the
  // plan allows them again.
  yield* sql`
    CREATE TABLE plan_pauses (
      task_id uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      paused_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX plan_pauses_by_workspace ON plan_pauses (workspace_id)`

  // Workspaces that were notified that a quota is nearly used up, in the month or on the day that
  // begins at `since`. There is no reference to workspaces, because some statements insert here
  // while they hold the lock of a task.
  yield* sql`
    CREATE TABLE quota_notices (
      workspace_id uuid NOT NULL,
      quota text NOT NULL,
      since date NOT NULL,
      percent integer NOT NULL,
      PRIMARY KEY (workspace_id, quota, since, percent)
    )`
})
