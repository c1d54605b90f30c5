import { unsignedHeaders } from "@scheduling/calls/OutgoingRequest"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maskedMessageHeaders } from "@scheduling/domain/calls/credentialHeaders"
import type {
  Attempt,
  AttemptRequest,
  ExecutionDetail
} from "@scheduling/domain/executions/Execution"
import { ChainId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { StepRequests } from "../chains/StepRequests.ts"
import { type SentCall, renderSentCall, type StoredCall } from "./renderSentCall.ts"

interface KnownCall extends StoredCall {
  /** The task's current name. */
  readonly name: string | null
  readonly key: string | null
  /** When the call was replaced. Null for the task's current call. */
  readonly replaced_at: Date | null
}

/**
 * For how long after a change it is unknown which call an attempt has sent. A node reads a call
 * shortly before it sends it, and a change becomes visible shortly after its recorded time.
 */
const unclearMs = 5_000

/**
 * Reconstructs the requests that attempts have sent. Requests are not stored, but rendered again
 * from the call that the task had at the attempt's time: its current call, or a call in
 * `replaced_calls`. Secrets are masked.
 */
export class AttemptRequests extends Context.Service<
  AttemptRequests,
  {
    /** Adds its request to each of an execution's attempts, if the request is known. */
    readonly addTo: (
      workspaceId: AuthorizedWorkspaceId,
      execution: ExecutionDetail
    ) => Effect.Effect<ExecutionDetail>
  }
>()("@scheduling/server/tasks/executions/AttemptRequests") {
  static readonly layer: Layer.Layer<AttemptRequests, never, SqlClient.SqlClient | StepRequests> =
    Layer.effect(
      AttemptRequests,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const steps = yield* StepRequests

        const callsOf = (workspaceId: AuthorizedWorkspaceId, taskId: string, since: string) =>
          sql<KnownCall>`
            SELECT calls.method, calls.url, calls.headers, calls.body, auth, name, key, replaced_at
            FROM replaced_calls AS calls
            LEFT JOIN tasks ON tasks.id = task_id
            WHERE task_id = ${taskId}
              AND calls.workspace_id = ${workspaceId}
              AND replaced_at > ${new Date(Date.parse(since) - unclearMs)}
            UNION ALL
            SELECT method, url, headers, body, call_options -> 'auth', name, key, NULL
            FROM tasks
            WHERE id = ${taskId}
              AND workspace_id = ${workspaceId}
            ORDER BY replaced_at NULLS LAST`.pipe(Effect.orDie)

        type CallOf = (attempt: Attempt) => SentCall | undefined

        const stepCalls = (
          workspaceId: AuthorizedWorkspaceId,
          { chain_run_id, id, task_id }: ExecutionDetail
        ): Effect.Effect<CallOf> =>
          chain_run_id === null
            ? Effect.succeed(unknown)
            : steps.find(workspaceId, ChainId.make(task_id), chain_run_id, id).pipe(
                Effect.map(
                  (requestOf): CallOf =>
                    (attempt) =>
                      Result.getOrUndefined(requestOf(attempt))
                ),
                Effect.orElseSucceed(() => unknown)
              )

        return AttemptRequests.of({
          addTo: Effect.fn("AttemptRequests.addTo")(function* (workspaceId, execution) {
            const { attempts, kind, task_id } = execution
            const [first] = attempts
            if (first === undefined) return execution
            const callOf =
              kind === "chain"
                ? yield* stepCalls(workspaceId, execution)
                : taskCalls(yield* callsOf(workspaceId, task_id, first.started_at), execution)
            return {
              ...execution,
              attempts: attempts.map((attempt) => {
                const call = callOf(attempt)
                if (call === undefined) return attempt
                return { ...attempt, request: requestOf(call, execution, attempt.number) }
              })
            }
          })
        })
      })
    )
}

const unknown = () => undefined

/** Returns a function that renders an attempt's call, if it is known. */
const taskCalls =
  (calls: ReadonlyArray<KnownCall>, { id, input, scheduled_for }: ExecutionDetail) =>
  ({ number, started_at }: Attempt): SentCall | undefined => {
    const call = callAt(calls, Date.parse(started_at))
    if (call === undefined) return undefined
    const { key, name } = call
    const filled = renderSentCall(call, {
      run: { id, attempt: number, scheduled_ms: Date.parse(scheduled_for) },
      task: { name, key },
      input: input === null ? null : JSON.stringify(input),
      steps: new Map(),
      now_ms: Date.parse(started_at)
    })
    return Result.getOrUndefined(filled)
  }

/**
 * Finds the call that the task had at this time. `calls` must be in the order in which they were
 * replaced.
 */
const callAt = (calls: ReadonlyArray<KnownCall>, atMs: number): KnownCall | undefined => {
  const isUnclear = calls.some(
    ({ replaced_at }) =>
      replaced_at !== null &&
      replaced_at.getTime() <= atMs &&
      replaced_at.getTime() > atMs - unclearMs
  )
  if (isUnclear) return undefined
  return calls.find(({ replaced_at }) => replaced_at === null || replaced_at.getTime() > atMs)
}

const requestOf = (
  { body, headers, method, url }: SentCall,
  { id, scheduled_for, task_id }: ExecutionDetail,
  attempt: number
): AttemptRequest => {
  const sent = unsignedHeaders({
    headers,
    body,
    execution_id: id,
    attempt,
    task: { id: task_id, scheduled_ms: Date.parse(scheduled_for) }
  })
  return { method, url, headers: maskedMessageHeaders(sent), body }
}
