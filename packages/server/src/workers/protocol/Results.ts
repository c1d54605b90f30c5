import {
  cancelledError,
  type ExecutionError,
  executionError,
  statusError
} from "@scheduling/domain/executions/ExecutionError"
import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import type {
  WorkerReceipt,
  WorkerResult,
  WorkerResults
} from "@scheduling/domain/workers/WorkerProtocol"
import type { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Context, Effect, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"
import {
  AccessTokens,
  findHeldRuns,
  AgentRuns,
  handBack,
  type HeldRun,
  settlementOfLostRun,
  makeSettleRuns,
  type Settlement,
  makeSettlement,
  classifyResult
} from "../../engine/index.ts"
import { type EndSignals, Signals } from "../../events/index.ts"
import { batchRequests } from "../../store/index.ts"
import { attemptInLease } from "./lease.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { Dispatch } from "./Dispatch.ts"

type Worker = CurrentWorker["Service"]

interface Submitted {
  readonly workspace_id: string
  readonly id: string
  readonly attempt: number
  readonly session: number
  readonly result: WorkerResult
}

interface Held {
  readonly run: HeldRun
  readonly result: WorkerResult
}

/**
 * The maximum number of requests that share a statement. Together they have up to a thousand
 * results, which is the number of results that a node writes at once.
 */
const requestsAtOnce = 5

/** Writes the results of agents. They are settled in the same way as the results of nodes. */
export class Results extends Context.Service<
  Results,
  {
    readonly write: (
      worker: Worker,
      results: WorkerResults
    ) => Effect.Effect<ReadonlyArray<WorkerReceipt>, SessionEnded>
  }
>()("@scheduling/server/workers/protocol/Results") {
  static readonly layer: Layer.Layer<
    Results,
    never,
    AccessTokens | AgentSessions | Dispatch | EndSignals | AgentRuns | Signals | SqlClient.SqlClient
  > = Layer.effect(
    Results,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const dispatch = yield* Dispatch
      const given = yield* AgentRuns
      const sessions = yield* AgentSessions
      const settleRuns = yield* makeSettleRuns(sql)
      const signals = yield* Signals
      const tokens = yield* AccessTokens

      /**
       * Returns the run of a finished call from memory. For other results, the row of the run must
       * be read, to see whether the run was cancelled.
       */
      const recall = (one: Submitted): HeldRun | undefined => {
        const run = given.recall(one)
        return run === undefined || !isFinished(one.result)
          ? undefined
          : { ...run, now_ms: dispatch.nowMs(), cancel_requested: false }
      }

      /**
       * Returns the calls whose access token was rejected. These calls are repeated with another
       * token.
       */
      const refusedOf = <A extends Held>(known: ReadonlyArray<A>) =>
        Effect.filter(
          known.filter(({ result, run }) => result.status_code === 401 && run.token !== undefined),
          ({ run: { token, workspace_id } }) =>
            token === undefined ? Effect.succeed(false) : tokens.reject(workspace_id, token)
        )

      const write = Effect.fnUntraced(function* (submitted: ReadonlyArray<Submitted>) {
        const recalled = submitted.map(recall)
        const asked = submitted.filter((_, n) => recalled[n] === undefined)
        const held = yield* findHeldRuns(sql, asked)
        const random = yield* Random.next
        const known = submitted.flatMap((one, n) => {
          const run = recalled[n] ?? held.get(one.id)
          return run === undefined ? [] : [{ ...one, run }]
        })
        const refused = yield* refusedOf(known)
        const returned = known.filter(
          (one) => one.result.outcome === "returned" || refused.includes(one)
        )
        for (const [session, runs] of Map.groupBy(returned, (one) => one.session)) {
          yield* handBack(
            sql,
            session,
            runs.map(({ id }) => id)
          )
        }
        if (returned.length > 0) yield* signals.wake
        const settled = yield* settleRuns(
          known.flatMap((one) =>
            returned.includes(one) ? [] : [toSettlement(one.run, one.session, one.result, random)]
          )
        )
        return new Set([...settled, ...returned.map(({ id }) => id)])
      }, Effect.orDie)

      const writeTogether = yield* batchRequests(
        (requests: ReadonlyArray<ReadonlyArray<Submitted>>) =>
          Effect.map(write(requests.flat()), (written) => requests.map(() => written)),
        { maxBatch: requestsAtOnce }
      )

      return Results.of({
        write: Effect.fnUntraced(function* (worker, { results, session }) {
          yield* sessions.check(worker, session)
          const submitted = results.flatMap((result): ReadonlyArray<Submitted> => {
            const attempt = attemptInLease(result.lease, session)
            if (attempt === undefined) return []
            const { workspace_id } = worker
            return [{ workspace_id, id: result.run_id.toLowerCase(), attempt, session, result }]
          })
          const written = submitted.length === 0 ? new Set() : yield* writeTogether(submitted)
          return results.map(({ run_id }) => ({
            run_id,
            receipt: written.has(run_id.toLowerCase()) ? "written" : "fenced"
          }))
        })
      })
    })
  )
}

const isFinished = ({ outcome }: WorkerResult) =>
  outcome === "success" || outcome === "retryable" || outcome === "failed"

const fallbackError = (status: number | null): ExecutionError =>
  status === null
    ? executionError("unknown", "The agent reported a failure without a reason.")
    : statusError(status)

/**
 * Converts a result to a settlement. Times are computed backwards from the database clock, because
 * the agent's clock may be wrong. A call cannot have started before the agent received the run.
 */
const toSettlement = (
  run: HeldRun,
  session: number,
  result: WorkerResult,
  random: number
): Settlement => {
  const { completes_later = false, duration_ms, ended_ago_ms, error, outcome } = result
  const { exchange = null, response_body, retry_after_seconds, status_code } = result
  const finished_ms = Math.max(run.started_ms, run.now_ms - ended_ago_ms)
  const started_ms = Math.max(run.started_ms, finished_ms - duration_ms)
  const end = {
    started: true,
    started_ms,
    finished_ms,
    status_code,
    response_body,
    exchange,
    error: outcome === "success" ? null : (error ?? fallbackError(status_code))
  }
  switch (outcome) {
    case "success":
    case "retryable":
    case "failed":
      return makeSettlement(run, session, {
        ...end,
        ...classifyResult(
          { outcome, retry_after_seconds, completes_later },
          { ...run, started_ms },
          random
        )
      })
    default:
      // If nobody has cancelled the run, the call was aborted because the agent was stopped.
      // Another worker then retries the call.
      return run.cancel_requested
        ? makeSettlement(run, session, { ...end, status: "cancelled", error: cancelledError })
        : settlementOfLostRun({ ...run, lease_owner: session, on_worker: true })
  }
}
