import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** SQL in `enter_flow` for whether a run can take a slot of the queue immediately. */
const hasFreeSlot = `rate_per_second IS NULL
        AND NOT EXISTS (SELECT FROM runs WHERE phase = 'parked' AND queue_id = flow_queue_id)
        AND max_concurrency > (
          SELECT count(*)
          FROM unnest(held_until) AS held (until)
          WHERE until > now()
        ) + (
          SELECT count(*)
          FROM (SELECT FROM runs WHERE slot_queue_id = flow_queue_id LIMIT max_concurrency) AS taken
        )`

/** Users' definitions: cron tasks, delayed tasks, chains, queues and calendars. */
export const tasks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The steps of chains are immutable: a chain whose steps change gets a new version, and runs keep
  // the version with which they started. A run of a chain with a megabyte of steps therefore costs
  // no more than another run. `replaced_at` is set once the chain has a newer version or is
  // deleted.
  yield* sql`
    CREATE TABLE chain_versions (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      chain_id uuid NOT NULL,
      replaced_at timestamptz
    )`
  yield* sql`CREATE INDEX chain_versions_by_chain ON chain_versions (workspace_id, chain_id)`
  yield* sql`
    CREATE INDEX chain_versions_replaced ON chain_versions (id)
    WHERE replaced_at IS NOT NULL`
  // `uses` contains the indexes of the earlier steps whose responses the call uses, and -1 if it
  // uses the input of its run. `weight` is the maximum size of the call in bytes, with these
  // responses filled in. `call_options` are options that few calls have, such as the criteria of
  // success and the retry delays. `pause` says what a step without a call waits for.
  yield* sql`
    CREATE TABLE chain_steps (
      version_id uuid NOT NULL REFERENCES chain_versions ON DELETE CASCADE,
      step_index smallint NOT NULL,
      name text NOT NULL,
      run_if text NOT NULL,
      method text,
      url text,
      headers jsonb NOT NULL,
      body text,
      timeout_seconds integer NOT NULL,
      retry_count integer NOT NULL,
      call_options jsonb,
      run_on jsonb,
      worker_wait_seconds integer NOT NULL DEFAULT 300,
      pause jsonb,
      uses smallint[] NOT NULL,
      weight integer NOT NULL,
      secret_names text[] GENERATED ALWAYS AS (
        secret_names_in(url || headers::text || coalesce(body, '') || coalesce(call_options::text, ''))
      ) STORED,
      PRIMARY KEY (version_id, step_index),
      CHECK ((pause IS NULL) = (url IS NOT NULL AND method IS NOT NULL))
    )`

  // `owner` is the label of the document that defines the record; see `definitions`. The tables of
  // tasks, monitors and channels have the same column.
  //
  // A queue limits how many runs are in progress at the same time and how often one starts.
  // `next_at` is when the next run may start. `held_until` contains a time for each slot of a call
  // that was lost with its node: until then, the call may still be in progress.
  //
  // A key of a flow is a queue without a name while runs use it: see `use_flow`. Its workspace is
  // in a column of its own, so that no statement about the queues of a workspace finds it, and so
  // that adding a run does not check a foreign key.
  yield* sql`
    CREATE TABLE queues (
      id uuid PRIMARY KEY,
      workspace_id uuid REFERENCES workspaces ON DELETE CASCADE,
      flow_workspace_id uuid,
      flow_key text,
      key text,
      owner text,
      version integer NOT NULL DEFAULT 1,
      name text NOT NULL,
      tags text[] NOT NULL DEFAULT '{}',
      max_concurrency integer,
      rate_per_second float8,
      fifo boolean NOT NULL DEFAULT false,
      paused boolean NOT NULL DEFAULT false,
      next_at timestamptz NOT NULL,
      held_until timestamptz[] NOT NULL DEFAULT '{}',
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (max_concurrency IS NOT NULL OR rate_per_second IS NOT NULL),
      CHECK (num_nonnulls(flow_workspace_id, flow_key) = CASE WHEN workspace_id IS NULL THEN 2 ELSE 0 END)
    ) WITH (fillfactor = 70)`
  yield* sql`
    CREATE INDEX queues_by_workspace ON queues (workspace_id, id DESC)
    WHERE workspace_id IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX queues_by_key ON queues (workspace_id, key)
    WHERE key IS NOT NULL`
  yield* sql`
    CREATE INDEX queues_by_owner ON queues (workspace_id, owner)
    WHERE owner IS NOT NULL`

  // The next functions find the queue of a run in a flow. This function returns the value of a
  // reference to the input, or null if it is missing or is not valid text.
  yield* sql`
    CREATE FUNCTION flow_input(input json, path text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
    BEGIN
      RETURN input #>> path;
    EXCEPTION WHEN data_exception OR untranslatable_character THEN
      RETURN NULL;
    END
    $$`
  // Fills in the key. `parts` is null if it contains no reference.
  yield* sql`
    CREATE FUNCTION flow_key(
      flow jsonb, parts jsonb, run_id uuid, task_name text, task_key text, input json
    ) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
    BEGIN
      IF parts IS NULL THEN
        RETURN flow ->> 'key';
      END IF;
      RETURN left(coalesce((
        SELECT string_agg(
          CASE
            WHEN jsonb_typeof(part) = 'string' THEN part #>> '{}'
            WHEN part ->> 'value' = 'run.id' THEN run_id::text
            WHEN part ->> 'value' = 'task.name' THEN task_name
            WHEN part ->> 'value' = 'task.key' THEN task_key
            WHEN input IS NOT NULL THEN
              flow_input(input, ARRAY(SELECT jsonb_array_elements_text(part -> 'path')))
          END, '' ORDER BY n
        )
        FROM jsonb_array_elements(parts) WITH ORDINALITY AS listed (part, n)
      ), ''), 255);
    END
    $$`
  // Returns the queue of a key, and creates it if it is missing. The queue is locked until the
  // transaction ends, so that it is not deleted. The limits of the most recently changed task
  // apply. The first digit of the id is f, which no other queue has, because their ids begin with
  // the time: see engine/queues/flows.ts.
  yield* sql`
    CREATE FUNCTION use_flow(workspace uuid, given_key text, flow jsonb, changed_at timestamptz)
    RETURNS uuid
    LANGUAGE plpgsql
    AS $$
    DECLARE
      flow_id uuid := overlay(
        encode(sha256(convert_to(workspace::text || given_key, 'UTF8')), 'hex') PLACING 'f' FROM 1 FOR 1
      )::char(32)::uuid;
    BEGIN
      PERFORM
      FROM queues
      WHERE id = flow_id
        AND updated_at >= changed_at
      FOR KEY SHARE;
      IF NOT FOUND THEN
        INSERT INTO queues (
          id, flow_workspace_id, flow_key, name, max_concurrency, rate_per_second, fifo, next_at,
          created_at, updated_at
        )
        VALUES (
          flow_id, workspace, given_key, '', (flow ->> 'max_concurrency')::integer,
          (flow ->> 'rate_per_second')::float8, (flow ->> 'fifo')::boolean, now(), now(), changed_at
        )
        ON CONFLICT (id) DO UPDATE
        SET
          max_concurrency = EXCLUDED.max_concurrency,
          rate_per_second = EXCLUDED.rate_per_second,
          fifo = EXCLUDED.fifo,
          next_at = least(
            queues.next_at,
            now() + interval '1 second' / EXCLUDED.rate_per_second
          ),
          updated_at = EXCLUDED.updated_at
        WHERE queues.updated_at < EXCLUDED.updated_at;
      END IF;
      RETURN flow_id;
    END
    $$`
  // Does the same as `use_flow` for a run that is due now, and returns the queue also as
  // `free_slot` if the run may take a slot of it: a slot is free, no run waits for it, and the
  // queue has no rate. Only the transaction that has locked the queue gives slots, and each
  // statement of this function sees what others have committed, so the slots are counted again
  // after the lock. A queue that another transaction has locked is left to the nodes, and so is one
  // that is in use.
  yield* sql`
    CREATE FUNCTION enter_flow(
      workspace uuid, given_key text, flow jsonb, changed_at timestamptz,
      OUT flow_queue_id uuid, OUT free_slot uuid
    )
    LANGUAGE plpgsql STRICT
    AS $$
    BEGIN
      flow_queue_id := use_flow(workspace, given_key, flow, changed_at);
      PERFORM
      FROM queues
      WHERE id = flow_queue_id
        AND ${sql.literal(hasFreeSlot)}
      FOR NO KEY UPDATE SKIP LOCKED;
      IF FOUND THEN
        SELECT id
        INTO free_slot
        FROM queues
        WHERE id = flow_queue_id
          AND ${sql.literal(hasFreeSlot)};
      END IF;
    END
    $$`

  // Returns the key of a queue of a flow. As a volatile function, it also sees a queue that the
  // calling statement has created.
  yield* sql`
    CREATE FUNCTION key_of_flow(flow_id uuid) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL SAFE
    AS $$
    BEGIN
      RETURN (SELECT queues.flow_key FROM queues WHERE id = flow_id);
    END
    $$`

  // Calendars whose days schedules exclude, once per workspace. Tasks refer to a calendar by its
  // URL, in `firing_options`. `days` come from the last good copy. `is_applied` is false until the
  // next firings of the tasks are computed from the changed days. `used_at` is when a task was last
  // saved with the calendar, so that a calendar in use is not deleted.
  yield* sql`
    CREATE TABLE calendars (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      url text NOT NULL,
      days jsonb NOT NULL,
      fetched_at timestamptz NOT NULL,
      error text,
      failures integer NOT NULL DEFAULT 0,
      is_applied boolean NOT NULL DEFAULT true,
      version integer NOT NULL DEFAULT 1,
      check_at timestamptz NOT NULL,
      used_at timestamptz NOT NULL,
      UNIQUE (workspace_id, url)
    )`
  yield* sql`CREATE INDEX calendars_by_check ON calendars (check_at)`

  // One table for the three kinds. `version` is incremented by each change that a user would
  // notice. A cron or delayed task has the columns of a call, a chain has a version of its steps.
  // `next_fire_at` is null while the task is paused or without a schedule. `fired_until` is the
  // last slot that has fired. No change to the task makes that slot fire again. `run_on` of a chain
  // is copied from its first step. `firing_options` are options that few schedules have, and
  // `ending_options` define who is notified when a run has finished. `bytes` limits the size of
  // list pages, because a hundred chains can have a hundred megabytes, and the memory for calls.
  // `ended_at` is when the run of a delayed task finished, which may be long after it was due.
  // `updated_by` is null until the first change. `has_dependencies` is true if there may be rows in
  // `dependencies`. `flow_parts` are the literal strings and the references in the flow's key, or
  // null if it has no references.
  yield* sql`
    CREATE TABLE tasks (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('cron', 'delayed', 'chain')),
      key text,
      owner text,
      version integer NOT NULL DEFAULT 1,
      name text,
      tags text[] NOT NULL DEFAULT '{}',
      status text NOT NULL CHECK (
        CASE kind
          WHEN 'delayed' THEN status IN ('pending', 'finished', 'cancelled')
          ELSE status IN ('active', 'paused')
        END
      ),
      method text,
      url text,
      headers jsonb,
      body text,
      timeout_seconds integer,
      retry_count integer,
      call_options jsonb,
      run_on jsonb,
      worker_wait_seconds integer NOT NULL DEFAULT 300,
      queue_id uuid REFERENCES queues ON DELETE SET NULL,
      flow jsonb,
      flow_parts jsonb,
      priority smallint NOT NULL DEFAULT 0,
      version_id uuid REFERENCES chain_versions,
      steps_bytes integer,
      bytes integer NOT NULL GENERATED ALWAYS AS (
        coalesce(octet_length(body), 0) + coalesce(octet_length(headers::text), 0)
          + coalesce(octet_length(call_options::text), 0)
          + coalesce(octet_length(firing_options::text), 0)
          + coalesce(octet_length(ending_options::text), 0) + coalesce(steps_bytes, 0)
      ) STORED,
      secret_names text[] GENERATED ALWAYS AS (
        secret_names_in(
          coalesce(url, '') || coalesce(headers::text, '') || coalesce(body, '')
            || coalesce(call_options::text, '')
        )
      ) STORED,
      schedule text,
      timezone text,
      overlap text CHECK (overlap IN ('allow', 'skip', 'queue')),
      missed text CHECK (missed IN ('skip', 'once', 'all')),
      dst_overlap text CHECK (dst_overlap IN ('first', 'both')),
      firing_options jsonb,
      ending_options jsonb,
      paused_reason text,
      next_fire_at timestamptz,
      fired_until timestamptz,
      lane bigint NOT NULL,
      run_at timestamptz,
      ended_at timestamptz,
      has_dependencies boolean NOT NULL DEFAULT false,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (CASE kind WHEN 'chain' THEN version_id IS NOT NULL ELSE url IS NOT NULL END),
      CHECK (next_fire_at IS NULL OR (status = 'active' AND schedule IS NOT NULL)),
      CHECK ((kind = 'delayed') = (run_at IS NOT NULL)),
      CHECK (queue_id IS NULL OR flow IS NULL)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX tasks_by_workspace ON tasks (workspace_id, kind, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX tasks_by_key ON tasks (workspace_id, kind, key)
    WHERE key IS NOT NULL`
  yield* sql`
    CREATE INDEX tasks_by_owner ON tasks (workspace_id, owner)
    WHERE owner IS NOT NULL`
  // These indexes contain only the few tasks and steps that use secrets.
  yield* sql`
    CREATE INDEX tasks_by_secrets ON tasks (workspace_id)
    WHERE secret_names IS NOT NULL`
  yield* sql`
    CREATE INDEX chain_steps_by_secrets ON chain_steps (version_id)
    WHERE secret_names IS NOT NULL`
  yield* sql`
    CREATE INDEX tasks_by_version ON tasks (version_id)
    WHERE version_id IS NOT NULL`
  yield* sql`
    CREATE INDEX tasks_by_queue ON tasks (queue_id)
    WHERE queue_id IS NOT NULL`
  // Contains only pending tasks, because most delayed tasks have finished.
  yield* sql`CREATE INDEX tasks_pending ON tasks (workspace_id, id DESC) WHERE status = 'pending'`
  // Finds the next runs of all tasks of a workspace.
  yield* sql`
    CREATE INDEX tasks_upcoming ON tasks (workspace_id, coalesce(next_fire_at, run_at))
    WHERE next_fire_at IS NOT NULL OR status = 'pending'`
  // With the lane, a query can skip from lane to lane among the thousands of tasks of one minute.
  yield* sql`
    CREATE INDEX tasks_by_next_fire ON tasks (next_fire_at, lane)
    WHERE next_fire_at IS NOT NULL`
  // This index is searched for each run that finishes. Only the rows of the few tasks in the index
  // are read.
  yield* sql`
    CREATE INDEX tasks_with_ending_options ON tasks (id)
    WHERE ending_options IS NOT NULL`
  // The trigger URLs of cron tasks and chains. The token is hashed, which finds the task of a
  // request, and encrypted, so that the URL can be shown again. `sealed_secret` verifies the
  // signature of the `sender`.
  yield* sql`
    CREATE TABLE task_triggers (
      task_id uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      token_hash text NOT NULL UNIQUE,
      sealed_token text NOT NULL,
      sender text,
      sealed_secret text,
      created_at timestamptz NOT NULL,
      CHECK ((sender IS NULL) = (sealed_secret IS NULL))
    )`
  // The previous calls of changed or deleted tasks, so that an attempt still shows what it sent.
  // The last ten calls of a task are kept, for as long as its history.
  yield* sql`
    CREATE TABLE replaced_calls (
      task_id uuid NOT NULL,
      replaced_at timestamptz NOT NULL,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      method text NOT NULL,
      url text NOT NULL,
      headers jsonb NOT NULL,
      body text,
      auth jsonb,
      PRIMARY KEY (task_id, replaced_at)
    )`
  yield* sql`CREATE INDEX replaced_calls_by_workspace ON replaced_calls (workspace_id)`
  yield* sql`CREATE INDEX replaced_calls_by_time ON replaced_calls (replaced_at)`
  // When a workspace is deleted, its own row is deleted before its tasks.
  yield* sql`
    CREATE FUNCTION keep_replaced_call() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO replaced_calls (
        task_id, replaced_at, workspace_id, method, url, headers, body, auth
      )
      SELECT
        OLD.id, clock_timestamp(), id, OLD.method, OLD.url, coalesce(OLD.headers, '{}'), OLD.body,
        OLD.call_options -> 'auth'
      FROM workspaces
      WHERE id = OLD.workspace_id
      ON CONFLICT DO NOTHING;
      DELETE FROM replaced_calls
      WHERE task_id = OLD.id
        AND replaced_at <= (
          SELECT replaced_at
          FROM replaced_calls
          WHERE task_id = OLD.id
          ORDER BY replaced_at DESC
          OFFSET 10
          LIMIT 1
        );
      RETURN NULL;
    END
    $$`
  yield* sql`
    CREATE TRIGGER tasks_call_replaced AFTER UPDATE OF method, url, headers, body, call_options ON tasks
    FOR EACH ROW
    WHEN (
      OLD.method IS NOT NULL
      AND (OLD.method, OLD.url, OLD.headers, OLD.body, OLD.call_options -> 'auth')
        IS DISTINCT FROM (NEW.method, NEW.url, NEW.headers, NEW.body, NEW.call_options -> 'auth')
    )
    EXECUTE FUNCTION keep_replaced_call()`
  yield* sql`
    CREATE TRIGGER tasks_call_deleted AFTER DELETE ON tasks
    FOR EACH ROW
    WHEN (OLD.kind = 'cron' AND OLD.method IS NOT NULL)
    EXECUTE FUNCTION keep_replaced_call()`

  yield* sql`
    CREATE TRIGGER tasks_lane BEFORE INSERT ON tasks
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`
  yield* sql`
    CREATE TRIGGER tasks_versions_removed AFTER DELETE ON tasks
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`
  yield* sql`
    CREATE TRIGGER queues_versions_removed AFTER DELETE ON queues
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`
})
