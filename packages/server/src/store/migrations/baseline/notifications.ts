import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Channels, open problems, and the deliveries of messages and callbacks. */
export const notifications = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `config` contains no secrets. The secrets of a channel are encrypted. `by_membership` means
  // that an email channel was confirmed not by a link, but because the address belongs to a member.
  // The confirmation ends with the membership. The columns from `held_until` on belong to the
  // sender: nothing is sent to the channel before `held_until`.
  yield* sql`
    CREATE TABLE notification_channels (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      key text,
      owner text,
      version integer NOT NULL DEFAULT 1,
      name text NOT NULL,
      tags text[] NOT NULL DEFAULT '{}',
      kind text NOT NULL,
      config jsonb NOT NULL,
      sealed_secrets text NOT NULL,
      secret_names text[] GENERATED ALWAYS AS (secret_names_in(config::text)) STORED,
      paused boolean NOT NULL DEFAULT false,
      paused_reason text,
      confirmed boolean NOT NULL DEFAULT true,
      by_membership boolean NOT NULL DEFAULT false,
      last_status text,
      last_error text,
      last_at timestamptz,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      held_until timestamptz,
      failures integer NOT NULL DEFAULT 0,
      window_ms integer NOT NULL DEFAULT 0,
      sent_at timestamptz
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX notification_channels_by_workspace ON notification_channels (workspace_id, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX notification_channels_by_key ON notification_channels (workspace_id, key)
    WHERE key IS NOT NULL`
  yield* sql`
    CREATE INDEX notification_channels_by_owner ON notification_channels (workspace_id, owner)
    WHERE owner IS NOT NULL`
  // Addresses that have unsubscribed from the emails of a workspace, even if the channels to them
  // are deleted. Only a MAC of the address is stored. `asked_at` is when the address was asked to
  // confirm once more.
  yield* sql`
    CREATE TABLE notification_refusals (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      address_hash text NOT NULL,
      refused_at timestamptz NOT NULL,
      asked_at timestamptz,
      PRIMARY KEY (workspace_id, address_hash)
    )`

  yield* sql`
    CREATE TABLE notification_settings (
      workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      version integer NOT NULL,
      settings jsonb NOT NULL,
      updated_by jsonb,
      updated_at timestamptz NOT NULL
    )`

  // Tasks that are failing and monitors that are down. `notified_at` is null until there are enough
  // failures for a notification. `incident_id` is null until then for a task. `withheld` problems
  // have enough failures, but are in maintenance, are suppressed by the incident of a dependency,
  // or wait until `hold_until` for one. `check_at` is when to check whether a run of the task has
  // succeeded since, in case the event of the recovery was lost.
  yield* sql`
    CREATE TABLE problems (
      subject_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      event text NOT NULL,
      failures integer NOT NULL,
      since timestamptz NOT NULL,
      notified_at timestamptz,
      remind_at timestamptz,
      check_at timestamptz,
      incident_id uuid,
      withheld boolean NOT NULL DEFAULT false,
      hold_until timestamptz,
      tags text[] NOT NULL,
      data jsonb NOT NULL
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX problems_by_workspace ON problems (workspace_id)`
  yield* sql`
    CREATE INDEX problems_to_remind ON problems (remind_at)
    WHERE remind_at IS NOT NULL`
  yield* sql`CREATE INDEX problems_withheld ON problems (workspace_id, subject_id) WHERE withheld`
  yield* sql`
    CREATE INDEX problems_to_check ON problems (check_at)
    WHERE check_at IS NOT NULL`

  // The channels that were notified of a problem, and the key of the incident at channels that
  // track incidents.
  yield* sql`
    CREATE TABLE notified_channels (
      channel_id uuid NOT NULL REFERENCES notification_channels ON DELETE CASCADE,
      subject_id uuid NOT NULL REFERENCES problems ON DELETE CASCADE,
      incident_key uuid NOT NULL,
      PRIMARY KEY (channel_id, subject_id)
    )`
  yield* sql`CREATE INDEX notified_channels_by_subject ON notified_channels (subject_id)`
  yield* sql`
    CREATE INDEX notified_channels_by_incident ON notified_channels (channel_id, incident_key)`

  // Whom to notify of a problem, step by step. `steps` contains the ids of channels and members.
  yield* sql`
    CREATE TABLE escalation_policies (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      key text NOT NULL,
      version integer NOT NULL DEFAULT 1,
      name text NOT NULL,
      steps jsonb NOT NULL,
      repeat_count integer NOT NULL,
      repeat_after_seconds integer NOT NULL,
      owner text,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (workspace_id, key)
    )`
  yield* sql`
    CREATE INDEX escalation_policies_by_workspace ON escalation_policies (workspace_id, id DESC)`
  yield* sql`
    CREATE TRIGGER escalation_policies_versions_removed AFTER DELETE ON escalation_policies
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`

  // The next step of a policy for a problem that nobody has acknowledged. `due_at` is null while
  // the step is in the outbox.
  yield* sql`
    CREATE TABLE escalations (
      subject_id uuid NOT NULL REFERENCES problems ON DELETE CASCADE,
      policy_id uuid NOT NULL REFERENCES escalation_policies ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      step integer NOT NULL,
      round integer NOT NULL,
      due_at timestamptz,
      PRIMARY KEY (subject_id, policy_id)
    )`
  yield* sql`CREATE INDEX escalations_by_policy ON escalations (policy_id)`
  yield* sql`CREATE INDEX escalations_due ON escalations (due_at) WHERE due_at IS NOT NULL`

  // One message to a channel, or to the `target` of a task's callback, which has no channel.
  // `shown` contains the first of the message's events. `after` contains the deliveries of this
  // channel that have to finish first, because they are about the same problem. There is no foreign
  // key to the channel, because deliveries are kept when their channel is deleted. `next_at` is
  // when a node may claim the delivery and, while the delivery is being sent, the end of its lease.
  // Only one delivery of a channel has a `next_at`, so a channel gets one message at a time, and a
  // slow or dead channel delays only itself. Callbacks have no channel and no order, so each has a
  // `next_at`.
  yield* sql`
    CREATE TABLE notification_deliveries (
      id uuid PRIMARY KEY,
      ordinal bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      channel_id uuid,
      channel_kind text NOT NULL,
      target text,
      lane bigint NOT NULL,
      status text NOT NULL CHECK (
        status IN ('queued', 'sending', 'delivered', 'failed', 'cancelled', 'dropped')
      ),
      begun integer NOT NULL,
      ended integer NOT NULL,
      other integer NOT NULL,
      shown jsonb NOT NULL,
      subjects uuid[] NOT NULL,
      after uuid[] NOT NULL DEFAULT '{}',
      incident_key uuid,
      mergeable boolean NOT NULL,
      due_at timestamptz NOT NULL,
      next_at timestamptz,
      give_up_at timestamptz NOT NULL,
      attempts_count integer NOT NULL DEFAULT 0,
      status_code integer,
      error text,
      created_at timestamptz NOT NULL,
      finished_at timestamptz
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX notification_deliveries_by_workspace
    ON notification_deliveries (workspace_id, id DESC)`
  yield* sql`
    CREATE INDEX notification_deliveries_by_channel
    ON notification_deliveries (workspace_id, channel_id, id DESC)`
  yield* sql`
    CREATE INDEX notification_deliveries_undelivered
    ON notification_deliveries (workspace_id, status, id DESC)
    WHERE status <> 'delivered'`
  yield* sql`
    CREATE INDEX notification_deliveries_unfinished
    ON notification_deliveries (channel_id, ordinal)
    WHERE status IN ('queued', 'sending') AND channel_id IS NOT NULL`
  // Deliveries to send. The lane is the first column, so that a search for work skips from lane to
  // lane, regardless of the number of deliveries in a lane. Callbacks have a separate index, so
  // that no alert waits behind them.
  yield* sql`
    CREATE INDEX notification_deliveries_next ON notification_deliveries (lane, next_at)
    WHERE next_at IS NOT NULL AND channel_id IS NOT NULL`
  yield* sql`
    CREATE INDEX notification_deliveries_next_callbacks ON notification_deliveries (lane, next_at)
    WHERE next_at IS NOT NULL AND channel_id IS NULL`
  yield* sql`
    CREATE INDEX notification_deliveries_waiting_callbacks
    ON notification_deliveries (workspace_id)
    WHERE status IN ('queued', 'sending') AND channel_id IS NULL`
  yield* sql`
    CREATE INDEX notification_deliveries_dropped ON notification_deliveries (workspace_id, created_at)
    WHERE status = 'dropped'`
  // Finished deliveries, for their retention. Delivered callbacks are kept for a shorter time, so
  // they have an index of their own.
  yield* sql`
    CREATE INDEX notification_deliveries_ended ON notification_deliveries (finished_at)
    WHERE finished_at IS NOT NULL AND (channel_id IS NOT NULL OR status <> 'delivered')`
  yield* sql`
    CREATE INDEX notification_deliveries_called_back ON notification_deliveries (finished_at)
    WHERE channel_id IS NULL AND status = 'delivered'`
  yield* sql`
    CREATE TRIGGER notification_deliveries_lane BEFORE INSERT ON notification_deliveries
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`
  // The deliveries about an incident. There is no foreign key to incidents, because the deletion of
  // a monitor must not prevent other deliveries from being written.
  yield* sql`
    CREATE TABLE incident_deliveries (
      incident_id uuid NOT NULL,
      delivery_id uuid NOT NULL REFERENCES notification_deliveries ON DELETE CASCADE,
      PRIMARY KEY (incident_id, delivery_id)
    )`
  yield* sql`CREATE INDEX incident_deliveries_by_delivery ON incident_deliveries (delivery_id)`
  yield* sql`
    CREATE TABLE notification_attempts (
      delivery_id uuid NOT NULL REFERENCES notification_deliveries ON DELETE CASCADE,
      number integer NOT NULL,
      started_at timestamptz NOT NULL,
      finished_at timestamptz,
      status_code integer,
      response_body text,
      error text,
      PRIMARY KEY (delivery_id, number)
    )`
  yield* sql`
    CREATE TRIGGER notification_channels_versions_removed AFTER DELETE ON notification_channels
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`
})
