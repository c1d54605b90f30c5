import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What happened and was not looked at yet, written with the change that it tells of. No foreign
  // keys: a workspace that goes meanwhile must not fail the statement that settles the runs of all.
  yield* sql`
    CREATE TABLE outbox (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL,
      event text NOT NULL,
      subject_id uuid NOT NULL,
      tags text[] NOT NULL DEFAULT '{}',
      at timestamptz NOT NULL,
      data jsonb NOT NULL DEFAULT '{}'
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`
  yield* sql`CREATE INDEX outbox_by_subject ON outbox (subject_id)`

  // Settling looks here for each run that ends. Few tasks are in it, and only those are read.
  yield* sql`
    CREATE INDEX tasks_with_ending_options ON tasks (id)
    WHERE ending_options IS NOT NULL`

  // The runs that call-backs of tasks are told of, written as they are settled and moved to the
  // deliveries at once. Apart from the outbox, so that alerts do not wait behind them.
  yield* sql`
    CREATE TABLE callback_outbox (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL,
      task_id uuid NOT NULL,
      url text NOT NULL,
      event text NOT NULL,
      at timestamptz NOT NULL,
      data jsonb NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`

  // Where messages go. `config` is what may be shown; what is secret in it is sealed. The columns from
  // `next_at` on belong to the sender: a channel is leased as a whole, so that one that is slow or
  // dead holds up itself alone. `next_at` is null while there is nothing to send.
  yield* sql`
    CREATE TABLE notification_channels (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      lane bigint NOT NULL,
      key text,
      name text NOT NULL,
      kind text NOT NULL,
      config jsonb NOT NULL,
      sealed_secrets text NOT NULL,
      enabled boolean NOT NULL DEFAULT true,
      disabled_reason text,
      confirmed boolean NOT NULL DEFAULT true,
      last_status text,
      last_error text,
      last_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      next_at timestamptz,
      held_until timestamptz,
      failures integer NOT NULL DEFAULT 0,
      window_ms integer NOT NULL DEFAULT 0,
      sent_at timestamptz,
      lease uuid,
      lease_until timestamptz
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX notification_channels_by_workspace ON notification_channels (workspace_id, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX notification_channels_by_key ON notification_channels (workspace_id, key)
    WHERE key IS NOT NULL`
  // With lanes first: whoever looks for work hops from lane to lane, however much one has to send.
  yield* sql`
    CREATE INDEX notification_channels_due ON notification_channels (lane, next_at)
    WHERE next_at IS NOT NULL`
  yield* sql`
    CREATE TRIGGER notification_channels_lane BEFORE INSERT ON notification_channels
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`

  yield* sql`
    CREATE TABLE notification_settings (
      workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      version integer NOT NULL,
      settings jsonb NOT NULL,
      updated_at timestamptz NOT NULL
    )`

  // What fails or is down now. `told_at` is null as long as it has not failed often enough.
  yield* sql`
    CREATE TABLE troubles (
      subject_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      event text NOT NULL,
      failures integer NOT NULL,
      since timestamptz NOT NULL,
      told_at timestamptz,
      remind_at timestamptz,
      tags text[] NOT NULL,
      data jsonb NOT NULL
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX troubles_by_workspace ON troubles (workspace_id)`
  yield* sql`
    CREATE INDEX troubles_to_remind ON troubles (remind_at)
    WHERE remind_at IS NOT NULL`

  // Which channels were told of a trouble, and under which key, if they keep incidents.
  yield* sql`
    CREATE TABLE tellings (
      channel_id uuid NOT NULL REFERENCES notification_channels ON DELETE CASCADE,
      subject_id uuid NOT NULL REFERENCES troubles ON DELETE CASCADE,
      incident_key uuid NOT NULL,
      PRIMARY KEY (channel_id, subject_id)
    )`
  yield* sql`CREATE INDEX tellings_by_subject ON tellings (subject_id)`
  yield* sql`CREATE INDEX tellings_by_incident ON tellings (channel_id, incident_key)`

  // One message to one channel, or to the `target` of a task's call-back, which has no channel. `shown` are the first events of those it tells of, `after` the
  // deliveries of this channel that have to end first because they are about the same. No foreign
  // key to the channel: what was sent stays on record when it is gone.
  yield* sql`
    CREATE TABLE notification_deliveries (
      id uuid PRIMARY KEY,
      ordinal bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      channel_id uuid,
      channel_kind text NOT NULL,
      target text,
      lane bigint,
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
    CREATE INDEX notification_deliveries_unfinished
    ON notification_deliveries (channel_id, ordinal)
    WHERE status IN ('queued', 'sending') AND channel_id IS NOT NULL`
  // Those of call-backs. With lanes first, as for channels. What is under way is due again when its
  // node is lost.
  yield* sql`
    CREATE INDEX notification_deliveries_to_callbacks
    ON notification_deliveries (lane, due_at)
    WHERE status IN ('queued', 'sending') AND channel_id IS NULL`
  yield* sql`
    CREATE INDEX notification_deliveries_waiting_callbacks
    ON notification_deliveries (workspace_id)
    WHERE status IN ('queued', 'sending') AND channel_id IS NULL`
  yield* sql`
    CREATE INDEX notification_deliveries_dropped ON notification_deliveries (workspace_id, created_at)
    WHERE status = 'dropped'`
  yield* sql`
    CREATE TRIGGER notification_deliveries_lane BEFORE INSERT ON notification_deliveries
    FOR EACH ROW WHEN (NEW.channel_id IS NULL) EXECUTE FUNCTION lane_of_workspace()`
  // Which of them tell of an incident. No foreign key to it: a monitor that goes meanwhile must not
  // keep what else is told from being written.
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
})
