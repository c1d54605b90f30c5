import type { JsonSchema } from "effect"
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { isSchema } from "./rewriting.ts"

type Schema = JsonSchema.JsonSchema

/** The meaning of fields whose schemas do not give one, wherever they appear. */
const ofFields: Readonly<Record<string, string>> = {
  access_token: "The bearer credential of requests: a JWT. It lives 15 minutes.",
  action: "What was done, such as `api_key.revoked`.",
  actor_id: "The user who did it. Null if nobody knows who it was.",
  at: "When it fires.",
  attempts: "Every attempt, the first one first.",
  attempts_count: "How many attempts were made so far.",
  body: "The body of the call. Null if it has none.",
  body_contains: "What an answer must contain to be a success. Absent if nothing.",
  body_lacks: "What an answer must not contain to be a success. Absent if nothing.",
  cancelled: "How many were cancelled.",
  chain_id: "The chain of the run.",
  chain_run_id: "The run that the step belongs to. Null outside of chains.",
  clock_change: "What a clock change did to this fire. Null if it was not affected.",
  counts: "The number of executions in each status.",
  created_at: "When it was created.",
  created_by: "The user who created it.",
  currency: "The currency, as three letters.",
  current: "Whether it is the session of this request.",
  current_password: "Your current password, as a confirmation.",
  data: "The records of this page.",
  day: "A day of UTC.",
  detail: "What went wrong.",
  details: "Details of the action, such as the scopes of a new key.",
  disable_after_failures:
    "After how many failed runs in a row the service pauses it. Absent if never.",
  duration_ms: "From `started_at` to `finished_at`, including retries and the waits between them.",
  email: "An email address, at most 254 characters. Letters may be written in either case.",
  error: "Why it failed. Null if it did not fail.",
  execution: "The step's execution in short. Null if there is none yet.",
  execution_id: "The id of the execution.",
  expires_at: "When it expires. Null if it never expires.",
  excluded_days: "The dates on which nothing fires. Absent if there are none.",
  expires_in: "How many seconds the access token lives: 900.",
  expires_in_days: "After how many days it expires, 1 to 3,650. Never when absent or null.",
  failed: "How many failed.",
  finished_at: "When it ended. Null until then.",
  from: "The start of the time covered, inclusive.",
  grace_seconds: "For how long the old key still works, 0 to 604,800. 0 when absent.",
  headers: "The headers of the call.",
  id: "Its id, a UUID.",
  interval: "How often it is paid.",
  ip: "The address that it came from. Null if unknown.",
  issues: "Everything that is wrong with the request, at most 100 items.",
  jitter_seconds: "How long after its slot a run may start. Absent if it starts at its slot.",
  key: "The API key itself. It is shown in this answer and never again.",
  key_prefix: "The first 12 characters of the key, which identify it in lists.",
  kind: "The kind of credential.",
  labels: "What it offers, by which tasks choose it.",
  last_run: "How the latest run went. Null before the first run.",
  last_used_at: "When it was last used.",
  limit: "The limit.",
  limits: "What the plan allows.",
  message: "A text for people, which may be reworded.",
  monitor_id: "The monitor that it belongs to.",
  name: "The name for people.",
  new_password: "12 to 256 characters, not your email address, and not one of the most common.",
  number: "Counted from 1.",
  p50: "Half of the values are at most this.",
  p95: "95 of 100 values are at most this.",
  p99: "99 of 100 values are at most this.",
  password: "12 to 256 characters, not the email address, and not one of the most common.",
  path: "Where in the request it is: field names, and array indexes counted from 0.",
  plan: "The plan that has this limit.",
  queued: "How many wait to run.",
  queue_id: "The queue in which its runs wait for their turn. Null if there is none.",
  quota: "The limit that was reached.",
  refresh_token: "Gives the next pair of tokens, once. It lives 30 days.",
  request_id: "The id of this request in the logs.",
  required_scope: "The scope that the key lacks.",
  resource: "What was not found.",
  retry_after: "How many seconds to wait before the next try.",
  retry: "Its own waits between attempts. Absent if it has none.",
  retry_count: "How often a call that failed is made again.",
  revoked_at: "When it was revoked. Null if it was not.",
  run_at: "When it runs.",
  run_id: "The id of the run.",
  run_on: "Which worker makes the call. Null: the service itself.",
  running: "How many are running.",
  schedule: "The cron expression, as its author wrote it.",
  scheduled_for: "When it was due.",
  scopes: `What the key may do, 1 to ${scopes.length} scopes.`,
  skipped: "How many were skipped.",
  start: "When the hour or day begins.",
  started_at: "When it started. Null until then.",
  status: "Its current state.",
  status_code: "The status code that answered the last attempt. Null if no answer came.",
  steps: "The steps, in the order in which they run: 1 to 50.",
  succeeded: "How many succeeded.",
  success_codes: "The statuses that count as a success. Absent if 200-299 do.",
  tags: "Labels by which monitors are found and grouped.",
  target_id: "The id of what it was done to. Null if that has no id.",
  timeout_seconds: "How long a call may take.",
  timezone: "The IANA time zone of the schedule.",
  to: "The end of the time covered, exclusive.",
  token: "The secret. It is shown only this once.",
  token_type: "Always `bearer`.",
  totals: "The figures for the whole time.",
  trigger: "What started it.",
  updated_at: "When it was last changed.",
  url: "The address that is called: `http` or `https`, at most 2,048 characters.",
  used: "How much of it is used.",
  user: "The user.",
  user_agent: "The `User-Agent` of the login. Null if it sent none.",
  worker_wait_seconds: "How long a run waits for a worker before it fails.",
  workspace: "The first workspace of the account.",
  workspace_id: "The workspace that it belongs to."
}

