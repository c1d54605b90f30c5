import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ProcessObservation } from "@scheduling/domain/workers/WorkerProtocol"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop } from "../../core/index.ts"
import { agentReconnectMs, findLastDowntimeEnd } from "../../engine/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { StatusChanges } from "../StatusChanges.ts"
import {
  canChangeStatus,
  decideProcess,
  evaluateProcessReport,
  type ProcessReportSummary,
  silentAfterMs
} from "./decideProcess.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"
import { type NewProcessReport, ProcessReportsRepo } from "./ProcessReportsRepo.ts"
import {
  type ProcessRow,
  processTable,
  type RowWithPreviousReport,
  processState,
  toOngoingFailure
} from "./ProcessRow.ts"

const batch = 200
const pollEveryMs = 2_000

/** Decides the status of process monitors from agents' reports, or from their absence. */
export class Processes extends Context.Service<
  Processes,
  {
    /**
     * Records an agent's observations. Those about paused monitors and other workers' monitors are
     * ignored.
     */
    readonly report: (
      worker: { readonly id: string; readonly workspace_id: AuthorizedWorkspaceId },
      observations: ReadonlyArray<ProcessObservation>
    ) => Effect.Effect<void>
    /** Updates monitors that are due. Returns the milliseconds until the next call. */
    readonly checkDue: Effect.Effect<number>
  }
>()("@scheduling/server/monitoring/process/Processes") {
  static readonly layer: Layer.Layer<
    Processes,
    never,
    ProcessMonitorsRepo | ProcessReportsRepo | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Processes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const repo = yield* ProcessMonitorsRepo
      const reports = yield* ProcessReportsRepo
      const statusChanges = yield* StatusChanges

      /**
       * Updates locked monitors. The reports are read after the lock was taken, so that no report
       * is missed.
       */
      const decide = Effect.fnUntraced(function* (rows: ReadonlyArray<ProcessRow>, at: Date) {
        if (rows.length === 0) return
        const summaries = yield* reports.summarize(rows, at)
        const awayUntil = yield* Effect.orDie(findLastDowntimeEnd(sql))
        const ms = at.getTime()
        for (const row of rows) {
          const { cause, checkAtMs, state } = decideProcess(
            row,
            processState(row),
            summaries.get(row.monitor_id) ?? noReports,
            ms,
            awayUntil?.getTime()
          )
          const { failing, status: to } = state
          const change = { from: row.status, to, at: ms, cause }
          const details = cause === null ? null : { message: cause.message }
          yield* statusChanges.write(processTable, repo, row, {
            columns: {
              failing_since: failing === null ? null : new Date(failing.sinceMs),
              failing: failing?.cause ?? null,
              check_at: checkAtMs === null ? null : new Date(checkAtMs)
            },
            ...(row.status === to
              ? { changes: [], events: [] }
              : { changes: [change], events: [{ type: to, status: to, at: ms, details }] })
          })
        }
      })

      const decideDue = Effect.fnUntraced(function* (at: Date) {
        yield* decide(yield* repo.findDueForUpdate(at, batch), at)
      }, transaction)

      const decideMonitors = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        ids: ReadonlyArray<string>,
        at: Date
      ) {
        yield* decide(yield* repo.findManyForUpdate(workspaceId, ids), at)
      }, transaction)

      return Processes.of({
        report: Effect.fn("Processes.report")(function* (worker, observations) {
          const byId = new Map(observations.map((one) => [one.monitor_id.toLowerCase(), one]))
          const rows = yield* reports.findReported(worker, [...byId.keys()])
          if (rows.length === 0) return
          const at = yield* now
          const evaluated = rows.flatMap((row) => {
            const seen = byId.get(row.monitor_id)
            return seen === undefined ? [] : [evaluateObservation(row, seen, at.getTime())]
          })
          yield* transaction(reports.upsert(worker, evaluated, at))
          const due = evaluated.filter(({ isDue }) => isDue).map(({ row }) => row)
          const idsOf = (some: ReadonlyArray<ProcessRow>) => some.map((row) => row.monitor_id)
          const [ofManyWorkers, ofOneWorker] = [
            due.filter(({ worker_id }) => worker_id === null),
            due.filter(({ worker_id }) => worker_id !== null)
          ]
          // A monitor with many workers receives many reports at the same time. `checkDue` makes
          // one decision for all of them.
          if (ofManyWorkers.length > 0) {
            yield* transaction(repo.updateDue(worker.workspace_id, idsOf(ofManyWorkers), at))
          }
          if (ofOneWorker.length > 0)
            yield* decideMonitors(worker.workspace_id, idsOf(ofOneWorker), at)
        }),

        checkDue: Effect.gen(function* () {
          const next = yield* repo.findNextCheck
          if (next === undefined) return pollEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(dueInMs, pollEveryMs)
          yield* decideDue(at)
          return 100
        })
      })
    })
  )
}

const noReports: ProcessReportSummary = { atMs: null, total: null, failing: null }

/** Evaluates one report, and returns whether it can change the monitor's status. */
const evaluateObservation = (
  row: RowWithPreviousReport,
  { count, cpu_percent, pids, refused, rss_bytes }: ProcessObservation,
  nowMs: number
): NewProcessReport & { readonly row: RowWithPreviousReport; readonly isDue: boolean } => {
  const report = { count, cpu_percent, pids, rss_bytes, ...(refused && { refused }) }
  const isFirst = row.before_at === null || nowMs - row.before_at.getTime() > silentAfterMs(row)
  const before = isFirst
    ? null
    : toOngoingFailure({ failing: row.before_failing, failing_since: row.before_failing_since })
  const found = evaluateProcessReport(row, before, report, nowMs)
  const failing =
    found === null || row.worker_id !== null
      ? found
      : {
          ...found,
          cause: { ...found.cause, message: `On ${row.worker_name}: ${found.cause.message}` }
        }
  const isNew = isFirst || (before === null) !== (failing === null)
  const checkAtMs = row.check_at?.getTime() ?? null
  const current = { status: row.status, checkAtMs }
  const isDue = canChangeStatus(row, current, { failing, isNew }, nowMs)
  return { row, report, failing, isDue }
}

/**
 * Checks process monitors on every node that makes calls. Each row is locked by only one of them.
 * The checks begin some time after the start, because agents need time to reconnect even after a
 * short restart.
 */
export const ProcessChecksLayer: Layer.Layer<never, never, Processes> = Layer.effectDiscard(
  Effect.flatMap(Processes, ({ checkDue }) =>
    Effect.sleep(agentReconnectMs).pipe(
      Effect.andThen(
        loop("checking process monitors", checkDue, { between: (ms) => Effect.sleep(ms) })
      ),
      Effect.forkScoped
    )
  )
)
