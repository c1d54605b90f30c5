import { firstIdAt } from "../../src/engine/RunId.ts"
import { checkValueOf, testSecret } from "./testSecret.ts"

const id = (n: number) => `'00000000-0000-7000-8000-${String(n).padStart(12, "0")}'`

const user = id(1)
const workspace = id(2)
const guest = id(3)
const tool = id(4)
const cron = id(10)
const chain = id(11)
const delayed = id(12)
const version = id(13)
const run = id(14)
const key = id(20)
const heartbeat = id(30)
const ssl = id(31)
const checked = id(36)
const proc = id(32)
const incident = id(33)
const channel = id(40)
const delivery = id(41)
const worker = id(50)
const queue = id(60)

/** Text that a careless copy would change: quotes, line breaks and non-ASCII characters. */
const odd = String.raw`E'O''Neil \\ "quoted", {braces} (and more)\n\ttab — ünïcödé 🎉 '`
const json = String.raw`'{"n": 12345678901234567890.1234567890, "nothing": null, "text": "a\\b \"c\" 🎉", "list": [1, null]}'`
const array = `ARRAY['a,b', '', 'NULL', NULL, '{}', E'"\\\\ ']`

/**
 * Returns statements that insert at least one row into each table, with extreme values for the
 * column types. The history is on the day that contains `at`. The tests that move and upgrade data
 * fail if a table is missing.
 */
