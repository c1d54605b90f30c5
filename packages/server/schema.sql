-- Generated from the migrations by `npm run generate`, for people to read.

CREATE OR REPLACE FUNCTION public.enter_flow(workspace uuid, given_key text, flow jsonb, changed_at timestamp with time zone, OUT flow_queue_id uuid, OUT free_slot uuid)
 RETURNS record
 LANGUAGE plpgsql
 STRICT
AS $function$
    BEGIN
      flow_queue_id := use_flow(workspace, given_key, flow, changed_at);
      PERFORM
      FROM queues
      WHERE id = flow_queue_id
        AND rate_per_second IS NULL
        AND NOT EXISTS (SELECT FROM runs WHERE phase = 'parked' AND queue_id = flow_queue_id)
        AND max_concurrency > (
          SELECT count(*)
          FROM unnest(held_until) AS held (until)
          WHERE until > now()
        ) + (
          SELECT count(*)
          FROM (SELECT FROM runs WHERE slot_queue_id = flow_queue_id LIMIT max_concurrency) AS taken
        )
      FOR NO KEY UPDATE SKIP LOCKED;
      IF FOUND THEN
        SELECT id
        INTO free_slot
        FROM queues
        WHERE id = flow_queue_id
          AND rate_per_second IS NULL
        AND NOT EXISTS (SELECT FROM runs WHERE phase = 'parked' AND queue_id = flow_queue_id)
        AND max_concurrency > (
          SELECT count(*)
          FROM unnest(held_until) AS held (until)
          WHERE until > now()
        ) + (
          SELECT count(*)
          FROM (SELECT FROM runs WHERE slot_queue_id = flow_queue_id LIMIT max_concurrency) AS taken
        );
      END IF;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.flow_input(input json, path text[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
    BEGIN
      RETURN input #>> path;
    EXCEPTION WHEN data_exception OR untranslatable_character THEN
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.flow_key(flow jsonb, parts jsonb, run_id uuid, task_name text, task_key text, input json)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
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
    $function$;

CREATE OR REPLACE FUNCTION public.keep_replaced_call()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_escalation_policies()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'escalation_policy', NEW.name, NEW.key, '{}', NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_maintenance_windows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'maintenance_window', NEW.name, NEW.key, NEW.tags, NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_monitors()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, NEW.kind, NEW.name, NEW.key, NEW.tags, target_of_monitor(NEW.id));
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_notification_channels()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'channel', NEW.name, NEW.key, NEW.tags, NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_queues()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'queue', NEW.name, NEW.key, NEW.tags, NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_secrets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'secret', NEW.name, NULL, NEW.allowed_hosts, NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_status_pages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'status_page', NEW.title, NEW.slug, '{}', NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_target()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      PERFORM put_search_entry(workspace_id, id, kind, name, key, tags, target_of_monitor(id))
      FROM monitors
      WHERE id = NEW.monitor_id;
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_tasks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, NEW.kind, NEW.name, NEW.key, NEW.tags, coalesce(
      NEW.url, (SELECT string_agg(DISTINCT url, ' ') FROM chain_steps WHERE version_id = NEW.version_id)
    ));
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.keep_search_entry_of_workers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, 'worker', NEW.name, NULL, NEW.labels, NULL);
          RETURN NULL;
        END
        $function$;

CREATE OR REPLACE FUNCTION public.key_of_flow(flow_id uuid)
 RETURNS text
 LANGUAGE plpgsql
 PARALLEL SAFE
AS $function$
    BEGIN
      RETURN (SELECT queues.flow_key FROM queues WHERE id = flow_id);
    END
    $function$;

CREATE OR REPLACE FUNCTION public.lane_of_workspace()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      NEW.lane := coalesce((SELECT lane FROM workspaces WHERE id = NEW.workspace_id), 0);
      RETURN NEW;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.put_search_entry(workspace uuid, entry uuid, kind text, name text, key text, tags text[], target text)
 RETURNS void
 LANGUAGE sql
AS $function$
      INSERT INTO search_entries (workspace_id, id, kind, name, key, target, text)
      VALUES (
        workspace, entry, kind, name, key, target,
        left(lower(array_to_string(ARRAY['', name, key] || tags || ARRAY[target, ''], chr(10))), 600)
      )
      ON CONFLICT (workspace_id, id) DO UPDATE
      SET name = excluded.name, key = excluded.key, target = excluded.target, text = excluded.text
    $function$;

