import { sentHeaders } from "@scheduling/calls/OutgoingRequest"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maskedHeaders } from "@scheduling/domain/calls/credentialHeaders"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { AttemptRequest, ExecutionDetail } from "@scheduling/domain/executions/Execution"
import { ChainId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StepRequests } from "../chains/StepRequests.ts"

interface SentCall {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

interface KnownCall extends SentCall {
  /** Null for the call that the task has now. */
  readonly replaced_at: Date | null
}

/**
 * A node reads a call a moment before it makes it, and a change is visible a moment after it was made.
 * Which call an attempt within this time after a change has sent, is not known.
 */
const unclearMs = 5_000

/**
 * The requests of attempts. They are not kept with the attempts, but made again from the call that the
 * task had at that time: its own, or one of `replaced_calls`. A step of a chain is filled in again from
 * the same answers.
 */
export class AttemptRequests extends Context.Service<
  AttemptRequests,
  {
    /** Adds the requests of its attempts to an execution, as far as they are known. */
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
            SELECT method, url, headers, body, replaced_at
            FROM replaced_calls
            WHERE task_id = ${taskId}
              AND workspace_id = ${workspaceId}
              AND replaced_at > ${new Date(Date.parse(since) - unclearMs)}
            UNION ALL
            SELECT method, url, headers, body, NULL
            FROM tasks
            WHERE id = ${taskId}
              AND workspace_id = ${workspaceId}
            ORDER BY replaced_at NULLS LAST`.pipe(Effect.orDie)

        const stepCall = (
          workspaceId: AuthorizedWorkspaceId,
          { chain_run_id, id, task_id }: ExecutionDetail
        ): Effect.Effect<SentCall | undefined> =>
          chain_run_id === null
            ? Effect.undefined
            : steps
                .get(workspaceId, ChainId.make(task_id), chain_run_id, id)
                .pipe(Effect.orElseSucceed(() => undefined))

        return AttemptRequests.of({
          addTo: Effect.fn("AttemptRequests.addTo")(function* (workspaceId, execution) {
            const { attempts, kind, task_id } = execution
            const [first] = attempts
            if (first === undefined) return execution
            const withCalls = (callOf: (startedMs: number) => SentCall | undefined) => ({
              ...execution,
              attempts: attempts.map((attempt) => {
                const call = callOf(Date.parse(attempt.started_at))
                if (call === undefined) return attempt
                return { ...attempt, request: requestOf(call, execution, attempt.number) }
              })
            })
            if (kind === "chain") {
              const call = yield* stepCall(workspaceId, execution)
              return withCalls(() => call)
            }
            const calls = yield* callsOf(workspaceId, task_id, first.started_at)
            return withCalls((startedMs) => callAt(calls, startedMs))
          })
        })
      })
    )
}

/** The calls are in the order in which they were replaced. */
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
  const sent = sentHeaders({
    headers,
    body,
    execution_id: id,
    attempt,
    task: { id: task_id, scheduled_ms: Date.parse(scheduled_for) }
  })
  return { method, url, headers: maskedHeaders(sent), body }
}
