import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import type {
  WorkerReceipt,
  WorkerResult,
  WorkerResults
} from "@scheduling/domain/workers/WorkerProtocol"
import type { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Context, Effect, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"
import { OutboxBell } from "../../outbox/OutboxBell.ts"
import { handBack } from "../../queue/ending/HandBack.ts"
import { Partitions } from "../../queue/Partitions.ts"
import { lostSettlement } from "../../queue/ending/Reap.ts"
import { type Settlement, settlementOf } from "../../queue/Run.ts"
import { timeOfId } from "../../queue/RunId.ts"
import { settle } from "../../queue/ending/Settle.ts"
import { tellSettled } from "../../queue/tellChanges.ts"
import { findHeld, type HeldRun } from "../../queue/workers/WorkerHeld.ts"
import { verdictOn } from "../../runner/calling/Execute.ts"
import { LiveChanges } from "../../signals/Changes.ts"
import { Endings } from "../../signals/Endings.ts"
import { Signals } from "../../signals/Signals.ts"
import { batched } from "../../sql/batched.ts"
import { againAfterCollision } from "../../sql/transaction.ts"
import { attemptOf } from "./lease.ts"
import { AgentSessions } from "./AgentSessions.ts"

type Worker = CurrentWorker["Service"]

interface HandedIn {
  readonly workspace_id: string
  readonly id: string
  readonly attempt: number
  readonly session: number
  readonly result: WorkerResult
}

/** Requests whose results are written by one statement. */
const requestsAtOnce = 8

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
    Endings | Partitions | AgentSessions | Signals | SqlClient.SqlClient
  > = Layer.effect(
    Results,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const changes = yield* LiveChanges
      const endings = yield* Endings
      const outboxBell = yield* OutboxBell
      const partitions = yield* Partitions
      const sessions = yield* AgentSessions
      const signals = yield* Signals

      const settleAll = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
        if (settlements.length === 0) return new Set<string>()
        const settled = yield* againAfterCollision(settle(sql, settlements)).pipe(
          // The day may have no partition yet.
          Effect.catch(() =>
            Effect.andThen(
              partitions.ensure(settlements.flatMap(timesOf)),
              settle(sql, settlements)
            )
          )
        )
        endings.tell(settled.ended)
        tellSettled(changes, settlements, settled)
        if (settled.announced) outboxBell.ring()
        const isMoreDue =
          settled.released ||
          settled.next.length > 0 ||
          settlements.some(({ status }) => status === null)
        if (isMoreDue) yield* signals.wake
        return new Set(settled.ids)
      })

      /** Returns the ids of the runs about which something was written. */
      const write = Effect.fnUntraced(function* (handedIn: ReadonlyArray<HandedIn>) {
        const held = yield* findHeld(sql, handedIn)
        const random = yield* Random.next
        const known = handedIn.flatMap((one) => {
          const run = held.get(one.id)
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
        const written = yield* settleAll(
          known.flatMap(({ result, run, session }) =>
            result.outcome === "returned" ? [] : [toSettlement(run, session, result, random)]
          )
        )
        for (const { id } of returned) written.add(id)
        return written
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

const timesOf = ({ finished_ms, id }: Settlement): ReadonlyArray<number> =>
  finished_ms === null ? [timeOfId(id)] : [timeOfId(id), finished_ms]

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
  const { duration_ms, ended_ago_ms, error, outcome, response_body, status_code } = result
  const finished_ms = Math.max(run.started_ms, run.now_ms - ended_ago_ms)
  const end = {
    started: true,
    started_ms: Math.max(run.started_ms, finished_ms - duration_ms),
    finished_ms,
    status_code,
    response_body,
    error
  }
  switch (outcome) {
    case "success":
    case "retryable":
    case "failed":
      return settlementOf(run, session, {
        ...end,
        ...verdictOn({ outcome, retry_after_seconds: result.retry_after_seconds }, run, random)
      })
    default:
      // Cut off without being asked, by whoever stopped the agent: another worker repeats it.
      return run.cancel_requested
        ? settlementOf(run, session, { ...end, status: "cancelled", error: "cancelled" })
        : lostSettlement({ ...run, lease_owner: session, on_worker: true })
  }
}