CREATE OR REPLACE FUNCTION public.remember_removed_monitors()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      INSERT INTO removed_monitors (monitor_id)
      SELECT id
      FROM removed;
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.remove_definition_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      DELETE FROM definition_versions
      WHERE subject_id IN (SELECT id FROM removed);
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.remove_dependencies()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      DELETE FROM dependencies
      USING removed
      WHERE dependencies.subject_id = removed.id;
      DELETE FROM dependencies
      USING removed
      WHERE dependencies.on_id = removed.id;
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.remove_search_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      DELETE FROM search_entries
      USING removed
      WHERE search_entries.workspace_id = removed.workspace_id
        AND search_entries.id = removed.id;
      RETURN NULL;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.seconds_after(since timestamp with time zone, seconds integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT since + seconds * interval '1 second' $function$;

CREATE OR REPLACE FUNCTION public.secret_names_in(source text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
      SELECT CASE
        WHEN strpos(source, '{{') > 0 THEN (
          SELECT array_agg(DISTINCT found[1])
          FROM regexp_matches(source, '{{[[:space:]]*secrets[.]([A-Z][A-Z0-9_]{0,62})[[:space:]]*}}', 'g') AS found
        )
      END
    $function$;

CREATE OR REPLACE FUNCTION public.target_of_monitor(monitor uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      SELECT host
      FROM ssl_monitors
      WHERE monitor_id = monitor
      UNION ALL
      SELECT coalesce(target ->> 'url', target ->> 'host', target ->> 'name')
      FROM checked_monitors
      WHERE monitor_id = monitor
    $function$;

CREATE OR REPLACE FUNCTION public.time_of_id(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(((((('x'::text || replace("left"((id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::double precision / (1000)::double precision));

CREATE OR REPLACE FUNCTION public.use_flow(workspace uuid, given_key text, flow jsonb, changed_at timestamp with time zone)
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
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
    $function$;

CREATE TABLE absences (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT absences_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);
CREATE INDEX absences_by_end ON absences USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX absences_to_come ON absences USING btree ((true)) WHERE ended_at IS NULL;

CREATE TABLE access_tokens (
  workspace_id uuid NOT NULL,
  id text NOT NULL,
  sealed_token text,
  obtained_at timestamp with time zone,
  usable_until timestamp with time zone,
  asking_until timestamp with time zone,
  error text,
  CONSTRAINT access_tokens_pkey PRIMARY KEY (workspace_id, id),
  CONSTRAINT access_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE api_key_uses (
  api_key_id uuid NOT NULL,
  kind text NOT NULL,
  what text NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (api_key_id, kind, what),
  CONSTRAINT api_key_uses_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  CONSTRAINT api_key_uses_kind_check CHECK (kind = ANY (ARRAY['scope'::text, 'address'::text, 'refused_address'::text]))
) WITH (fillfactor=90);

CREATE TABLE api_keys (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  name text NOT NULL,
  key_hash text NOT NULL,
  key_prefix text NOT NULL,
  scopes text[] NOT NULL,
  allowed_ips text[],
  created_by uuid,
  successor_id uuid,
  expires_at timestamp with time zone,
  warn_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) WITH (fillfactor=90);
CREATE INDEX api_keys_by_workspace ON api_keys USING btree (workspace_id, id DESC);
CREATE INDEX api_keys_to_warn ON api_keys USING btree (warn_at) WHERE warn_at IS NOT NULL;
CREATE TRIGGER api_keys_lane BEFORE INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION lane_of_workspace();

CREATE TABLE app_secret (
  is_only_row boolean DEFAULT true NOT NULL,
  check_value text NOT NULL,
  CONSTRAINT app_secret_pkey PRIMARY KEY (is_only_row),
  CONSTRAINT app_secret_is_only_row_check CHECK (is_only_row)
);

CREATE TABLE audit_erasures (
  owner_id uuid NOT NULL,
  CONSTRAINT audit_erasures_pkey PRIMARY KEY (owner_id)
);

CREATE TABLE audit_events (
  id uuid NOT NULL,
  action text NOT NULL,
  workspace_id uuid,
  user_id uuid,
  actor_id uuid,
  subject_id text,
  ip text,
  request_id text,
  details jsonb NOT NULL,
  details_salt text,
  details_hash text,
  created_at timestamp with time zone NOT NULL,
  mac text,
  ordinal bigint,
  previous_hash text,
  previous_at timestamp with time zone,
  hash text,
  CONSTRAINT audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_by_action ON audit_events USING btree (workspace_id, action, id DESC);
CREATE INDEX audit_events_by_actor ON audit_events USING btree (workspace_id, actor_id, id DESC);
CREATE INDEX audit_events_by_subject ON audit_events USING btree (workspace_id, subject_id, id DESC);
CREATE INDEX audit_events_by_user ON audit_events USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_of_pauses ON audit_events USING btree (workspace_id, id DESC) WHERE details @> '{"changes": {"paused": [true]}}'::jsonb;
CREATE INDEX audit_events_unlinked ON audit_events USING btree (id) WHERE ordinal IS NULL;
CREATE UNIQUE INDEX audit_events_by_ordinal ON audit_events USING btree (ordinal) WHERE ordinal IS NOT NULL;

CREATE TABLE audit_head (
  is_only boolean DEFAULT true NOT NULL,
  ordinal bigint NOT NULL,
  hash text NOT NULL,
  at timestamp with time zone,
  mac text NOT NULL,
  CONSTRAINT audit_head_pkey PRIMARY KEY (is_only),
  CONSTRAINT audit_head_is_only_check CHECK (is_only)
);

CREATE TABLE billing_events (
  id text NOT NULL,
  received_at timestamp with time zone NOT NULL,
  CONSTRAINT billing_events_pkey PRIMARY KEY (id)
);
CREATE INDEX billing_events_by_age ON billing_events USING btree (received_at);

CREATE TABLE calendars (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  url text NOT NULL,
  days jsonb NOT NULL,
  fetched_at timestamp with time zone NOT NULL,
  error text,
  failures integer DEFAULT 0 NOT NULL,
  is_applied boolean DEFAULT true NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  check_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone NOT NULL,
  CONSTRAINT calendars_pkey PRIMARY KEY (id),
  CONSTRAINT calendars_workspace_id_url_key UNIQUE (workspace_id, url),
  CONSTRAINT calendars_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX calendars_by_check ON calendars USING btree (check_at);

CREATE TABLE chain_steps (
  version_id uuid NOT NULL,
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
  worker_wait_seconds integer DEFAULT 300 NOT NULL,
  pause jsonb,
  uses smallint[] NOT NULL,
  weight integer NOT NULL,
  secret_names text[] GENERATED ALWAYS AS (secret_names_in((((url || (headers)::text) || COALESCE(body, ''::text)) || COALESCE((call_options)::text, ''::text)))) STORED,
  CONSTRAINT chain_steps_pkey PRIMARY KEY (version_id, step_index),
  CONSTRAINT chain_steps_version_id_fkey FOREIGN KEY (version_id) REFERENCES chain_versions(id) ON DELETE CASCADE,
  CONSTRAINT chain_steps_check CHECK ((pause IS NULL) = (url IS NOT NULL AND method IS NOT NULL))
);
CREATE INDEX chain_steps_by_secrets ON chain_steps USING btree (version_id) WHERE secret_names IS NOT NULL;

CREATE TABLE chain_versions (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  workspace_id uuid NOT NULL,
  chain_id uuid NOT NULL,
  replaced_at timestamp with time zone,
  CONSTRAINT chain_versions_pkey PRIMARY KEY (id),
  CONSTRAINT chain_versions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX chain_versions_by_chain ON chain_versions USING btree (workspace_id, chain_id);
CREATE INDEX chain_versions_replaced ON chain_versions USING btree (id) WHERE replaced_at IS NOT NULL;

CREATE TABLE checked_monitors (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  interval_seconds integer NOT NULL,
  timeout_seconds integer NOT NULL,
  confirm_after smallint NOT NULL,
  recover_after smallint NOT NULL,
  places jsonb,
  down_when text DEFAULT 'majority'::text NOT NULL,
  target jsonb NOT NULL,
  secret_names text[],
  check_at timestamp with time zone,
  failures smallint DEFAULT 0 NOT NULL,
  successes smallint DEFAULT 0 NOT NULL,
  last_check jsonb,
  recorded_at timestamp with time zone,
  CONSTRAINT checked_monitors_pkey PRIMARY KEY (monitor_id),
  CONSTRAINT checked_monitors_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id) ON DELETE CASCADE,
  CONSTRAINT checked_monitors_down_when_check CHECK (down_when = ANY (ARRAY['any'::text, 'majority'::text, 'all'::text]))
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX checked_monitors_by_check ON checked_monitors USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX checked_monitors_by_secrets ON checked_monitors USING btree (workspace_id) WHERE secret_names IS NOT NULL;
CREATE TRIGGER checked_monitors_found AFTER INSERT OR UPDATE OF target ON public.checked_monitors FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_target();

CREATE TABLE definition_versions (
  subject_id uuid NOT NULL,
  version integer NOT NULL,
  workspace_id uuid NOT NULL,
  replaced jsonb NOT NULL,
  shown jsonb,
  bytes integer NOT NULL,
  updated_by jsonb,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT definition_versions_pkey PRIMARY KEY (subject_id, version),
  CONSTRAINT definition_versions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX definition_versions_by_workspace ON definition_versions USING btree (workspace_id);

CREATE TABLE dependencies (
  workspace_id uuid NOT NULL,
  subject_kind text NOT NULL,
  subject_id uuid NOT NULL,
  on_kind text NOT NULL,
  on_id uuid NOT NULL,
  CONSTRAINT dependencies_pkey PRIMARY KEY (subject_id, on_id),
  CONSTRAINT dependencies_check CHECK (subject_id <> on_id)
);
CREATE INDEX dependencies_by_target ON dependencies USING btree (on_id, subject_id);
CREATE INDEX dependencies_by_workspace ON dependencies USING btree (workspace_id);

CREATE TABLE earlier_attempts (
  execution_id uuid NOT NULL,
  number integer NOT NULL,
  workspace_id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  status_code integer,
  response_body text,
  error text,
  node integer,
  worker_id uuid,
  exchange text,
  CONSTRAINT earlier_attempts_pkey PRIMARY KEY (execution_id, number)
) PARTITION BY RANGE (execution_id);

CREATE TABLE escalation_policies (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  name text NOT NULL,
  steps jsonb NOT NULL,
  repeat_count integer NOT NULL,
  repeat_after_seconds integer NOT NULL,
  owner text,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT escalation_policies_pkey PRIMARY KEY (id),
  CONSTRAINT escalation_policies_workspace_id_key_key UNIQUE (workspace_id, key),
  CONSTRAINT escalation_policies_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX escalation_policies_by_workspace ON escalation_policies USING btree (workspace_id, id DESC);
CREATE TRIGGER escalation_policies_found AFTER INSERT ON public.escalation_policies FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_escalation_policies();
CREATE TRIGGER escalation_policies_found_again AFTER UPDATE OF name, key ON public.escalation_policies FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key))) EXECUTE FUNCTION keep_search_entry_of_escalation_policies();
CREATE TRIGGER escalation_policies_not_found AFTER DELETE ON public.escalation_policies REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER escalation_policies_versions_removed AFTER DELETE ON public.escalation_policies REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE escalations (
  subject_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  step integer NOT NULL,
  round integer NOT NULL,
  due_at timestamp with time zone,
  CONSTRAINT escalations_pkey PRIMARY KEY (subject_id, policy_id),
  CONSTRAINT escalations_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES escalation_policies(id) ON DELETE CASCADE,
  CONSTRAINT escalations_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES problems(subject_id) ON DELETE CASCADE
);
CREATE INDEX escalations_by_policy ON escalations USING btree (policy_id);
CREATE INDEX escalations_due ON escalations USING btree (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE execution_stats (
  workspace_id uuid NOT NULL,
  task_id uuid,
  hour timestamp with time zone NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  cancelled integer NOT NULL,
  skipped integer NOT NULL,
  durations smallint[] NOT NULL,
  duration_counts integer[] NOT NULL,
  latenesses smallint[] NOT NULL,
  lateness_counts integer[] NOT NULL,
  CONSTRAINT execution_stats_workspace_id_task_id_hour_key UNIQUE NULLS NOT DISTINCT (workspace_id, task_id, hour)
) WITH (fillfactor=70);
CREATE INDEX execution_stats_by_hour ON execution_stats USING btree (hour);

CREATE TABLE execution_stats_progress (
  rolled_up_to bigint NOT NULL,
  counted_up_to bigint DEFAULT 0 NOT NULL
);

CREATE TABLE executions (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL,
  kind text NOT NULL,
  trigger text NOT NULL,
  chain_run_id uuid,
  step_index smallint,
  step text,
  flow_key text,
  status text NOT NULL,
  scheduled_for timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone NOT NULL,
  lateness_ms bigint,
  duration_ms bigint,
  attempts_count integer NOT NULL,
  attempt_started_at timestamp with time zone,
  status_code integer,
  response_body text,
  error text,
  node integer,
  worker_id uuid,
  exchange text,
  ordinal bigint DEFAULT nextval('execution_ordinals'::regclass) NOT NULL,
  stray boolean GENERATED ALWAYS AS ((((time_of_id(id) - scheduled_for) < '-00:05:00'::interval) OR ((time_of_id(id) - scheduled_for) > '00:05:00'::interval))) STORED NOT NULL,
  CONSTRAINT executions_pkey PRIMARY KEY (workspace_id, id) INCLUDE (task_id, kind, trigger, status, status_code, duration_ms, scheduled_for),
  CONSTRAINT executions_status_check CHECK (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'skipped'::text]))
) PARTITION BY RANGE (id);
CREATE INDEX executions_by_chain_run ON ONLY executions USING btree (chain_run_id) WHERE chain_run_id IS NOT NULL;
CREATE INDEX executions_by_ordinal ON ONLY executions USING brin (ordinal);
CREATE INDEX executions_by_task ON ONLY executions USING btree (workspace_id, task_id, id DESC);
CREATE INDEX executions_chain_runs ON ONLY executions USING btree (task_id, id DESC) WHERE id = chain_run_id;
CREATE INDEX executions_stray ON ONLY executions USING btree (workspace_id, scheduled_for) WHERE stray;
CREATE INDEX executions_unsuccessful ON ONLY executions USING btree (workspace_id, status, id DESC) WHERE status <> 'succeeded'::text;

CREATE TABLE fired_ahead (
  is_row boolean DEFAULT true NOT NULL,
  until timestamp with time zone NOT NULL,
  CONSTRAINT fired_ahead_pkey PRIMARY KEY (is_row),
  CONSTRAINT fired_ahead_is_row_check CHECK (is_row)
);

CREATE TABLE heartbeats (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  period_seconds integer,
  schedule text,
  timezone text NOT NULL,
  grace_seconds integer NOT NULL,
  max_duration_seconds integer,
  min_interval_seconds integer,
  last_ping_at timestamp with time zone,
  began_at timestamp with time zone,
  last_duration_ms double precision,
  last_rid uuid,
  expected_at timestamp with time zone,
  alert_at timestamp with time zone,
  check_at timestamp with time zone,
  runs jsonb DEFAULT '[]'::jsonb NOT NULL,
  CONSTRAINT heartbeats_pkey PRIMARY KEY (monitor_id),
  CONSTRAINT heartbeats_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id) ON DELETE CASCADE,
  CONSTRAINT heartbeats_check CHECK ((period_seconds IS NULL) <> (schedule IS NULL)),
  CONSTRAINT heartbeats_check1 CHECK (alert_at IS NULL OR check_at <= alert_at)
) WITH (fillfactor=60, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX heartbeats_by_check ON heartbeats USING btree (check_at) WHERE check_at IS NOT NULL;

CREATE TABLE idempotent_requests (
  owner_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  operation text NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  sealed_answer text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotent_requests_pkey PRIMARY KEY (owner_id, principal_id, operation, key)
);
CREATE INDEX idempotent_requests_by_age ON idempotent_requests USING btree (created_at);

CREATE TABLE identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT identities_user_id_issuer_key UNIQUE (user_id, issuer),
  CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE incident_actions (
  id uuid NOT NULL,
  incident_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  at timestamp with time zone NOT NULL,
  type text NOT NULL,
  actor jsonb NOT NULL,
  message text,
  until timestamp with time zone,
  CONSTRAINT incident_actions_pkey PRIMARY KEY (id),
  CONSTRAINT incident_actions_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE,
  CONSTRAINT incident_actions_type_check CHECK (type = ANY (ARRAY['acknowledged'::text, 'snoozed'::text, 'note'::text, 'closed'::text, 'escalated'::text]))
);
CREATE INDEX incident_actions_by_incident ON incident_actions USING btree (incident_id, id);

CREATE TABLE incident_deliveries (
  incident_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  CONSTRAINT incident_deliveries_pkey PRIMARY KEY (incident_id, delivery_id),
  CONSTRAINT incident_deliveries_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES notification_deliveries(id) ON DELETE CASCADE
);
CREATE INDEX incident_deliveries_by_delivery ON incident_deliveries USING btree (delivery_id);

CREATE TABLE incidents (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  subject_kind text NOT NULL,
  subject_id uuid NOT NULL,
  subject_name text NOT NULL,
  monitor_id uuid,
  opened_at timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  recovered boolean DEFAULT false NOT NULL,
  cause_code text NOT NULL,
  cause_message text NOT NULL,
  certificate_expires_at timestamp with time zone,
  acknowledged_by uuid,
  acknowledged_at timestamp with time zone,
  snoozed_until timestamp with time zone,
  suppressed_by uuid,
  CONSTRAINT incidents_pkey PRIMARY KEY (id),
  CONSTRAINT incidents_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id) ON DELETE CASCADE,
  CONSTRAINT incidents_check CHECK (monitor_id = subject_id)
);
CREATE INDEX incidents_by_end ON incidents USING btree (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX incidents_by_monitor ON incidents USING btree (monitor_id) WHERE monitor_id IS NOT NULL;
CREATE INDEX incidents_by_subject ON incidents USING btree (subject_id, id DESC);
CREATE INDEX incidents_by_workspace ON incidents USING btree (workspace_id, id DESC);
CREATE INDEX incidents_open_by_workspace ON incidents USING btree (workspace_id, id DESC) WHERE closed_at IS NULL;
CREATE INDEX incidents_suppressed ON incidents USING btree (workspace_id, suppressed_by) WHERE closed_at IS NULL AND suppressed_by IS NOT NULL;
CREATE UNIQUE INDEX incidents_open ON incidents USING btree (subject_id) WHERE closed_at IS NULL;

CREATE TABLE invitations (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  token_hash text NOT NULL,
  invited_by uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_token_hash_key UNIQUE (token_hash),
  CONSTRAINT invitations_workspace_id_email_key UNIQUE (workspace_id, email),
  CONSTRAINT invitations_invited_by_workspace_id_fkey FOREIGN KEY (invited_by, workspace_id) REFERENCES memberships(user_id, workspace_id) ON DELETE CASCADE,
  CONSTRAINT invitations_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'editor'::text, 'admin'::text, 'owner'::text]))
);
CREATE INDEX invitations_by_email ON invitations USING btree (email);
CREATE INDEX invitations_by_maker ON invitations USING btree (invited_by, workspace_id);
CREATE INDEX invitations_by_workspace ON invitations USING btree (workspace_id, id DESC);

CREATE TABLE login_throttle (
  subject text NOT NULL,
  failures integer NOT NULL,
  attempts integer NOT NULL,
  window_ends_at timestamp with time zone NOT NULL,
  CONSTRAINT login_throttle_pkey PRIMARY KEY (subject)
);
CREATE INDEX login_throttle_by_end ON login_throttle USING btree (window_ends_at);

CREATE TABLE maintenance_windows (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  name text NOT NULL,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  schedule text,
  timezone text NOT NULL,
  duration_seconds integer,
  everything boolean NOT NULL,
  tags text[] NOT NULL,
  monitor_ids uuid[] NOT NULL,
  task_ids uuid[] NOT NULL,
  owner text,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT maintenance_windows_pkey PRIMARY KEY (id),
  CONSTRAINT maintenance_windows_workspace_id_key_key UNIQUE (workspace_id, key),
  CONSTRAINT maintenance_windows_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT maintenance_windows_check CHECK ((schedule IS NULL) = (duration_seconds IS NULL)),
  CONSTRAINT maintenance_windows_check1 CHECK ((schedule IS NULL) = (starts_at IS NOT NULL AND ends_at IS NOT NULL))
);
CREATE INDEX maintenance_windows_by_workspace ON maintenance_windows USING btree (workspace_id, id DESC);
CREATE TRIGGER maintenance_windows_found AFTER INSERT ON public.maintenance_windows FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_maintenance_windows();
CREATE TRIGGER maintenance_windows_found_again AFTER UPDATE OF name, key, tags ON public.maintenance_windows FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key) OR (old.tags IS DISTINCT FROM new.tags))) EXECUTE FUNCTION keep_search_entry_of_maintenance_windows();
CREATE TRIGGER maintenance_windows_not_found AFTER DELETE ON public.maintenance_windows REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER maintenance_windows_versions_removed AFTER DELETE ON public.maintenance_windows REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE memberships (
  user_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  role text NOT NULL,
  from_claim boolean DEFAULT false NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (user_id, workspace_id),
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT memberships_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT memberships_check CHECK (NOT from_claim OR role <> 'owner'::text),
  CONSTRAINT memberships_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'editor'::text, 'admin'::text, 'owner'::text]))
);
CREATE INDEX memberships_by_workspace ON memberships USING btree (workspace_id);

CREATE TABLE monitor_events (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  at timestamp with time zone NOT NULL,
  details jsonb,
  CONSTRAINT monitor_events_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX monitor_events_by_monitor ON ONLY monitor_events USING btree (monitor_id, id DESC);

CREATE TABLE monitor_places (
  monitor_id uuid NOT NULL,
  place smallint NOT NULL,
  workspace_id uuid NOT NULL,
  labels jsonb NOT NULL,
  round integer NOT NULL,
  worker_id uuid,
  is_open boolean NOT NULL,
  is_given boolean DEFAULT false NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  unreached boolean DEFAULT false NOT NULL,
  status text NOT NULL,
  reason text,
  checked_at timestamp with time zone,
  last_check jsonb,
  CONSTRAINT monitor_places_pkey PRIMARY KEY (monitor_id, place),
  CONSTRAINT monitor_places_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES checked_monitors(monitor_id) ON DELETE CASCADE,
  CONSTRAINT monitor_places_status_check CHECK (status = ANY (ARRAY['up'::text, 'down'::text, 'unknown'::text]))
) WITH (fillfactor=70);
CREATE INDEX monitor_places_open ON monitor_places USING btree (worker_id) WHERE is_open AND NOT is_given;

CREATE TABLE monitors (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  kind text NOT NULL,
  key text,
  owner text,
  version integer DEFAULT 1 NOT NULL,
  name text NOT NULL,
  tags text[] NOT NULL,
  status text NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  open_incident_id uuid,
  withheld_cause jsonb,
  has_dependencies boolean DEFAULT false NOT NULL,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT monitors_pkey PRIMARY KEY (id),
  CONSTRAINT monitors_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT monitors_check CHECK (open_incident_id IS NULL OR status = 'down'::text),
  CONSTRAINT monitors_check1 CHECK (withheld_cause IS NULL OR status = 'down'::text AND open_incident_id IS NULL),
  CONSTRAINT monitors_kind_check CHECK (kind = ANY (ARRAY['heartbeat'::text, 'ssl'::text, 'process'::text, 'http'::text, 'tcp'::text, 'dns'::text])),
  CONSTRAINT monitors_status_check CHECK (status = ANY (ARRAY['new'::text, 'up'::text, 'warning'::text, 'down'::text, 'paused'::text]))
);
CREATE INDEX monitors_by_owner ON monitors USING btree (workspace_id, owner) WHERE owner IS NOT NULL;
CREATE INDEX monitors_by_workspace ON monitors USING btree (workspace_id, kind, id DESC);
CREATE INDEX monitors_withheld ON monitors USING btree (workspace_id, id) WHERE withheld_cause IS NOT NULL;
CREATE UNIQUE INDEX monitors_by_key ON monitors USING btree (workspace_id, kind, key) WHERE key IS NOT NULL;
CREATE TRIGGER monitors_dependencies_removed AFTER DELETE ON public.monitors REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_dependencies();
CREATE TRIGGER monitors_found AFTER INSERT ON public.monitors FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_monitors();
CREATE TRIGGER monitors_found_again AFTER UPDATE OF name, key, tags ON public.monitors FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key) OR (old.tags IS DISTINCT FROM new.tags))) EXECUTE FUNCTION keep_search_entry_of_monitors();
CREATE TRIGGER monitors_not_found AFTER DELETE ON public.monitors REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER monitors_removed AFTER DELETE ON public.monitors REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remember_removed_monitors();
CREATE TRIGGER monitors_versions_removed AFTER DELETE ON public.monitors REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE nodes (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  holds_lock boolean NOT NULL,
  worker_id uuid,
  lease_until timestamp with time zone NOT NULL,
  suspected_at timestamp with time zone,
  died_at timestamp with time zone,
  started_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT nodes_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

CREATE TABLE notification_attempts (
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  status_code integer,
  response_body text,
  error text,
  CONSTRAINT notification_attempts_pkey PRIMARY KEY (delivery_id, number),
  CONSTRAINT notification_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES notification_deliveries(id) ON DELETE CASCADE
);

CREATE TABLE notification_channels (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  key text,
  owner text,
  version integer DEFAULT 1 NOT NULL,
  name text NOT NULL,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  kind text NOT NULL,
  config jsonb NOT NULL,
  sealed_secrets text NOT NULL,
  secret_names text[] GENERATED ALWAYS AS (secret_names_in((config)::text)) STORED,
  paused boolean DEFAULT false NOT NULL,
  paused_reason text,
  confirmed boolean DEFAULT true NOT NULL,
  by_membership boolean DEFAULT false NOT NULL,
  last_status text,
  last_error text,
  last_at timestamp with time zone,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  held_until timestamp with time zone,
  failures integer DEFAULT 0 NOT NULL,
  window_ms integer DEFAULT 0 NOT NULL,
  sent_at timestamp with time zone,
  CONSTRAINT notification_channels_pkey PRIMARY KEY (id),
  CONSTRAINT notification_channels_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) WITH (fillfactor=80);
CREATE INDEX notification_channels_by_owner ON notification_channels USING btree (workspace_id, owner) WHERE owner IS NOT NULL;
CREATE INDEX notification_channels_by_workspace ON notification_channels USING btree (workspace_id, id DESC);
CREATE UNIQUE INDEX notification_channels_by_key ON notification_channels USING btree (workspace_id, key) WHERE key IS NOT NULL;
CREATE TRIGGER notification_channels_found AFTER INSERT ON public.notification_channels FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_notification_channels();
CREATE TRIGGER notification_channels_found_again AFTER UPDATE OF name, key, tags ON public.notification_channels FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key) OR (old.tags IS DISTINCT FROM new.tags))) EXECUTE FUNCTION keep_search_entry_of_notification_channels();
CREATE TRIGGER notification_channels_not_found AFTER DELETE ON public.notification_channels REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER notification_channels_versions_removed AFTER DELETE ON public.notification_channels REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE notification_deliveries (
  id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id uuid NOT NULL,
  channel_id uuid,
  channel_kind text NOT NULL,
  target text,
  lane bigint NOT NULL,
  status text NOT NULL,
  begun integer NOT NULL,
  ended integer NOT NULL,
  other integer NOT NULL,
  shown jsonb NOT NULL,
  subjects uuid[] NOT NULL,
  after uuid[] DEFAULT '{}'::uuid[] NOT NULL,
  incident_key uuid,
  mergeable boolean NOT NULL,
  due_at timestamp with time zone NOT NULL,
  next_at timestamp with time zone,
  give_up_at timestamp with time zone NOT NULL,
  attempts_count integer DEFAULT 0 NOT NULL,
  status_code integer,
  error text,
  created_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  CONSTRAINT notification_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT notification_deliveries_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT notification_deliveries_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sending'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text, 'dropped'::text]))
) WITH (fillfactor=80);
CREATE INDEX notification_deliveries_by_channel ON notification_deliveries USING btree (workspace_id, channel_id, id DESC);
CREATE INDEX notification_deliveries_by_workspace ON notification_deliveries USING btree (workspace_id, id DESC);
CREATE INDEX notification_deliveries_called_back ON notification_deliveries USING btree (finished_at) WHERE channel_id IS NULL AND status = 'delivered'::text;
CREATE INDEX notification_deliveries_dropped ON notification_deliveries USING btree (workspace_id, created_at) WHERE status = 'dropped'::text;
CREATE INDEX notification_deliveries_ended ON notification_deliveries USING btree (finished_at) WHERE finished_at IS NOT NULL AND (channel_id IS NOT NULL OR status <> 'delivered'::text);
CREATE INDEX notification_deliveries_next ON notification_deliveries USING btree (lane, next_at) WHERE next_at IS NOT NULL AND channel_id IS NOT NULL;
CREATE INDEX notification_deliveries_next_callbacks ON notification_deliveries USING btree (lane, next_at) WHERE next_at IS NOT NULL AND channel_id IS NULL;
CREATE INDEX notification_deliveries_undelivered ON notification_deliveries USING btree (workspace_id, status, id DESC) WHERE status <> 'delivered'::text;
CREATE INDEX notification_deliveries_unfinished ON notification_deliveries USING btree (channel_id, ordinal) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text])) AND channel_id IS NOT NULL;
CREATE INDEX notification_deliveries_waiting_callbacks ON notification_deliveries USING btree (workspace_id) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text])) AND channel_id IS NULL;
CREATE TRIGGER notification_deliveries_lane BEFORE INSERT ON public.notification_deliveries FOR EACH ROW EXECUTE FUNCTION lane_of_workspace();

