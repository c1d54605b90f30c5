import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { setUpCron, insertExecution, runsOf } from "../cron/tasks.ts"
import { ask, type Member } from "../../support/http.ts"

export const minimalDelayed = { url: "https://api.example.com/trials/ended", delay_seconds: 3600 }

export const delayedClientOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => {
  const tasks = `${workspace}/delayed`
  return {
    /** Sends exactly this body, whereas `create` adds the required fields. */
    post: (body: object) => ask("POST", tasks, { token, body }),
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", tasks, { token, headers, body: { ...minimalDelayed, ...input } }),
    list: (query = "") => ask("GET", `${tasks}${query}`, { token }),
    get: (id: string) => ask("GET", `${tasks}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${tasks}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${tasks}/${id}`, { token }),
    run: (id: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${tasks}/${id}/run`, { token, headers }),
    cancel: (executionId: string) =>
      ask("POST", `${workspace}/executions/${executionId}/cancel`, { token })
  }
}

export const setUpDelayed = Effect.map(setUpCron, ({ key, member }) => ({
  member,
  key,
  delayed: delayedClientOf({ ...member, access_token: key })
}))

/** Starts the task's run, as the runner does. */
export const startRun = Effect.fnUntraced(function* (taskId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE runs
    SET state = 'running', lease_owner = 1, started_at = due_at, attempt_started_at = due_at
    WHERE task_id = ${taskId}`
})

/** Settles the task's run at the current time, as the runner does. */
export const finishRun = Effect.fnUntraced(function* (
  workspaceId: string,
  taskId: string,
  at: number
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    DELETE FROM runs
    WHERE task_id = ${taskId}`
  yield* sql`
    UPDATE tasks
    SET status = 'finished'
    WHERE id = ${taskId}`
  return yield* insertExecution(workspaceId, taskId, { at, kind: "delayed" })
})

export { runsOf }
