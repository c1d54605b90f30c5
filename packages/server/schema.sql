-- Made from the migrations by `npm run generate`; not run by anything.

CREATE OR REPLACE FUNCTION public.lane_of_workspace()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      NEW.lane := coalesce((SELECT lane FROM workspaces WHERE id = NEW.workspace_id), 0);
      RETURN NEW;
    END
    $function$;

CREATE OR REPLACE FUNCTION public.time_of_id(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(((((('x'::text || replace("left"((id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::double precision / (1000)::double precision));

CREATE TABLE api_keys (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  key_hash text NOT NULL,
  key_prefix text NOT NULL,
  scopes text[] NOT NULL,
  created_by uuid,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) WITH (fillfactor=90);
CREATE INDEX api_keys_by_workspace ON api_keys USING btree (workspace_id, id DESC);

CREATE TABLE attempts (
  execution_id uuid NOT NULL,
  number integer NOT NULL,
  workspace_id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  status_code integer,
  response_body text,
  error text,
  CONSTRAINT attempts_pkey PRIMARY KEY (execution_id, number)
) PARTITION BY RANGE (execution_id);

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
  target_id text,
  ip text,
  request_id text,
  details jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_by_user ON audit_events USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_by_workspace ON audit_events USING btree (workspace_id, id DESC);

CREATE TABLE chain_steps (
  version_id uuid NOT NULL,
  step_index smallint NOT NULL,
  name text NOT NULL,
  run_if text NOT NULL,
  method text NOT NULL,
  url text NOT NULL,
  headers jsonb NOT NULL,
  body text,
  timeout_seconds integer NOT NULL,
  retry_count integer NOT NULL,
  uses smallint[] NOT NULL,
  weight integer NOT NULL,
  CONSTRAINT chain_steps_pkey PRIMARY KEY (version_id, step_index),
  CONSTRAINT chain_steps_version_id_fkey FOREIGN KEY (version_id) REFERENCES chain_versions(id) ON DELETE CASCADE
);

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

CREATE TABLE execution_stats (
  workspace_id uuid NOT NULL,
  task_id uuid,
  hour timestamp with time zone NOT NULL,
  id_hour timestamp with time zone NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  cancelled integer NOT NULL,
  skipped integer NOT NULL,
  durations smallint[] NOT NULL,
  duration_counts integer[] NOT NULL,
  latenesses smallint[] NOT NULL,
  lateness_counts integer[] NOT NULL
);
CREATE INDEX execution_stats_by_hour ON execution_stats USING brin (hour);
CREATE INDEX execution_stats_by_task ON execution_stats USING btree (workspace_id, task_id, hour);

CREATE TABLE execution_stats_progress (
  rolled_up_to timestamp with time zone NOT NULL
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
  status text NOT NULL,
  scheduled_for timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone NOT NULL,
  lateness_ms bigint,
  duration_ms bigint,
  attempts_count integer NOT NULL,
  status_code integer,
  error text,
  recorded_at timestamp with time zone DEFAULT now() NOT NULL,
  late boolean GENERATED ALWAYS AS (((recorded_at - time_of_id(id)) >= '01:00:00'::interval)) STORED NOT NULL,
  CONSTRAINT executions_pkey PRIMARY KEY (id),
  CONSTRAINT executions_status_check CHECK (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'skipped'::text]))
) PARTITION BY RANGE (id);
CREATE INDEX executions_by_chain_run ON ONLY executions USING btree (chain_run_id) WHERE chain_run_id IS NOT NULL;
CREATE INDEX executions_by_kind ON ONLY executions USING btree (workspace_id, kind, id DESC);
CREATE INDEX executions_by_task ON ONLY executions USING btree (workspace_id, task_id, id DESC);
CREATE INDEX executions_by_workspace ON ONLY executions USING btree (workspace_id, id DESC);
CREATE INDEX executions_chain_runs ON ONLY executions USING btree (task_id, id DESC) WHERE id = chain_run_id;
CREATE INDEX executions_late ON ONLY executions USING btree (workspace_id, scheduled_for) WHERE late;
CREATE INDEX executions_unsuccessful ON ONLY executions USING btree (workspace_id, status, id DESC) WHERE status <> 'succeeded'::text;

CREATE TABLE idempotent_requests (
  owner_id uuid NOT NULL,
  caller_id uuid NOT NULL,
  operation text NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  sealed_answer text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotent_requests_pkey PRIMARY KEY (owner_id, caller_id, operation, key)
);
CREATE INDEX idempotent_requests_by_age ON idempotent_requests USING btree (created_at);

CREATE TABLE login_throttle (
  subject text NOT NULL,
  failures integer NOT NULL,
  attempts integer NOT NULL,
  window_ends_at timestamp with time zone NOT NULL,
  CONSTRAINT login_throttle_pkey PRIMARY KEY (subject)
);
CREATE INDEX login_throttle_by_end ON login_throttle USING btree (window_ends_at);

CREATE TABLE memberships (
  user_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (user_id, workspace_id),
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT memberships_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT memberships_role_check CHECK (role = 'owner'::text)
);
CREATE INDEX memberships_by_workspace ON memberships USING btree (workspace_id);

CREATE TABLE nodes (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  holds_lock boolean NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  suspected_at timestamp with time zone,
  died_at timestamp with time zone,
  started_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT nodes_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

CREATE TABLE removed_workspaces (
  id uuid NOT NULL,
  CONSTRAINT removed_workspaces_pkey PRIMARY KEY (id)
);

CREATE TABLE runs (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  task_id uuid NOT NULL,
  kind text NOT NULL,
  trigger text NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  chain_run_id uuid,
  step_index smallint,
  step text,
  version_id uuid,
  after_failure boolean,
  slot_at timestamp with time zone,
  scheduled_for timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  state text DEFAULT 'queued'::text NOT NULL,
  waiting boolean DEFAULT false NOT NULL,
  cancel_requested boolean DEFAULT false NOT NULL,
  attempt integer DEFAULT 1 NOT NULL,
  lost integer DEFAULT 0 NOT NULL,
  lease_owner integer,
  started_at timestamp with time zone,
  attempt_started_at timestamp with time zone,
  status_code integer,
  error text,
  ordinal bigint NOT NULL,
  CONSTRAINT runs_pkey PRIMARY KEY (workspace_id, id),
  CONSTRAINT runs_task_id_slot_at_key UNIQUE (task_id, slot_at),
  CONSTRAINT runs_state_check CHECK (state = ANY (ARRAY['queued'::text, 'running'::text]))
) WITH (fillfactor=60, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=5000);
CREATE INDEX runs_by_chain_run ON runs USING btree (chain_run_id) WHERE chain_run_id IS NOT NULL;
CREATE INDEX runs_by_due ON runs USING btree (date_bin('00:00:01'::interval, due_at, '1970-01-01 00:00:00+00'::timestamp with time zone), lane) WHERE lease_owner IS NULL AND NOT waiting;
CREATE INDEX runs_by_owner ON runs USING btree (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX runs_to_cancel ON runs USING btree (lease_owner) WHERE cancel_requested;
CREATE INDEX runs_waiting ON runs USING btree (task_id, id) WHERE waiting;

CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  user_agent text,
  ip text,
  generation integer DEFAULT 1 NOT NULL,
  rotated_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
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

CREATE TABLE stops (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  up_to bigint DEFAULT nextval('runs_ordinal_seq'::regclass) NOT NULL,
  CONSTRAINT stops_pkey PRIMARY KEY (id)
);

CREATE TABLE tasks (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  kind text NOT NULL,
  name text,
  status text NOT NULL,
  method text,
  url text,
  headers jsonb,
  body text,
  timeout_seconds integer,
  retry_count integer,
  version_id uuid,
  steps_bytes integer,
  bytes integer GENERATED ALWAYS AS (((COALESCE(octet_length(body), 0) + COALESCE(octet_length((headers)::text), 0)) + COALESCE(steps_bytes, 0))) STORED NOT NULL,
  schedule text,
  timezone text,
  overlap text,
  missed text,
  dst_overlap text,
  next_fire_at timestamp with time zone,
  fired_until timestamp with time zone,
  lane bigint NOT NULL,
  run_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT tasks_pkey PRIMARY KEY (id),
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
  CONSTRAINT tasks_dst_overlap_check CHECK (dst_overlap = ANY (ARRAY['first'::text, 'both'::text])),
  CONSTRAINT tasks_kind_check CHECK (kind = ANY (ARRAY['cron'::text, 'delayed'::text, 'chain'::text])),
  CONSTRAINT tasks_missed_check CHECK (missed = ANY (ARRAY['skip'::text, 'once'::text])),
  CONSTRAINT tasks_overlap_check CHECK (overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue'::text]))
) WITH (fillfactor=80);
CREATE INDEX tasks_by_next_fire ON tasks USING btree (next_fire_at, lane) WHERE next_fire_at IS NOT NULL;
CREATE INDEX tasks_by_version ON tasks USING btree (version_id) WHERE version_id IS NOT NULL;
CREATE INDEX tasks_by_workspace ON tasks USING btree (workspace_id, kind, id DESC);
CREATE INDEX tasks_pending ON tasks USING btree (workspace_id, id DESC) WHERE status = 'pending'::text;
CREATE TRIGGER tasks_lane BEFORE INSERT ON public.tasks FOR EACH ROW EXECUTE FUNCTION lane_of_workspace();

CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text,
  password_hash text NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE workspaces (
  id uuid NOT NULL,
  name text NOT NULL,
  lane bigint DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT workspaces_pkey PRIMARY KEY (id)
);
