import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ProcessObservation } from "@scheduling/domain/workers/WorkerProtocol"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop } from "../../core/index.ts"
import { agentsBackMs, findLastAway } from "../../engine/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { StatusChanges } from "../StatusChanges.ts"
import {
  decideProcess,
  isDecisionDue,
  judgeReport,
  type ReportSummary,
  silentAfterMs
} from "./decideProcess.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"
import { type NewReport, ProcessReportsRepo } from "./ProcessReportsRepo.ts"
import {
  type ProcessRow,
  processTable,
  type ReportedRow,
  processState,
  toFailing
} from "./ProcessRow.ts"

const batch = 200
const pollEveryMs = 2_000

/** Decides by what agents report, and by their silence. */
export class Processes extends Context.Service<
  Processes,
  {
    /** Observations of monitors that are not this worker's, or are paused, are ignored. */
    readonly report: (
      worker: { readonly id: string; readonly workspace_id: AuthorizedWorkspaceId },
      observations: ReadonlyArray<ProcessObservation>
    ) => Effect.Effect<void>
    /** Decides about monitors that are due. Returns for how many milliseconds nothing else is. */
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

      /** Reports are read after the rows were locked, so that none is missed. */
      const judge = Effect.fnUntraced(function* (rows: ReadonlyArray<ProcessRow>, at: Date) {
        if (rows.length === 0) return
        const reported = yield* reports.findReportSummaries(rows, at)
        const awayUntil = yield* Effect.orDie(findLastAway(sql))
        const ms = at.getTime()
        for (const row of rows) {
          const { cause, checkAtMs, state } = decideProcess(
            row,
            processState(row),
            reported.get(row.monitor_id) ?? nothing,
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

      const judgeDue = Effect.fnUntraced(function* (at: Date) {
        yield* judge(yield* repo.findDueForUpdate(at, batch), at)
      }, transaction)

      const judgeSome = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        ids: ReadonlyArray<string>,
        at: Date
      ) {
        yield* judge(yield* repo.findManyForUpdate(workspaceId, ids), at)
      }, transaction)

      return Processes.of({
        report: Effect.fn("Processes.report")(function* (worker, observations) {
          const byId = new Map(observations.map((one) => [one.monitor_id.toLowerCase(), one]))
          const rows = yield* reports.findReported(worker, [...byId.keys()])
          if (rows.length === 0) return
          const at = yield* now
          const judged = rows.flatMap((row) => {
            const seen = byId.get(row.monitor_id)
            return seen === undefined ? [] : [judgeOne(row, seen, at.getTime())]
          })
          yield* transaction(reports.upsert(worker, judged, at))
          const due = judged.filter(({ isDue }) => isDue).map(({ row }) => row)
          const idsOf = (some: ReadonlyArray<ProcessRow>) => some.map((row) => row.monitor_id)
          const [ofMany, ofOne] = [
            due.filter(({ worker_id }) => worker_id === null),
            due.filter(({ worker_id }) => worker_id !== null)
          ]
          // Many workers may report on one monitor at once, so one decision is made for all of them.
          if (ofMany.length > 0) {
            yield* transaction(repo.updateDue(worker.workspace_id, idsOf(ofMany), at))
          }
          if (ofOne.length > 0) yield* judgeSome(worker.workspace_id, idsOf(ofOne), at)
        }),

        checkDue: Effect.gen(function* () {
          const next = yield* repo.findNextCheck
          if (next === undefined) return pollEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(dueInMs, pollEveryMs)
          yield* judgeDue(at)
          return 100
        })
      })
    })
  )
}

const nothing: ReportSummary = { atMs: null, together: null, failing: null }

/** The result of a report, and whether it may change the status of the monitor. */
const judgeOne = (
  row: ReportedRow,
  { count, cpu_percent, pids, refused, rss_bytes }: ProcessObservation,
  nowMs: number
): NewReport & { readonly row: ReportedRow; readonly isDue: boolean } => {
  const report = { count, cpu_percent, pids, rss_bytes, ...(refused && { refused }) }
  const isFirst = row.before_at === null || nowMs - row.before_at.getTime() > silentAfterMs(row)
  const before = isFirst
    ? null
    : toFailing({ failing: row.before_failing, failing_since: row.before_failing_since })
  const found = judgeReport(row, before, report, nowMs)
  const failing =
    found === null || row.worker_id !== null
      ? found
      : {
          ...found,
          cause: { ...found.cause, message: `on ${row.worker_name}: ${found.cause.message}` }
        }
  const isNew = isFirst || (before === null) !== (failing === null)
  const checkAtMs = row.check_at?.getTime() ?? null
  const state = { status: row.status, checkAtMs }
  const isDue = isDecisionDue(row, state, { failing, isNew }, nowMs)
  return { row, report, failing, isDue }
}

/**
 * Runs on every node with a runner; each row is decided about by one of them. It begins late, because
 * agents need time to come back even after a short restart.
 */
export const SilencesLayer: Layer.Layer<never, never, Processes> = Layer.effectDiscard(
  Effect.flatMap(Processes, ({ checkDue }) =>
    Effect.sleep(agentsBackMs).pipe(
      Effect.andThen(
        loop("judging silent workers", checkDue, { between: (ms) => Effect.sleep(ms) })
      ),
      Effect.forkScoped
    )
  )
)
