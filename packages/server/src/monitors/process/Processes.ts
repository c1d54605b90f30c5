import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import type { ProcessObservation } from "@scheduling/domain/workers/WorkerProtocol"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop } from "../../platform/Loop.ts"
import { StoreClock } from "../../sql/StoreClock.ts"
import { transactionOf } from "../../sql/transaction.ts"
import { MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { decideReport, decideSilence, type ProcessDecision } from "./decideProcess.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"
import { stateOf, type WatchedRow } from "./ProcessRow.ts"

const batch = 200
const lookAtLeastEveryMs = 2_000

/** Judges what agents report, and that they do not report. */
export class Processes extends Context.Service<
  Processes,
  {
    /** Observations of monitors that are not this worker's, or are paused, are ignored. */
    readonly report: (
      worker: { readonly id: string; readonly workspace_id: AuthorizedWorkspaceId },
      observations: ReadonlyArray<ProcessObservation>
    ) => Effect.Effect<void>
    /** Decides about monitors whose time is up. Returns for how long nothing else is due. */
    readonly lookForSilence: Effect.Effect<number>
  }
>()("@scheduling/server/monitors/process/Processes") {
  static readonly layer: Layer.Layer<
    Processes,
    never,
    MonitorEventsRepo | ProcessMonitorsRepo | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Processes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const events = yield* MonitorEventsRepo
      const repo = yield* ProcessMonitorsRepo
      const statusChanges = yield* StatusChanges

      const write = Effect.fnUntraced(function* (
        row: WatchedRow,
        { cause, state }: Pick<ProcessDecision, "cause" | "state">,
        at: Date,
        checkAt: Date | null,
        report: ProcessReport | null
      ) {
        const reported = report === null ? null : { at, report }
        yield* repo.updateDecided(row, state, checkAt, reported)
        const { monitor_id, status: from, workspace_id } = row
        if (from === state.status) return
        const place = { monitor_id, workspace_id, at: at.getTime() }
        yield* statusChanges.record([{ ...place, kind: "process", from, to: state.status, cause }])
        const details = cause === null ? null : { message: cause.message }
        yield* events.insert([{ ...place, type: state.status, status: state.status, details }])
      })

      const decideDue = Effect.fnUntraced(function* (at: Date) {
        for (const row of yield* repo.claimDue(at, batch)) {
          const decision = decideSilence(row, stateOf(row), at.getTime())
          yield* write(row, decision, at, null, null)
        }
      }, transaction)

      return Processes.of({
        report: Effect.fn("Processes.report")(function* (worker, observations) {
          const byId = new Map(observations.map((one) => [one.monitor_id.toLowerCase(), one]))
          const rows = yield* repo.claimReported(worker, [...byId.keys()])
          const at = yield* now
          for (const row of rows) {
            const seen = byId.get(row.monitor_id)
            if (seen === undefined) continue
            const { count, cpu_percent, pids, rss_bytes } = seen
            const report = { count, cpu_percent, pids, rss_bytes }
            const decision = decideReport(row, stateOf(row), report, at.getTime())
            yield* write(row, decision, at, new Date(decision.checkAtMs), report)
          }
        }, transaction),

        lookForSilence: Effect.gen(function* () {
          const next = yield* repo.findNextCheck
          if (next === undefined) return lookAtLeastEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(dueInMs, lookAtLeastEveryMs)
          yield* decideDue(at)
          return 100
        })
      })
    })
  )
}

/** On every node that runs something: each row is decided about by one of them. */
export const SilencesLayer: Layer.Layer<never, never, Processes> = Layer.effectDiscard(
  Effect.flatMap(Processes, ({ lookForSilence }) =>
    Effect.forkScoped(
      loop("judging silent workers", lookForSilence, { between: (ms) => Effect.sleep(ms) })
    )
  )
)