/** Fields that mean something else than elsewhere under the same name. */
const ofComponents: Readonly<Record<string, string>> = {
  "ApiKey.name": "The label given at creation, 1 to 100 characters.",
  "ApiKeyInput.name": "A label, 1 to 100 characters.",
  "ApiKeyInput.scopes": `What the key may do: 1 to ${scopes.length} scopes, each once.`,
  "AuditEvent.created_at": "When it was done.",
  "Attempt.status_code": "The status code of the answer. Null if no answer came.",
  "Chain.schedule": "A cron expression. Null if it runs only when somebody runs it.",
  "ChainBatchResult.data": "What was made of the item.",
  "ChainInput.name": "The name for people, 1 to 200 characters.",
  "ChainRunStep.name": "The name of the step.",
  "ChainRunStepDetail.name": "The name of the step.",
  "ChainStep.name": "Later steps use the answer by this name. Each name is used once in a chain.",
  "ChainStepInput.name":
    "Later steps use the answer by this name. Each name is used once in a chain.",
  "CronTaskBatchResult.data": "What was made of the item.",
  "CronTaskInput.name": "The name for people, 1 to 200 characters.",
  "DelayedTask.name": "The name for people, 1 to 200 characters. Null if it has none.",
  "DelayedTaskBatchResult.data": "What was made of the item.",
  "DelayedTaskInput.name": "The name for people, 1 to 200 characters. Optional.",
  "HeartbeatEvent.status": "The status of the monitor after the event.",
  "Incident.kind": "The kind of monitor.",
  "Login.password": "The password of the account.",
  "Monitor.kind": "The kind of monitor.",
  "MonitorCounts.down": "How many are down.",
  "MonitorCounts.late": "How many wait for an overdue ping, within the grace.",
  "MonitorCounts.new": "How many have not heard or seen anything yet.",
  "MonitorCounts.paused": "How many are paused.",
  "MonitorCounts.up": "How many are up.",
  "MonitorCounts.warning": "How many have a certificate that expires soon.",
  "Registration.name": "Your name, at most 100 characters. Optional.",
  "SchedulePreview.data": "The next fires, earliest first.",
  "SigningSecret.call_secret": "Verifies the calls of tasks and of the steps of chains.",
  "SigningSecret.expires_at": "When they stop signing, after a rotation. Null for the newest ones.",
  "SigningSecret.message_secret": "Verifies callbacks and the messages of webhook channels.",
  "SigningSecret.origin": "The scheme, the host and the port of the receiver.",
  "SigningSecretGeneration.expires_at":
    "When it stops signing, after a rotation. Null for the newest one.",
  "SslEvent.status": "The status of the monitor after the event.",
  "SslMonitor.host": "The name or address of the server.",
  "SslMonitor.port": "The port of the server.",
  "User.email": "The email address of the account.",
  "User.name": "The user's name. Null if none was given.",
  "UserUpdate.name": "Your name, at most 100 characters. Null removes it.",
  "WhoAmI.workspace_id": "The one workspace that the key works for.",
  "WorkspaceInput.name": "The name for people, 1 to 100 characters.",
  "WorkspaceUpdate.name": "The name for people, 1 to 100 characters."
}

const stableCode = "The code of the failure, for programs. It is stable."

/**
 * Describes each field of a component, unless its own schema or the schema it names already does.
 */
export const describeFields = (
  component: string,
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>
): Schema => {
  const isError = component.endsWith("Error")
  const descriptionOf = (field: string) =>
    ofComponents[`${component}.${field}`] ??
    (isError && field === "error" ? stableCode : ofFields[field])

  const isDescribed = (property: Schema): boolean => {
    const name = typeof property.$ref === "string" ? property.$ref.split("/").at(-1) : undefined
    return (
      property.description !== undefined ||
      (name !== undefined && schemas[name]?.description !== undefined)
    )
  }

  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit)
    if (!isSchema(part)) return part
    const entries = Object.entries(part).map(([key, value]): [string, unknown] => {
      if (key === "properties" && isSchema(value)) {
        return [
          key,
          Object.fromEntries(
            Object.entries(value).map(([field, property]) => {
              const visited = visit(property)
              const description = descriptionOf(field)
              return [
                field,
                isSchema(visited) && !isDescribed(visited) && description !== undefined
                  ? { ...visited, description }
                  : visited
              ]
            })
          )
        ]
      }
      return [key, nested.has(key) ? visit(value) : value]
    })
    return Object.fromEntries(entries)
  }
  const described = visit(schema)
  return isSchema(described) ? described : schema
}

/** The keys that contain schemas. Examples, defaults and enums are data. */
const nested = new Set(["items", "anyOf", "oneOf", "allOf", "additionalProperties"])