export const rowsForAllTables = (at: Date): ReadonlyArray<string> => {
  const ms = Math.floor(at.getTime() / 86_400_000) * 86_400_000
  const execution = (n: number) => `'${firstIdAt(ms).slice(0, -12)}${String(n).padStart(12, "0")}'`
  const t = `'${new Date(ms).toISOString().slice(0, 10)} 01:02:03.456789+00'`
  return [
    `INSERT INTO app_secret (check_value) VALUES ('${checkValueOf(testSecret)}')`,
    `INSERT INTO users (id, email, name, password_hash, lane, created_at, disabled_at, email_verified_at, pending_email)
     VALUES (${user}, 'every@example.com', ${odd}, '$argon2id$', -9007199254740993, ${t}, NULL, ${t}, 'new@example.com'),
            (${guest}, 'guest@example.com', NULL, '', 0, ${t}, ${t}, NULL, NULL)`,
    `INSERT INTO workspaces (id, name, lane, created_at) VALUES (${workspace}, ${odd}, 7, ${t})`,
    `INSERT INTO users (id, workspace_id, name, lane, created_at)
     VALUES (${tool}, ${workspace}, ${odd}, 7, ${t})`,
    `INSERT INTO service_accounts (user_id, secret_hash, secret_prefix, old_secret_hash, old_secret_expires_at, last_used_at, created_by)
     VALUES (${tool}, 'k3', 'psk_1', 'k4', ${t}, ${t}, ${user})`,
    `INSERT INTO memberships (user_id, workspace_id, role, created_at)
     VALUES (${user}, ${workspace}, 'owner', ${t})`,
    `INSERT INTO invitations (id, workspace_id, email, role, token_hash, invited_by, expires_at, created_at)
     VALUES (${id(6)}, ${workspace}, 'invited@example.com', 'viewer', 'h1', ${user}, ${t}, ${t})`,
    `INSERT INTO sessions (id, user_id, user_agent, ip, generation, rotated_at, expires_at, created_at)
     VALUES (${id(5)}, ${user}, ${odd}, '::1', 3, ${t}, ${t}, ${t})`,
    `INSERT INTO provider_sessions (session_id, sealed_token, checked_at)
     VALUES (${id(5)}, 'k.sealed', ${t})`,
    `INSERT INTO identities (issuer, subject, user_id, created_at)
     VALUES ('https://id.example.com', ${odd}, ${user}, ${t})`,
    `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, last_used_at, created_at)
     VALUES (${id(29)}, ${user}, ${odd}, 'credential', 'key', 4294967295, ${t}, ${t})`,
    `INSERT INTO used_challenges (challenge_hash, expires_at) VALUES ('h', ${t})`,
    `INSERT INTO totp (user_id, sealed_secret, last_step, confirmed_at, created_at)
     VALUES (${user}, 'k.sealed', 9223372036854775807, ${t}, ${t})`,
    `INSERT INTO recovery_codes (user_id, code_hash) VALUES (${user}, 'c1'), (${user}, 'c2')`,
    `INSERT INTO user_links (user_id, purpose, token_hash, expires_at, mailed)
     VALUES (${user}, 'password reset', 'l1', ${t}, true)`,
    `INSERT INTO login_throttle (subject, failures, attempts, window_ends_at)
     VALUES ('every', 1, 2, ${t})`,
    `INSERT INTO idempotent_requests (owner_id, principal_id, operation, key, request_hash, sealed_answer, created_at)
     VALUES (${workspace}, ${user}, 'cron.create', ${odd}, 'h', NULL, ${t})`,
    `INSERT INTO api_keys (id, workspace_id, name, key_hash, key_prefix, scopes, created_by, expires_at, created_at, allowed_ips, warn_at)
     VALUES (${key}, ${workspace}, ${odd}, 'k1', 'sk_1', ARRAY['tasks:read', 'tasks:write'], ${user}, ${t}, ${t}, ${array}, ${t}),
            (${id(21)}, ${workspace}, '', 'k2', 'sk_2', '{}', NULL, NULL, ${t}, NULL, NULL)`,
    `INSERT INTO api_key_uses (api_key_id, kind, what, last_used_at)
     VALUES (${key}, 'scope', 'tasks:read', ${t})`,
    `INSERT INTO signing_secrets (id, workspace_id, sealed_secret, expires_at, created_at)
     VALUES (${id(22)}, ${workspace}, 'k.sealed', ${t}, ${t})`,
    `INSERT INTO secrets (id, workspace_id, name, description, allowed_hosts, sealed_value, value_set_at, created_at, updated_at)
     VALUES (${id(25)}, ${workspace}, 'API_TOKEN', ${odd}, '{api.example.com}', 'k.sealed', ${t}, ${t}, ${t})`,
    `INSERT INTO access_tokens (workspace_id, id, sealed_token, obtained_at, usable_until, asking_until, error)
     VALUES (${workspace}, 'hash', 'k.sealed', ${t}, ${t}, ${t}, ${odd})`,
    `INSERT INTO audit_head (ordinal, hash, at, mac) VALUES (1, 'h', ${t}, 'k.m')`,
    `INSERT INTO definition_versions (subject_id, version, workspace_id, replaced, shown, bytes, updated_by, updated_at)
     VALUES (${id(26)}, 1, ${workspace}, ${json}, ${json}, 9, ${json}, ${t})`,
    `INSERT INTO audit_erasures (owner_id) VALUES (${id(23)})`,
    `INSERT INTO audit_events (id, action, workspace_id, user_id, actor_id, subject_id, ip, request_id, details, created_at, ordinal, previous_hash, previous_at, details_salt, details_hash, hash, mac)
     VALUES (${id(24)}, 'workspace.created', ${workspace}, NULL, ${user}, ${odd}, '::1', 'r', ${json}, ${t}, 1, NULL, NULL, 's', 'd', 'h', 'k.m')`,
    `INSERT INTO fired_ahead (until) VALUES (${t})`,
    `INSERT INTO billing_events (id, received_at) VALUES ('evt_1', ${t})`,
    `INSERT INTO subscriptions (workspace_id, customer_id, subscription_id, status, period_end, sync_at)
     VALUES (${workspace}, 'cus_1', 'sub_1', 'active', ${t}, ${t})`,
    `INSERT INTO usage_days (workspace_id, day, executions, notifications, most_seats, last_seats, most_monitors, last_monitors)
     VALUES (${workspace}, '2026-01-31', 9007199254740993, 1, 2, NULL, 3, 2)`,
    `INSERT INTO quota_notices (workspace_id, quota, since, percent)
     VALUES (${workspace}, 'executions_a_month', '2026-01-01', 80)`,
    `INSERT INTO chain_versions (id, workspace_id, chain_id, replaced_at)
     VALUES (${version}, ${workspace}, ${chain}, NULL)`,
    `INSERT INTO chain_steps (version_id, step_index, name, run_if, method, url, headers, body, timeout_seconds, retry_count, run_on, uses, weight)
     VALUES (${version}, 0, 'first', 'always', 'GET', 'https://example.com/', ${json}, ${odd}, 30, 0, '["a"]', '{}', 10),
            (${version}, 1, 'second', 'success', 'POST', 'https://example.com/', 'null', NULL, 30, 0, NULL, '{0}', 10)`,
    `INSERT INTO status_pages (id, workspace_id, slug, title, description, published, sealed_password, groups, notices, created_by, updated_by, created_at, updated_at)
     VALUES (${id(70)}, ${workspace}, 'every-page', ${odd}, ${odd}, true, 'k.sealed', ${json}, ${json}, ${json}, NULL, ${t}, ${t})`,
    `INSERT INTO queues (id, workspace_id, key, name, max_concurrency, rate_per_second, paused, next_at, held_until, created_at, updated_at)
     VALUES (${queue}, ${workspace}, 'q', ${odd}, 2, 0.1, true, ${t}, ARRAY[${t}]::timestamptz[], ${t}, ${t})`,
    `INSERT INTO queues (id, flow_workspace_id, flow_key, name, max_concurrency, fifo, next_at, created_at, updated_at)
     VALUES ('f0000000-0000-0000-0000-000000000001', ${workspace}, ${odd}, '', 1, true, ${t}, ${t}, ${t})`,
    `INSERT INTO tasks (id, workspace_id, kind, key, name, status, method, url, headers, body, timeout_seconds, retry_count, version_id, steps_bytes, schedule, timezone, overlap, missed, dst_overlap, next_fire_at, fired_until, lane, run_at, created_at, updated_at)
     VALUES (${cron}, ${workspace}, 'cron', 'k', ${odd}, 'active', 'POST', 'https://example.com/', ${json}, ${odd}, 30, 3, NULL, NULL, '0 0 1 1 *', 'Europe/Berlin', 'queue', 'once', 'first', '2999-01-01', ${t}, 7, NULL, ${t}, ${t}),
            (${chain}, ${workspace}, 'chain', NULL, NULL, 'paused', NULL, NULL, NULL, NULL, NULL, NULL, ${version}, 99, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, NULL, ${t}, ${t}),
            (${delayed}, ${workspace}, 'delayed', NULL, '', 'finished', 'GET', 'https://example.com/', 'null', '', 30, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, ${t}, ${t}, ${t})`,
    `INSERT INTO task_triggers (task_id, workspace_id, token_hash, sealed_token, sender, sealed_secret, created_at)
     VALUES (${cron}, ${workspace}, 'tt1', 'k.sealed', 'github', 'k.sealed', ${t}),
            (${chain}, ${workspace}, 'tt2', 'k.sealed', NULL, NULL, ${t})`,
    `INSERT INTO calendars (id, workspace_id, url, days, fetched_at, error, check_at, used_at)
     VALUES (${id(17)}, ${workspace}, 'https://example.com/', '["2026-12-24"]', ${t}, ${odd}, ${t}, ${t})`,
    `INSERT INTO plan_pauses (task_id, workspace_id, paused_at) VALUES (${chain}, ${workspace}, ${t})`,
    `INSERT INTO runs (workspace_id, id, task_id, kind, trigger, lane, scheduled_for, due_at, slot_at, attempt, lost, started_at, attempt_started_at, run_on, worker_wait_seconds, queue_id, state, ordinal)
     VALUES (${workspace}, ${run}, ${cron}, 'cron', 'schedule', 7, '2999-01-01', '2999-01-01 00:00:00.000001+00', '2999-01-01', 2, 1, ${t}, ${t}, '["a"]', 300, ${queue}, 'parked', nextval('runs_ordinal_seq'))`,
    `INSERT INTO runs (workspace_id, id, task_id, kind, trigger, lane, scheduled_for, due_at, state, started_at, attempt_started_at, status_code, awaiting_since, completes_by, called_by, exchange, ordinal)
     VALUES (${workspace}, ${id(17)}, ${cron}, 'cron', 'manual', 7, ${t}, ${t}, 'awaiting', ${t}, ${t}, 202, ${t}, '2999-01-01', 1, ',,,4', nextval('runs_ordinal_seq'))`,
    `INSERT INTO progress (execution_id, workspace_id, lines)
     VALUES (${execution(1)}, ${workspace}, ${json})`,
    `INSERT INTO run_inputs (id, workspace_id, input)
     VALUES (${execution(1)}, ${workspace}, ${json})`,
    `INSERT INTO replaced_calls (task_id, replaced_at, workspace_id, method, url, headers, body)
     VALUES (${cron}, ${t}, ${workspace}, 'POST', 'https://example.com/', ${json}, ${odd})`,
    `INSERT INTO stops (id, workspace_id) VALUES (${id(15)}, ${workspace})`,
    `INSERT INTO stopped_workspaces (workspace_id, stopped_at) VALUES (${workspace}, ${t})`,
    `INSERT INTO executions (id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, flow_key, status, scheduled_for, started_at, finished_at, lateness_ms, duration_ms, attempts_count, attempt_started_at, status_code, response_body, error, node, worker_id, exchange)
     VALUES (${execution(1)}, ${workspace}, ${cron}, 'cron', 'schedule', NULL, NULL, NULL, ${odd}, 'succeeded', ${t}, ${t}, ${t}, -1, 9007199254740993, 2, ${t}, 200, ${odd}, NULL, 1, ${worker}, ',,,4'),
            (${execution(2)}, ${workspace}, ${chain}, 'chain', 'manual', ${execution(2)}, 0, 'first', NULL, 'skipped', '1999-01-01', NULL, ${t}, NULL, NULL, 0, NULL, NULL, NULL, ${odd}, NULL, NULL, NULL)`,
    `INSERT INTO earlier_attempts (execution_id, number, workspace_id, started_at, finished_at, status_code, response_body, error, node, exchange)
     VALUES (${execution(1)}, 1, ${workspace}, ${t}, NULL, 503, ${odd}, 'http_status: responded with 503', 1, ${odd})`,
    `INSERT INTO execution_stats (workspace_id, task_id, hour, succeeded, failed, cancelled, skipped, durations, duration_counts, latenesses, lateness_counts)
     VALUES (${workspace}, NULL, '2026-01-01 05:00:00+00', 1, 2, 3, 4, '{1,-2}', '{3,4}', '{}', '{}')`,
    `INSERT INTO task_buckets (workspace_id, task_id, seconds, starts_at, succeeded, failed, cancelled, skipped, durations, duration_counts)
     VALUES (${workspace}, ${cron}, 300, '2026-01-01 05:05:00+00', 1, 2, 3, 4, '{1,-2}', '{3,4}')`,
    `INSERT INTO removed_workspaces (id) VALUES (${id(16)})`,
    `INSERT INTO workers (id, workspace_id, name, labels, offered_labels, seen_at, version, host, slots, created_at, updated_at)
     VALUES (${worker}, ${workspace}, ${odd}, ${array}, NULL, ${t}, '1.0.0', 'host', 4, ${t}, ${t})`,
    `INSERT INTO worker_tokens (token_hash, worker_id, token_prefix, expires_at, created_at)
     VALUES ('t1', ${worker}, 'pwk_1', NULL, ${t})`,
    `INSERT INTO nodes (holds_lock, worker_id, lease_until, died_at, started_at)
     VALUES (true, NULL, 'infinity', ${t}, ${t})`,
    `INSERT INTO absences (began_at, ended_at) VALUES (${t}, ${t}), (${t}, NULL)`,
    `INSERT INTO monitors (id, workspace_id, kind, key, name, tags, status, changed_at, open_incident_id, created_at, updated_at)
     VALUES (${heartbeat}, ${workspace}, 'heartbeat', 'k', ${odd}, ${array}, 'down', ${t}, ${incident}, ${t}, ${t}),
            (${ssl}, ${workspace}, 'ssl', NULL, 'ssl', '{}', 'paused', ${t}, NULL, ${t}, ${t}),
            (${proc}, ${workspace}, 'process', 'k', 'process', '{}', 'paused', ${t}, NULL, ${t}, ${t}),
            (${checked}, ${workspace}, 'http', 'k', 'http', '{}', 'paused', ${t}, NULL, ${t}, ${t})`,
    `INSERT INTO heartbeats (monitor_id, workspace_id, version, period_seconds, schedule, timezone, grace_seconds, last_ping_at, last_duration_ms, runs)
     VALUES (${heartbeat}, ${workspace}, 4, 60, NULL, 'UTC', 30, ${t}, 9007199254740993, ${json})`,
    `INSERT INTO ping_urls (monitor_id, workspace_id, ping_hash, sealed_ping_id)
     VALUES (${heartbeat}, ${workspace}, 'p1', 'k.sealed')`,
    `INSERT INTO ping_keys (workspace_id, key_hash, sealed_key, created_at)
     VALUES (${workspace}, 'pk1', 'k.sealed', ${t})`,
    `INSERT INTO ssl_monitors (monitor_id, workspace_id, host, port, protocol, warn_days, check_interval_seconds, last_check_at, certificate, seen)
     VALUES (${ssl}, ${workspace}, 'example.com', 443, 'tls', '{30,7,1}', 3600, ${t}, ${json}, '[]')`,
    `INSERT INTO checked_monitors (monitor_id, workspace_id, interval_seconds, timeout_seconds, confirm_after, recover_after, target, secret_names, last_check, recorded_at)
     VALUES (${checked}, ${workspace}, 60, 10, 2, 1, ${json}, ${array}, ${json}, ${t})`,
    `INSERT INTO monitor_places (monitor_id, place, workspace_id, labels, round, worker_id, is_open, ends_at, status, reason, checked_at, last_check)
     VALUES (${checked}, 0, ${workspace}, ${json}, 1, ${worker}, false, ${t}, 'down', 'x', ${t}, ${json})`,
    `INSERT INTO process_monitors (monitor_id, workspace_id, worker_id, labels, judge, match, min_count, max_rss_bytes, max_cpu_percent, interval_seconds, grace_seconds, since)
     VALUES (${proc}, ${workspace}, NULL, ${array}, 'together', ${json}, 1, 9007199254740993, 0.1, 30, 60, ${t})`,
    `INSERT INTO process_reports (monitor_id, worker_id, workspace_id, reported_at, report, failing_since, failing)
     VALUES (${proc}, ${worker}, ${workspace}, ${t}, 'null', ${t}, ${json})`,
    `INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
     VALUES (${execution(3)}, ${workspace}, ${heartbeat}, 'ping', 'up', ${t}, ${json})`,
    `INSERT INTO uptime_buckets (monitor_id, workspace_id, seconds, starts_at, checks, failed_checks, down_ms, unwatched_ms, latencies)
     VALUES (${checked}, ${workspace}, 300, ${t}, 5, 1, 0.1, 9007199254740993, '{1,0,4}')`,
    `INSERT INTO removed_monitors (monitor_id) VALUES (${id(34)})`,
    `INSERT INTO incidents (id, workspace_id, subject_kind, subject_id, subject_name, monitor_id, opened_at, cause_code, cause_message, certificate_expires_at, acknowledged_by, acknowledged_at, snoozed_until, suppressed_by)
     VALUES (${incident}, ${workspace}, 'heartbeat', ${heartbeat}, ${odd}, ${heartbeat}, ${t}, 'missing', ${odd}, ${t}, ${user}, ${t}, ${t}, ${id(37)})`,
    `INSERT INTO dependencies (workspace_id, subject_kind, subject_id, on_kind, on_id)
     VALUES (${workspace}, 'cron', ${cron}, 'heartbeat', ${heartbeat})`,
    `INSERT INTO maintenance_windows (id, workspace_id, key, name, starts_at, ends_at, schedule, timezone, duration_seconds, everything, tags, monitor_ids, task_ids, created_by, updated_by, created_at, updated_at)
     VALUES (${id(36)}, ${workspace}, 'upgrade', ${odd}, ${t}, ${t}, NULL, 'UTC', NULL, false, ${array}, ARRAY[${heartbeat}]::uuid[], '{}', ${json}, NULL, ${t}, ${t})`,
    `INSERT INTO incident_actions (id, incident_id, workspace_id, at, type, actor, message, until)
     VALUES (${id(35)}, ${incident}, ${workspace}, ${t}, 'note', ${json}, ${odd}, NULL)`,
    `INSERT INTO notification_channels (id, workspace_id, key, name, kind, config, sealed_secrets, by_membership, created_at, updated_at)
     VALUES (${channel}, ${workspace}, 'k', ${odd}, 'webhook', ${json}, 'k.sealed', true, ${t}, ${t})`,
    `INSERT INTO notification_refusals (workspace_id, address_hash, refused_at, asked_at)
     VALUES (${workspace}, 'a1', ${t}, NULL)`,
    `INSERT INTO notification_deliveries (id, workspace_id, lane, channel_id, channel_kind, status, begun, ended, other, shown, subjects, incident_key, mergeable, due_at, give_up_at, created_at)
     VALUES (${delivery}, ${workspace}, 7, ${channel}, 'webhook', 'failed', 1, 0, 0, ${json}, ARRAY[${heartbeat}]::uuid[], NULL, false, ${t}, ${t}, ${t})`,
    `INSERT INTO notification_attempts (delivery_id, number, started_at, finished_at, status_code, response_body, error)
     VALUES (${delivery}, 1, ${t}, ${t}, 500, ${odd}, NULL)`,
    `INSERT INTO notification_settings (workspace_id, version, settings, updated_at)
     VALUES (${workspace}, 2, ${json}, ${t})`,
    `INSERT INTO incident_deliveries (incident_id, delivery_id) VALUES (${incident}, ${delivery})`,
    `INSERT INTO outbox (workspace_id, event, subject_id, tags, at, data, callback_url)
     VALUES (${workspace}, 'incident.opened', ${heartbeat}, ${array}, ${t}, ${json}, NULL),
            (${workspace}, 'execution.succeeded', ${cron}, '{}', ${t}, ${json}, 'https://api.example.com/done')`,
    `INSERT INTO problems (subject_id, workspace_id, event, failures, since, incident_id, hold_until, tags, data)
     VALUES (${heartbeat}, ${workspace}, 'incident.opened', 1, ${t}, ${incident}, ${t}, ${array}, ${json})`,
    `INSERT INTO notified_channels (channel_id, subject_id, incident_key)
     VALUES (${channel}, ${heartbeat}, ${heartbeat})`,
    `INSERT INTO escalation_policies (id, workspace_id, key, name, steps, repeat_count, repeat_after_seconds, created_by, updated_by, created_at, updated_at)
     VALUES (${id(39)}, ${workspace}, 'on-call', ${odd}, ${json}, 1, 1800, ${json}, NULL, ${t}, ${t})`,
    `INSERT INTO escalations (subject_id, policy_id, workspace_id, step, round, due_at)
     VALUES (${heartbeat}, ${id(39)}, ${workspace}, 1, 0, ${t})`
  ]
}
