import type { JsonSchema } from "effect"
import { isSchema } from "./schemas.ts"

type Schema = JsonSchema.JsonSchema

/** What a field means whose schema does not say so, wherever it stands. */
const ofFields: Readonly<Record<string, string>> = {
  access_token: "The bearer credential of requests: a JWT. It lives 15 minutes.",
  action: "What was done, such as `api_key.revoked`.",
  actor_id: "The user who did it. Null where that was nobody who is known.",
  at: "When it fires.",
  attempts: "Every attempt, the first one first.",
  attempts_count: "How many attempts were made so far.",
  body: "The body of the call. Null: it has none.",
  cancelled: "How many were cancelled.",
  chain_id: "The chain that it is a run of.",
  chain_run_id: "The run that it is a step of. Null where it belongs to no chain.",
  clock_change: "What a change of the clocks did to this fire. Null where none did anything.",
  counts: "How many there are of each status.",
  created_at: "When it was made.",
  created_by: "The user who made it.",
  current: "Whether it is the session of this request.",
  current_password: "Your password, to show that it is you.",
  data: "The records of this page.",
  detail: "What went wrong.",
  details: "What belongs to the action, such as the scopes of a new key.",
  duration_ms: "From `started_at` to `finished_at`, retries and the waits between them included.",
  email: "An email address, at most 254 characters. Letters may be written in either case.",
  error: "Why it failed. Null where it did not.",
  execution: "The step's execution in short. Null where there is none yet.",
  execution_id: "The id of the execution.",
  expires_at: "When it expires. Null: never.",
  expires_in: "How many seconds the access token lives: 900.",
  expires_in_days: "After how many days it expires, 1 to 3,650. Never when absent or null.",
  failed: "How many failed.",
  finished_at: "When it ended. Null while it goes on.",
  from: "The start of the time that they are of, inclusive.",
  grace_seconds: "For how long the old key still works, 0 to 604,800. 0 when absent.",
  headers: "The headers of the call.",
  id: "Its id, a UUID.",
  ip: "The address that it came from. Null where that is not known.",
  issues: "Everything that is wrong with the request, 100 at most.",
  key: "The API key itself. It is shown in this answer and never again.",
  key_prefix: "The first 12 characters of the key, by which it is known in lists.",
  kind: "Which kind of credential it is.",
  last_run: "What came of it last. Null before the first run.",
  last_used_at: "When it was last used.",
  limit: "How many there may be.",
  message: "For people; it may be reworded.",
  name: "What people call it.",
  new_password: "12 to 256 characters, not your email address, and not one of the most common.",
  number: "Counted from 1.",
  p50: "Half of the values are at most this.",
  p95: "95 of 100 values are at most this.",
  p99: "99 of 100 values are at most this.",
  password: "12 to 256 characters, not the email address, and not one of the most common.",
  path: "Where in the request it is: names of fields, and indexes of arrays from 0.",
  queued: "How many wait to run.",
  quota: "What there may be no more of.",
  refresh_token: "Gives the next pair of tokens, once. It lives 30 days.",
  request_id: "By this the logs know the request.",
  required_scope: "The scope that the key lacks.",
  resource: "What was not found.",
  retry_after: "How many seconds to wait before the next try.",
  retry_count: "How often a call that failed is made again.",
  revoked_at: "When it was revoked. Null: it was not.",
  run_at: "When it runs.",
  run_id: "The id of the run.",
  running: "How many run.",
  schedule: "Five fields: minute, hour, day of month, month, day of week.",
  scheduled_for: "When it was due.",
  scopes: "What the key may do, 1 to 8 scopes.",
  secret: "The signing secret, with which a receiver verifies calls.",
  skipped: "How many were skipped.",
  start: "When the hour or day begins.",
  started_at: "When it started. Null until then.",
  status: "How it stands.",
  status_code: "What the last attempt was answered with. Null where no answer came.",
  steps: "The steps, in the order in which they run: 1 to 50.",
  succeeded: "How many succeeded.",
  target_id: "The id of what it was done to. Null where that has none.",
  timeout_seconds: "How long a call may take.",
  timezone: "The IANA time zone of the schedule.",
  to: "The end of the time that they are of, exclusive.",
  token_type: "Always `bearer`.",
  totals: "All of the time together.",
  trigger: "What started it.",
  updated_at: "When it was last changed.",
  url: "The address that is called: `http` or `https`, at most 2,048 characters.",
  user: "The user that it is about.",
  user_agent: "The `User-Agent` of the login. Null where it sent none.",
  workspace: "The first workspace of the account.",
  workspace_id: "The workspace that it belongs to."
}

/** Where one field means something else than under the same name elsewhere. */
const ofComponents: Readonly<Record<string, string>> = {
  "ApiKey.name": "The label given at creation, 1 to 100 characters.",
  "ApiKeyInput.name": "A label, 1 to 100 characters.",
  "ApiKeyInput.scopes": "What the key may do: 1 to 8 scopes, each once.",
  "AuditEvent.created_at": "When it was done.",
  "Attempt.status_code": "What it was answered with. Null where no answer came.",
  "Chain.schedule": "Five fields of cron. Null: it runs only when asked to.",
  "ChainInput.name": "What people call it, 1 to 200 characters.",
  "ChainRunStep.name": "The name of the step.",
  "ChainRunStepDetail.name": "The name of the step.",
  "ChainStep.name": "By this later steps use its answer. Each name is used once in a chain.",
  "ChainStepInput.name": "By this later steps use its answer. Each name is used once in a chain.",
  "CronTaskInput.name": "What people call it, 1 to 200 characters.",
  "DelayedTask.name": "What people call it, 1 to 200 characters. Null: it has no name.",
  "DelayedTaskInput.name": "What people call it, 1 to 200 characters. It may have none.",
  "Login.password": "The password of the account.",
  "Registration.name": "What people call you, at most 100 characters. You may leave it out.",
  "SchedulePreview.data": "The next times, the earliest first.",
  "SigningSecret.expires_at": "When it stops signing, after a rotation. Null: it is the newest.",
  "User.email": "The email address of the account.",
  "User.name": "What people call the user. Null: nobody said.",
  "UserUpdate.name": "What people call you, at most 100 characters. Null takes it away.",
  "WhoAmI.workspace_id": "The one workspace that the key works for.",
  "WorkspaceInput.name": "What people call it, 1 to 100 characters."
}

const stableCode = "The code of the failure, which programs act on. It is stable."

/** Says what each field of a component means, where its own schema or the one it names does not. */
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

/** What holds schemas; examples, defaults and enums are data. */
const nested = new Set(["items", "anyOf", "oneOf", "allOf", "additionalProperties"])