CREATE TABLE notification_refusals (
  workspace_id uuid NOT NULL,
  address_hash text NOT NULL,
  refused_at timestamp with time zone NOT NULL,
  asked_at timestamp with time zone,
  CONSTRAINT notification_refusals_pkey PRIMARY KEY (workspace_id, address_hash),
  CONSTRAINT notification_refusals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE notification_settings (
  workspace_id uuid NOT NULL,
  version integer NOT NULL,
  settings jsonb NOT NULL,
  updated_by jsonb,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT notification_settings_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT notification_settings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE notified_channels (
  channel_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  incident_key uuid NOT NULL,
  CONSTRAINT notified_channels_pkey PRIMARY KEY (channel_id, subject_id),
  CONSTRAINT notified_channels_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES notification_channels(id) ON DELETE CASCADE,
  CONSTRAINT notified_channels_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES problems(subject_id) ON DELETE CASCADE
);
CREATE INDEX notified_channels_by_incident ON notified_channels USING btree (channel_id, incident_key);
CREATE INDEX notified_channels_by_subject ON notified_channels USING btree (subject_id);

CREATE TABLE outbox (
  ordinal bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id uuid NOT NULL,
  event text NOT NULL,
  subject_id uuid NOT NULL,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  at timestamp with time zone NOT NULL,
  data jsonb DEFAULT '{}'::jsonb NOT NULL,
  callback_url text,
  CONSTRAINT outbox_pkey PRIMARY KEY (ordinal)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX outbox_by_subject ON outbox USING btree (subject_id) WHERE callback_url IS NULL;
CREATE INDEX outbox_in_order ON outbox USING btree ((callback_url IS NOT NULL), ordinal);

CREATE TABLE passkeys (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  credential_id text NOT NULL,
  public_key text NOT NULL,
  counter bigint NOT NULL,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_by_user ON passkeys USING btree (user_id, id DESC);

CREATE TABLE ping_keys (
  workspace_id uuid NOT NULL,
  key_hash text NOT NULL,
  sealed_key text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT ping_keys_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT ping_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT ping_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE ping_urls (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  ping_hash text NOT NULL,
  sealed_ping_id text NOT NULL,
  CONSTRAINT ping_urls_pkey PRIMARY KEY (monitor_id),
  CONSTRAINT ping_urls_ping_hash_key UNIQUE (ping_hash),
  CONSTRAINT ping_urls_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES heartbeats(monitor_id) ON DELETE CASCADE
);
CREATE TRIGGER ping_urls_lane BEFORE INSERT ON public.ping_urls FOR EACH ROW EXECUTE FUNCTION lane_of_workspace();

CREATE TABLE plan_pauses (
  task_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  paused_at timestamp with time zone NOT NULL,
  CONSTRAINT plan_pauses_pkey PRIMARY KEY (task_id),
  CONSTRAINT plan_pauses_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE
);
CREATE INDEX plan_pauses_by_workspace ON plan_pauses USING btree (workspace_id);

CREATE TABLE problems (
  subject_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  event text NOT NULL,
  failures integer NOT NULL,
  since timestamp with time zone NOT NULL,
  notified_at timestamp with time zone,
  remind_at timestamp with time zone,
  check_at timestamp with time zone,
  incident_id uuid,
  withheld boolean DEFAULT false NOT NULL,
  hold_until timestamp with time zone,
  tags text[] NOT NULL,
  data jsonb NOT NULL,
  CONSTRAINT problems_pkey PRIMARY KEY (subject_id),
  CONSTRAINT problems_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) WITH (fillfactor=80);
CREATE INDEX problems_by_workspace ON problems USING btree (workspace_id);
CREATE INDEX problems_to_check ON problems USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX problems_to_remind ON problems USING btree (remind_at) WHERE remind_at IS NOT NULL;
CREATE INDEX problems_withheld ON problems USING btree (workspace_id, subject_id) WHERE withheld;

CREATE TABLE process_monitors (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  worker_id uuid,
  labels text[],
  judge text NOT NULL,
  match jsonb NOT NULL,
  min_count integer NOT NULL,
  max_count integer,
  max_rss_bytes double precision,
  max_cpu_percent double precision,
  interval_seconds integer NOT NULL,
  grace_seconds integer NOT NULL,
  since timestamp with time zone NOT NULL,
  failing_since timestamp with time zone,
  failing jsonb,
  check_at timestamp with time zone,
  CONSTRAINT process_monitors_pkey PRIMARY KEY (monitor_id),
  CONSTRAINT process_monitors_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id) ON DELETE CASCADE,
  CONSTRAINT process_monitors_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES workers(id) ON DELETE CASCADE,
  CONSTRAINT process_monitors_check CHECK ((worker_id IS NULL) <> (labels IS NULL)),
  CONSTRAINT process_monitors_judge_check CHECK (judge = ANY (ARRAY['each'::text, 'together'::text]))
) WITH (fillfactor=80);
CREATE INDEX process_monitors_by_check ON process_monitors USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX process_monitors_by_labels ON process_monitors USING btree (workspace_id) WHERE labels IS NOT NULL;
CREATE INDEX process_monitors_by_worker ON process_monitors USING btree (worker_id);

CREATE TABLE process_reports (
  monitor_id uuid NOT NULL,
  worker_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  reported_at timestamp with time zone NOT NULL,
  report jsonb NOT NULL,
  failing_since timestamp with time zone,
  failing jsonb,
  CONSTRAINT process_reports_pkey PRIMARY KEY (monitor_id, worker_id),
  CONSTRAINT process_reports_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES process_monitors(monitor_id) ON DELETE CASCADE,
  CONSTRAINT process_reports_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES workers(id) ON DELETE CASCADE
) WITH (fillfactor=70);
CREATE INDEX process_reports_by_worker ON process_reports USING btree (worker_id);

CREATE TABLE progress (
  execution_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  lines jsonb NOT NULL,
  CONSTRAINT progress_pkey PRIMARY KEY (execution_id),
  CONSTRAINT progress_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX progress_by_workspace ON progress USING btree (workspace_id);

CREATE TABLE provider_sessions (
  session_id uuid NOT NULL,
  sealed_token text,
  checked_at timestamp with time zone NOT NULL,
  CONSTRAINT provider_sessions_pkey PRIMARY KEY (session_id),
  CONSTRAINT provider_sessions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);

CREATE TABLE queues (
  id uuid NOT NULL,
  workspace_id uuid,
  flow_workspace_id uuid,
  flow_key text,
  key text,
  owner text,
  version integer DEFAULT 1 NOT NULL,
  name text NOT NULL,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  max_concurrency integer,
  rate_per_second double precision,
  fifo boolean DEFAULT false NOT NULL,
  paused boolean DEFAULT false NOT NULL,
  next_at timestamp with time zone NOT NULL,
  held_until timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT queues_pkey PRIMARY KEY (id),
  CONSTRAINT queues_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT queues_check CHECK (max_concurrency IS NOT NULL OR rate_per_second IS NOT NULL),
  CONSTRAINT queues_check1 CHECK (num_nonnulls(flow_workspace_id, flow_key) =
CASE
    WHEN workspace_id IS NULL THEN 2
    ELSE 0
END)
) WITH (fillfactor=70);
CREATE INDEX queues_by_owner ON queues USING btree (workspace_id, owner) WHERE owner IS NOT NULL;
CREATE INDEX queues_by_workspace ON queues USING btree (workspace_id, id DESC) WHERE workspace_id IS NOT NULL;
CREATE UNIQUE INDEX queues_by_key ON queues USING btree (workspace_id, key) WHERE key IS NOT NULL;
CREATE TRIGGER queues_found AFTER INSERT ON public.queues FOR EACH ROW WHEN ((new.workspace_id IS NOT NULL)) EXECUTE FUNCTION keep_search_entry_of_queues();
CREATE TRIGGER queues_found_again AFTER UPDATE OF name, key, tags ON public.queues FOR EACH ROW WHEN (((new.workspace_id IS NOT NULL) AND ((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key) OR (old.tags IS DISTINCT FROM new.tags)))) EXECUTE FUNCTION keep_search_entry_of_queues();
CREATE TRIGGER queues_not_found AFTER DELETE ON public.queues REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER queues_versions_removed AFTER DELETE ON public.queues REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE quota_notices (
  workspace_id uuid NOT NULL,
  quota text NOT NULL,
  since date NOT NULL,
  percent integer NOT NULL,
  CONSTRAINT quota_notices_pkey PRIMARY KEY (workspace_id, quota, since, percent)
);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash text NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES totp(user_id) ON DELETE CASCADE
);

CREATE TABLE removed_monitors (
  monitor_id uuid NOT NULL,
  CONSTRAINT removed_monitors_pkey PRIMARY KEY (monitor_id)
);

CREATE TABLE removed_workspaces (
  id uuid NOT NULL,
  CONSTRAINT removed_workspaces_pkey PRIMARY KEY (id)
);

CREATE TABLE replaced_calls (
  task_id uuid NOT NULL,
  replaced_at timestamp with time zone NOT NULL,
  workspace_id uuid NOT NULL,
  method text NOT NULL,
  url text NOT NULL,
  headers jsonb NOT NULL,
  body text,
  auth jsonb,
  CONSTRAINT replaced_calls_pkey PRIMARY KEY (task_id, replaced_at),
  CONSTRAINT replaced_calls_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX replaced_calls_by_time ON replaced_calls USING btree (replaced_at);
CREATE INDEX replaced_calls_by_workspace ON replaced_calls USING btree (workspace_id);

CREATE TABLE run_inputs (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  input json NOT NULL,
  CONSTRAINT run_inputs_pkey PRIMARY KEY (id),
  CONSTRAINT run_inputs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX run_inputs_by_workspace ON run_inputs USING btree (workspace_id);

CREATE TABLE runs (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  task_id uuid NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  ordinal bigint NOT NULL,
  scheduled_for timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  slot_at timestamp with time zone,
  attempt integer DEFAULT 1 NOT NULL,
  lost integer DEFAULT 0 NOT NULL,
  started_at timestamp with time zone,
  attempt_started_at timestamp with time zone,
  awaiting_since timestamp with time zone,
  completes_by timestamp with time zone,
  lease_owner integer,
  state text DEFAULT 'ready'::text NOT NULL,
  phase text GENERATED ALWAYS AS (
CASE
    WHEN (state = ANY (ARRAY['leased'::text, 'running'::text])) THEN 'held'::text
    ELSE state
END) STORED NOT NULL,
  cancel_requested boolean DEFAULT false NOT NULL,
  kind text NOT NULL,
  trigger text NOT NULL,
  queue_id uuid,
  slot_queue_id uuid,
  priority smallint DEFAULT 0 NOT NULL,
  chain_run_id uuid,
  step_index smallint,
  step text,
  version_id uuid,
  after_failure boolean,
  status_code integer,
  error text,
  called_by integer,
  exchange text,
  pause jsonb,
  run_on jsonb,
  worker_wait_seconds integer,
  CONSTRAINT runs_pkey PRIMARY KEY (workspace_id, id),
  CONSTRAINT runs_completion CHECK ((awaiting_since IS NOT NULL) = (state = 'awaiting'::text) AND (completes_by IS NOT NULL) = (state = 'awaiting'::text) AND (pause IS NULL OR state = 'awaiting'::text)),
  CONSTRAINT runs_lease CHECK ((lease_owner IS NOT NULL) = (state = ANY (ARRAY['leased'::text, 'running'::text]))),
  CONSTRAINT runs_start CHECK ((started_at IS NOT NULL) = (attempt > 1 OR (state = ANY (ARRAY['running'::text, 'awaiting'::text]))) AND (started_at IS NULL) = (attempt_started_at IS NULL)),
  CONSTRAINT runs_state_check CHECK (state = ANY (ARRAY['parked'::text, 'blocked'::text, 'ready'::text, 'leased'::text, 'running'::text, 'awaiting'::text])),
  CONSTRAINT runs_turn CHECK (
CASE
    WHEN state = ANY (ARRAY['parked'::text, 'blocked'::text]) THEN slot_queue_id IS NULL AND NOT cancel_requested
    ELSE true
END)
) WITH (fillfactor=60, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=5000);
CREATE INDEX runs_awaiting ON runs USING btree (completes_by) WHERE completes_by IS NOT NULL;
CREATE INDEX runs_blocked ON runs USING btree (task_id, id) WHERE phase = 'blocked'::text;
CREATE INDEX runs_by_chain_run ON runs USING btree (chain_run_id) WHERE chain_run_id IS NOT NULL;
CREATE INDEX runs_by_due ON runs USING btree (date_bin('00:00:01'::interval, due_at, '1970-01-01 00:00:00+00'::timestamp with time zone), lane) WHERE phase = 'ready'::text AND run_on IS NULL;
CREATE INDEX runs_by_owner ON runs USING btree (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX runs_by_slot ON runs USING btree (slot_queue_id) WHERE slot_queue_id IS NOT NULL;
CREATE INDEX runs_by_task ON runs USING btree (task_id, (phase <> 'blocked'::text));
CREATE INDEX runs_for_workers ON runs USING btree (workspace_id, run_on, date_bin('00:00:01'::interval, due_at, '1970-01-01 00:00:00+00'::timestamp with time zone)) WHERE phase = 'ready'::text AND run_on IS NOT NULL;
CREATE INDEX runs_for_workers_by_due ON runs USING btree (due_at) WHERE phase = 'ready'::text AND run_on IS NOT NULL;
CREATE INDEX runs_in_flows ON runs USING btree (queue_id) WHERE queue_id >= 'f0000000-0000-0000-0000-000000000000'::uuid AND phase <> 'parked'::text AND slot_queue_id IS DISTINCT FROM queue_id;
CREATE INDEX runs_in_flows_by_due ON runs USING btree (due_at, queue_id) WHERE phase = 'parked'::text AND queue_id >= 'f0000000-0000-0000-0000-000000000000'::uuid;
CREATE INDEX runs_of_stopped ON runs USING btree (workspace_id, due_at) WHERE phase = 'parked'::text AND queue_id IS NULL;
CREATE INDEX runs_parked ON runs USING btree (queue_id, priority, due_at, ordinal) WHERE phase = 'parked'::text;
CREATE INDEX runs_to_cancel ON runs USING btree (lease_owner) WHERE cancel_requested;
CREATE INDEX runs_unclaimed ON runs USING btree (seconds_after(due_at, worker_wait_seconds)) WHERE phase = 'ready'::text AND run_on IS NOT NULL;
CREATE UNIQUE INDEX runs_by_slot_of_task ON runs USING btree (task_id, slot_at) WHERE slot_at IS NOT NULL;

CREATE TABLE search_entries (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  name text,
  key text,
  target text,
  text text NOT NULL,
  CONSTRAINT search_entries_pkey PRIMARY KEY (workspace_id, id) INCLUDE (kind, text),
  CONSTRAINT search_entries_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE secrets (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  allowed_hosts text[] NOT NULL,
  sealed_value text NOT NULL,
  value_set_at timestamp with time zone NOT NULL,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT secrets_pkey PRIMARY KEY (id),
  CONSTRAINT secrets_workspace_id_name_key UNIQUE (workspace_id, name),
  CONSTRAINT secrets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX secrets_by_workspace ON secrets USING btree (workspace_id, id DESC);
CREATE TRIGGER secrets_found AFTER INSERT ON public.secrets FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_secrets();
CREATE TRIGGER secrets_found_again AFTER UPDATE OF name, allowed_hosts ON public.secrets FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.allowed_hosts IS DISTINCT FROM new.allowed_hosts))) EXECUTE FUNCTION keep_search_entry_of_secrets();
CREATE TRIGGER secrets_not_found AFTER DELETE ON public.secrets REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();

CREATE TABLE service_accounts (
  user_id uuid NOT NULL,
  secret_hash text NOT NULL,
  secret_prefix text NOT NULL,
  old_secret_hash text,
  old_secret_expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_by uuid,
  CONSTRAINT service_accounts_pkey PRIMARY KEY (user_id),
  CONSTRAINT service_accounts_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT service_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX service_accounts_by_maker ON service_accounts USING btree (created_by);

CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  user_agent text,
  ip text,
  began_with text DEFAULT 'password'::text NOT NULL,
  generation integer DEFAULT 1 NOT NULL,
  rotated_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT sessions_began_with_check CHECK (began_with = ANY (ARRAY['password'::text, 'provider'::text, 'passkey'::text, 'proxy'::text, 'link'::text]))
);
CREATE INDEX sessions_by_expiry ON sessions USING btree (expires_at);
CREATE INDEX sessions_by_user ON sessions USING btree (user_id, id DESC);

CREATE TABLE signing_secrets (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  sealed_secret text NOT NULL,
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT signing_secrets_pkey PRIMARY KEY (id),
  CONSTRAINT signing_secrets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX signing_secrets_by_workspace ON signing_secrets USING btree (workspace_id, id DESC);

CREATE TABLE ssl_monitors (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  server_name text,
  protocol text NOT NULL,
  warn_days integer[] NOT NULL,
  check_interval_seconds integer NOT NULL,
  check_at timestamp with time zone,
  last_check_at timestamp with time zone,
  failures smallint DEFAULT 0 NOT NULL,
  verification text,
  message text,
  certificate jsonb,
  seen jsonb DEFAULT '[]'::jsonb NOT NULL,
  CONSTRAINT ssl_monitors_pkey PRIMARY KEY (monitor_id),
  CONSTRAINT ssl_monitors_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id) ON DELETE CASCADE
);
CREATE INDEX ssl_monitors_by_check ON ssl_monitors USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE TRIGGER ssl_monitors_found AFTER INSERT OR UPDATE OF host ON public.ssl_monitors FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_target();

CREATE TABLE status_pages (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  slug text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  title text NOT NULL,
  description text,
  published boolean NOT NULL,
  sealed_password text,
  groups jsonb NOT NULL,
  notices jsonb NOT NULL,
  owner text,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT status_pages_pkey PRIMARY KEY (id),
  CONSTRAINT status_pages_slug_key UNIQUE (slug),
  CONSTRAINT status_pages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX status_pages_by_workspace ON status_pages USING btree (workspace_id, id DESC);
CREATE TRIGGER status_pages_found AFTER INSERT ON public.status_pages FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_status_pages();
CREATE TRIGGER status_pages_found_again AFTER UPDATE OF title, slug ON public.status_pages FOR EACH ROW WHEN (((old.title IS DISTINCT FROM new.title) OR (old.slug IS DISTINCT FROM new.slug))) EXECUTE FUNCTION keep_search_entry_of_status_pages();
CREATE TRIGGER status_pages_not_found AFTER DELETE ON public.status_pages REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER status_pages_versions_removed AFTER DELETE ON public.status_pages REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE stopped_workspaces (
  workspace_id uuid NOT NULL,
  stopped_at timestamp with time zone NOT NULL,
  CONSTRAINT stopped_workspaces_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT stopped_workspaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE stops (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  up_to bigint DEFAULT nextval('runs_ordinal_seq'::regclass) NOT NULL,
  CONSTRAINT stops_pkey PRIMARY KEY (id)
);

CREATE TABLE subscriptions (
  workspace_id uuid NOT NULL,
  customer_id text NOT NULL,
  subscription_id text,
  status text,
  price_id text,
  next_price_id text,
  period_end timestamp with time zone,
  cancel_at timestamp with time zone,
  past_due_since timestamp with time zone,
  checkout_id text,
  version integer DEFAULT 1 NOT NULL,
  sync_at timestamp with time zone NOT NULL,
  held_until timestamp with time zone,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT subscriptions_customer_id_key UNIQUE (customer_id)
);
CREATE INDEX subscriptions_by_sync ON subscriptions USING btree (sync_at);

CREATE TABLE task_buckets (
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL,
  seconds integer NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  cancelled integer NOT NULL,
  skipped integer NOT NULL,
  durations smallint[] NOT NULL,
  duration_counts integer[] NOT NULL,
  CONSTRAINT task_buckets_pkey PRIMARY KEY (workspace_id, task_id, starts_at, seconds)
) WITH (fillfactor=80);
CREATE INDEX task_buckets_by_time ON task_buckets USING btree (seconds, starts_at);

CREATE TABLE task_triggers (
  task_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  token_hash text NOT NULL,
  sealed_token text NOT NULL,
  sender text,
  sealed_secret text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT task_triggers_pkey PRIMARY KEY (task_id),
  CONSTRAINT task_triggers_token_hash_key UNIQUE (token_hash),
  CONSTRAINT task_triggers_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE,
  CONSTRAINT task_triggers_check CHECK ((sender IS NULL) = (sealed_secret IS NULL))
);

CREATE TABLE tasks (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  kind text NOT NULL,
  key text,
  owner text,
  version integer DEFAULT 1 NOT NULL,
  name text,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  status text NOT NULL,
  method text,
  url text,
  headers jsonb,
  body text,
  timeout_seconds integer,
  retry_count integer,
  call_options jsonb,
  run_on jsonb,
  worker_wait_seconds integer DEFAULT 300 NOT NULL,
  queue_id uuid,
  flow jsonb,
  flow_parts jsonb,
  priority smallint DEFAULT 0 NOT NULL,
  version_id uuid,
  steps_bytes integer,
  bytes integer GENERATED ALWAYS AS ((((((COALESCE(octet_length(body), 0) + COALESCE(octet_length((headers)::text), 0)) + COALESCE(octet_length((call_options)::text), 0)) + COALESCE(octet_length((firing_options)::text), 0)) + COALESCE(octet_length((ending_options)::text), 0)) + COALESCE(steps_bytes, 0))) STORED NOT NULL,
  secret_names text[] GENERATED ALWAYS AS (secret_names_in((((COALESCE(url, ''::text) || COALESCE((headers)::text, ''::text)) || COALESCE(body, ''::text)) || COALESCE((call_options)::text, ''::text)))) STORED,
  schedule text,
  timezone text,
  overlap text,
  missed text,
  dst_overlap text,
  firing_options jsonb,
  ending_options jsonb,
  paused_reason text,
  next_fire_at timestamp with time zone,
  fired_until timestamp with time zone,
  lane bigint NOT NULL,
  run_at timestamp with time zone,
  ended_at timestamp with time zone,
  has_dependencies boolean DEFAULT false NOT NULL,
  created_by jsonb,
  updated_by jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT tasks_pkey PRIMARY KEY (id),
  CONSTRAINT tasks_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queues(id) ON DELETE SET NULL,
  CONSTRAINT tasks_version_id_fkey FOREIGN KEY (version_id) REFERENCES chain_versions(id),
  CONSTRAINT tasks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT tasks_check CHECK (
CASE kind
    WHEN 'delayed'::text THEN status = ANY (ARRAY['pending'::text, 'finished'::text, 'cancelled'::text])
    ELSE status = ANY (ARRAY['active'::text, 'paused'::text])
END),
  CONSTRAINT tasks_check1 CHECK (
CASE kind
    WHEN 'chain'::text THEN version_id IS NOT NULL
    ELSE url IS NOT NULL
END),
  CONSTRAINT tasks_check2 CHECK (next_fire_at IS NULL OR status = 'active'::text AND schedule IS NOT NULL),
  CONSTRAINT tasks_check3 CHECK ((kind = 'delayed'::text) = (run_at IS NOT NULL)),
  CONSTRAINT tasks_check4 CHECK (queue_id IS NULL OR flow IS NULL),
  CONSTRAINT tasks_dst_overlap_check CHECK (dst_overlap = ANY (ARRAY['first'::text, 'both'::text])),
  CONSTRAINT tasks_kind_check CHECK (kind = ANY (ARRAY['cron'::text, 'delayed'::text, 'chain'::text])),
  CONSTRAINT tasks_missed_check CHECK (missed = ANY (ARRAY['skip'::text, 'once'::text, 'all'::text])),
  CONSTRAINT tasks_overlap_check CHECK (overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue'::text]))
) WITH (fillfactor=80);
CREATE INDEX tasks_by_next_fire ON tasks USING btree (next_fire_at, lane) WHERE next_fire_at IS NOT NULL;
CREATE INDEX tasks_by_owner ON tasks USING btree (workspace_id, owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_by_queue ON tasks USING btree (queue_id) WHERE queue_id IS NOT NULL;
CREATE INDEX tasks_by_secrets ON tasks USING btree (workspace_id) WHERE secret_names IS NOT NULL;
CREATE INDEX tasks_by_version ON tasks USING btree (version_id) WHERE version_id IS NOT NULL;
CREATE INDEX tasks_by_workspace ON tasks USING btree (workspace_id, kind, id DESC);
CREATE INDEX tasks_pending ON tasks USING btree (workspace_id, id DESC) WHERE status = 'pending'::text;
CREATE INDEX tasks_upcoming ON tasks USING btree (workspace_id, COALESCE(next_fire_at, run_at)) WHERE next_fire_at IS NOT NULL OR status = 'pending'::text;
CREATE INDEX tasks_with_ending_options ON tasks USING btree (id) WHERE ending_options IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_key ON tasks USING btree (workspace_id, kind, key) WHERE key IS NOT NULL;
CREATE TRIGGER tasks_call_deleted AFTER DELETE ON public.tasks FOR EACH ROW WHEN (((old.kind = 'cron'::text) AND (old.method IS NOT NULL))) EXECUTE FUNCTION keep_replaced_call();
CREATE TRIGGER tasks_call_replaced AFTER UPDATE OF method, url, headers, body, call_options ON public.tasks FOR EACH ROW WHEN (((old.method IS NOT NULL) AND (((((old.method IS DISTINCT FROM new.method) OR (old.url IS DISTINCT FROM new.url)) OR (old.headers IS DISTINCT FROM new.headers)) OR (old.body IS DISTINCT FROM new.body)) OR ((old.call_options -> 'auth'::text) IS DISTINCT FROM (new.call_options -> 'auth'::text))))) EXECUTE FUNCTION keep_replaced_call();
CREATE TRIGGER tasks_dependencies_removed AFTER DELETE ON public.tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_dependencies();
CREATE TRIGGER tasks_found AFTER INSERT ON public.tasks FOR EACH ROW WHEN (((new.kind <> 'delayed'::text) OR (new.name IS NOT NULL) OR (new.key IS NOT NULL))) EXECUTE FUNCTION keep_search_entry_of_tasks();
CREATE TRIGGER tasks_found_again AFTER UPDATE OF name, key, tags, url, version_id ON public.tasks FOR EACH ROW WHEN ((((new.kind <> 'delayed'::text) OR (new.name IS NOT NULL) OR (new.key IS NOT NULL)) AND ((old.name IS DISTINCT FROM new.name) OR (old.key IS DISTINCT FROM new.key) OR (old.tags IS DISTINCT FROM new.tags) OR (old.url IS DISTINCT FROM new.url) OR (old.version_id IS DISTINCT FROM new.version_id)))) EXECUTE FUNCTION keep_search_entry_of_tasks();
CREATE TRIGGER tasks_lane BEFORE INSERT ON public.tasks FOR EACH ROW EXECUTE FUNCTION lane_of_workspace();
CREATE TRIGGER tasks_not_found AFTER DELETE ON public.tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();
CREATE TRIGGER tasks_versions_removed AFTER DELETE ON public.tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions();

CREATE TABLE totp (
  user_id uuid NOT NULL,
  sealed_secret text NOT NULL,
  last_step bigint DEFAULT 0 NOT NULL,
  confirmed_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT totp_pkey PRIMARY KEY (user_id),
  CONSTRAINT totp_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE uptime_buckets (
  monitor_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  seconds integer NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  checks integer DEFAULT 0 NOT NULL,
  failed_checks integer DEFAULT 0 NOT NULL,
  down_ms double precision DEFAULT 0 NOT NULL,
  unwatched_ms double precision DEFAULT 0 NOT NULL,
  latencies integer[],
  CONSTRAINT uptime_buckets_pkey PRIMARY KEY (monitor_id, seconds, starts_at)
) WITH (fillfactor=80);
CREATE INDEX uptime_buckets_by_time ON uptime_buckets USING btree (seconds, starts_at);

CREATE TABLE usage_days (
  workspace_id uuid NOT NULL,
  day date NOT NULL,
  executions bigint DEFAULT 0 NOT NULL,
  notifications bigint DEFAULT 0 NOT NULL,
  most_seats integer,
  last_seats integer,
  most_monitors integer,
  last_monitors integer,
  CONSTRAINT usage_days_pkey PRIMARY KEY (workspace_id, day)
) WITH (fillfactor=80);
CREATE INDEX usage_days_by_day ON usage_days USING btree (day);

CREATE TABLE used_challenges (
  challenge_hash text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT used_challenges_pkey PRIMARY KEY (challenge_hash)
);
CREATE INDEX used_challenges_by_expiry ON used_challenges USING btree (expires_at);

CREATE TABLE user_links (
  user_id uuid NOT NULL,
  purpose text NOT NULL,
  token_hash text NOT NULL,
  mailed boolean DEFAULT false NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT user_links_pkey PRIMARY KEY (user_id, purpose),
  CONSTRAINT user_links_token_hash_key UNIQUE (token_hash),
  CONSTRAINT user_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT user_links_purpose_check CHECK (purpose = ANY (ARRAY['password reset'::text, 'email'::text, 'sign in'::text]))
);

CREATE TABLE users (
  id uuid NOT NULL,
  workspace_id uuid,
  email text,
  email_verified_at timestamp with time zone,
  pending_email text,
  name text,
  password_hash text,
  has_password boolean DEFAULT true NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT users_check CHECK ((email IS NULL) = (workspace_id IS NOT NULL)),
  CONSTRAINT users_check1 CHECK ((password_hash IS NULL) = (workspace_id IS NOT NULL))
);
CREATE INDEX users_by_workspace ON users USING btree (workspace_id, id DESC) WHERE workspace_id IS NOT NULL;

CREATE TABLE worker_tokens (
  token_hash text NOT NULL,
  worker_id uuid NOT NULL,
  token_prefix text NOT NULL,
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT worker_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT worker_tokens_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES workers(id) ON DELETE CASCADE
);
CREATE INDEX worker_tokens_by_worker ON worker_tokens USING btree (worker_id, created_at DESC);

CREATE TABLE workers (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  labels text[] NOT NULL,
  paused boolean DEFAULT false NOT NULL,
  node_id integer,
  offered_labels text[],
  seen_at timestamp with time zone,
  version text,
  host text,
  slots integer,
  missed_at timestamp with time zone,
  is_missed boolean DEFAULT false NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT workers_pkey PRIMARY KEY (id),
  CONSTRAINT workers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) WITH (fillfactor=90);
CREATE INDEX workers_by_workspace ON workers USING btree (workspace_id, id DESC);
CREATE INDEX workers_missed ON workers USING btree (missed_at) WHERE missed_at IS NOT NULL;
CREATE UNIQUE INDEX workers_by_node ON workers USING btree (node_id) WHERE node_id IS NOT NULL;
CREATE TRIGGER workers_found AFTER INSERT ON public.workers FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_workers();
CREATE TRIGGER workers_found_again AFTER UPDATE OF name, labels ON public.workers FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.labels IS DISTINCT FROM new.labels))) EXECUTE FUNCTION keep_search_entry_of_workers();
CREATE TRIGGER workers_not_found AFTER DELETE ON public.workers REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries();

CREATE TABLE workspaces (
  id uuid NOT NULL,
  name text NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT workspaces_pkey PRIMARY KEY (id)
);
