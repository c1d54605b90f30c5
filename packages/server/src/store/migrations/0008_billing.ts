import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What a workspace used on a day of UTC. Executions are those up to `rolled_up_to`, as in
  // execution_stats; later ones are counted as rows. A row has seats only if members came or went
  // that day: how many there were at the most after such a change, and after the last one. The same
  // goes for monitors. There is no reference to workspaces, because whoever counts would wait for
  // one that is being deleted.
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

  // What the payment provider was last heard to say of the subscription of a workspace. It is asked
  // again at `sync_at`. There is no reference to workspaces: the subscription of one that is gone
  // has to be cancelled first. `held_until` is for whoever changes the subscription right now.
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

  // A webhook may come more than once.
  yield* sql`
    CREATE TABLE billing_events (
      id text PRIMARY KEY,
      received_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX billing_events_by_age ON billing_events (received_at)`

  // Tasks and chains that the plan does not allow now. They are resumed when it does.
  yield* sql`
    CREATE TABLE plan_pauses (
      task_id uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      paused_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX plan_pauses_by_workspace ON plan_pauses (workspace_id)`

  // Who was told that a limit is nearly used up, in the month or on the day that begins `since`.
  // There is no reference to workspaces, because some tell while they hold a task.
  yield* sql`
    CREATE TABLE quota_tellings (
      workspace_id uuid NOT NULL,
      quota text NOT NULL,
      since date NOT NULL,
      percent integer NOT NULL,
      PRIMARY KEY (workspace_id, quota, since, percent)
    )`
})
