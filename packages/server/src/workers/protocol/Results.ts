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
  findHeld,
  GivenRuns,
  handBack,
  type HeldRun,
  lostSettlement,
  makeSettleAlone,
  type Settlement,
  settlementOf,
  classifyResult
} from "../../engine/index.ts"
import { type Endings, Signals } from "../../events/index.ts"
import { batched } from "../../store/index.ts"
import { attemptOf } from "./lease.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { Dispatch } from "./Dispatch.ts"

type Worker = CurrentWorker["Service"]

interface HandedIn {
  readonly workspace_id: string
  readonly id: string
  readonly attempt: number
  readonly session: number
  readonly result: WorkerResult
}

/**
 * Requests whose results are written by one statement: of a thousand results at most, as those of a
 * node are.
 */
const requestsAtOnce = 5

/** Writes what agents hand in, by the same settling as that of nodes. */
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
    AgentSessions | Dispatch | Endings | GivenRuns | Signals | SqlClient.SqlClient
  > = Layer.effect(
    Results,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const dispatch = yield* Dispatch
      const given = yield* GivenRuns
      const sessions = yield* AgentSessions
      const settleAlone = yield* makeSettleAlone(sql)
      const signals = yield* Signals

      /**
       * The run of a call that has ended. Of any other, it matters whether it was to be stopped
       * meanwhile, and that is in its row.
       */
      const recall = (one: HandedIn): HeldRun | undefined => {
        const run = given.recall(one)
        return run === undefined || !hasEnded(one.result)
          ? undefined
          : { ...run, now_ms: dispatch.nowMs(), cancel_requested: false }
      }

      /** Returns the ids of the runs about which something was written. */
      const write = Effect.fnUntraced(function* (handedIn: ReadonlyArray<HandedIn>) {
        const recalled = handedIn.map(recall)
        const asked = handedIn.filter((_, n) => recalled[n] === undefined)
        const held = yield* findHeld(sql, asked)
        const random = yield* Random.next
        const known = handedIn.flatMap((one, n) => {
          const run = recalled[n] ?? held.get(one.id)
          return run === undefined ? [] : [{ ...one, run }]
        })
        const returned = known.filter(({ result }) => result.outcome === "returned")
        for (const [session, runs] of Map.groupBy(returned, (one) => one.session)) {
          yield* handBack(
            sql,
            session,
            runs.map(({ id }) => id)
          )
        }
        if (returned.length > 0) yield* signals.wake
        const settled = yield* settleAlone(
          known.flatMap(({ result, run, session }) =>
            result.outcome === "returned" ? [] : [toSettlement(run, session, result, random)]
          )
        )
        return new Set([...settled, ...returned.map(({ id }) => id)])
      }, Effect.orDie)

      const writeTogether = yield* batched(
        (requests: ReadonlyArray<ReadonlyArray<HandedIn>>) =>
          Effect.map(write(requests.flat()), (written) => requests.map(() => written)),
        { maxBatch: requestsAtOnce }
      )

      return Results.of({
        write: Effect.fnUntraced(function* (worker, { results, session }) {
          yield* sessions.check(worker, session)
          const handedIn = results.flatMap((result): ReadonlyArray<HandedIn> => {
            const attempt = attemptOf(result.lease, session)
            if (attempt === undefined) return []
            const { workspace_id } = worker
            return [{ workspace_id, id: result.run_id.toLowerCase(), attempt, session, result }]
          })
          const written = handedIn.length === 0 ? new Set() : yield* writeTogether(handedIn)
          return results.map(({ run_id }) => ({
            run_id,
            receipt: written.has(run_id.toLowerCase()) ? "written" : "fenced"
          }))
        })
      })
    })
  )
}

const hasEnded = ({ outcome }: WorkerResult) =>
  outcome === "success" || outcome === "retryable" || outcome === "failed"

/** For an agent that gives no reason. */
const reasonOf = (status: number | null): ExecutionError =>
  status === null ? executionError("unknown", "the worker gave no reason") : statusError(status)

/**
 * The times are counted back from now on the clock of the database, because the agent's may be
 * wrong. No call has begun before it was given to the agent.
 */
const toSettlement = (
  run: HeldRun,
  session: number,
  result: WorkerResult,
  random: number
): Settlement => {
  const { completes_later = false, duration_ms, ended_ago_ms, error, outcome } = result
  const { response_body, retry_after_seconds, status_code } = result
  const finished_ms = Math.max(run.started_ms, run.now_ms - ended_ago_ms)
  const started_ms = Math.max(run.started_ms, finished_ms - duration_ms)
  const end = {
    started: true,
    started_ms,
    finished_ms,
    status_code,
    response_body,
    error: outcome === "success" ? null : (error ?? reasonOf(status_code))
  }
  switch (outcome) {
    case "success":
    case "retryable":
    case "failed":
      return settlementOf(run, session, {
        ...end,
        ...classifyResult(
          { outcome, retry_after_seconds, completes_later },
          { ...run, started_ms },
          random
        )
      })
    default:
      // Cut off without being asked, by whoever stopped the agent: another worker repeats it.
      return run.cancel_requested
        ? settlementOf(run, session, { ...end, status: "cancelled", error: cancelledError })
        : lostSettlement({ ...run, lease_owner: session, on_worker: true })
  }
}
