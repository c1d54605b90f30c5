import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inState } from "../../engine/transitions/inState.ts"
import { TestClock } from "effect/testing"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { ask, createKey, type Member, signUp } from "../../support/http.ts"
import { testNow } from "../../support/TestApp.ts"

export const minimalCron = {
  name: "Nightly report",
  url: "https://api.example.com/jobs/nightly",
  schedule: "0 3 * * *"
}

type Owner = Pick<Member, "workspace" | "access_token">

/** Returns functions that send requests for cron tasks, with the owner's token. */
export const cronClientOf = ({ access_token: token, workspace }: Owner) => {
  const tasks = `${workspace}/cron`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", tasks, { token, headers, body: { ...minimalCron, ...input } }),
    list: (query = "") => ask("GET", `${tasks}${query}`, { token }),
    get: (id: string) => ask("GET", `${tasks}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${tasks}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${tasks}/${id}`, { token }),
    act: (id: string, action: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${tasks}/${id}/${action}`, { token, headers }),
    executions: (id: string, query = "") =>
      ask("GET", `${tasks}/${id}/executions${query}`, { token }),
    preview: (query: Readonly<Record<string, string>>) =>
      ask("GET", `${tasks}/preview?${new URLSearchParams(query)}`, { token })
  }
}

/**
 * Creates the partition for the day, and a workspace with an API key, which outlives every session.
 * The test's clock is set to noon.
 */
export const setUpCron = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const { key } = yield* createKey(member, {
    scopes: ["tasks:read", "tasks:write", "executions:read"]
  })
  return { member, key, cron: cronClientOf({ ...member, access_token: key }) }
})

/** Reads a task's queued runs, oldest first. */
export const runsOf = Effect.fnUntraced(function* (taskId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly id: string
    readonly kind: string
    readonly trigger: string
    readonly state: string
    readonly cancel_requested: boolean
    readonly due_at: Date
  }>`
    SELECT id, kind, trigger, state, cancel_requested, due_at
    FROM runs
    WHERE task_id = ${taskId}
    ORDER BY id`
})

/** Inserts a run as if the schedule had fired it, and starts the run if `state` requires that. */
export const insertRun = Effect.fnUntraced(function* (
  workspaceId: string,
  taskId: string,
  run: { readonly slot: Date; readonly now: number; readonly state?: "ready" | "running" }
) {
  const sql = yield* SqlClient.SqlClient
  const id = makeRunId(run.slot.getTime(), run.now)
  yield* sql`INSERT INTO runs ${sql.insert({
    id,
    workspace_id: workspaceId,
    task_id: taskId,
    kind: "cron",
    trigger: "schedule",
    slot_at: run.slot,
    scheduled_for: run.slot,
    due_at: run.slot,
    ...inState(run.state ?? "ready", { at: run.slot })
  })}`
  return id
})

/** Inserts an execution that finished at this time. */
export const insertExecution = Effect.fnUntraced(function* (
  workspaceId: string,
  taskId: string,
  execution: { readonly at: number; readonly status?: string; readonly kind?: string }
) {
  const sql = yield* SqlClient.SqlClient
  const id = makeRunId(execution.at, execution.at)
  const at = new Date(execution.at)
  yield* sql`
    INSERT INTO executions (
      id, workspace_id, task_id, kind, trigger, status, scheduled_for, started_at, finished_at,
      lateness_ms, duration_ms, attempts_count, status_code, error
    )
    VALUES (
      ${id}, ${workspaceId}, ${taskId}, ${execution.kind ?? "cron"}, 'schedule',
      ${execution.status ?? "succeeded"}, ${at}, ${at}, ${at}, 0, 0, 1, 200,
      ${execution.status === "failed" ? "response_rule: the answer is wrong" : null}
    )`
  return id
})
