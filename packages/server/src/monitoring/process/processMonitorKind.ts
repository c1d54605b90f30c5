import type { ProcessEvent } from "@scheduling/domain/monitors/process/ProcessEvent"
import {
  countProblem,
  defaultMinCount,
  processDefaults,
  type ProcessMonitor,
  type ProcessMonitorInput,
  type ProcessMonitorUpdate
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { type MonitorKind, decidePause } from "../MonitorKind.ts"
import { type ProcessRules, silentAfterMs } from "./decideProcess.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"
import {
  type JoinedReport,
  type ProcessColumns,
  type ProcessRow,
  processTable,
  toProcessMonitor
} from "./ProcessRow.ts"

export interface ProcessTypes {
  readonly Row: ProcessRow
  readonly Columns: ProcessColumns
  readonly Joined: JoinedReport
  readonly Input: ProcessMonitorInput
  readonly Changes: ProcessMonitorUpdate
  readonly Monitor: ProcessMonitor
  readonly Details: { readonly message: string }
  readonly Event: ProcessEvent
}

/**
 * Defines the process monitor, which watches processes on the machines of workers. Agents report
 * them to `Processes`.
 */
export const processMonitorKind = Effect.map(ProcessMonitorsRepo, (repo) => {
  const kind: MonitorKind<ProcessTypes> = {
    table: processTable,
    rows: repo,
    toSettings: (input) => ({
      ...processDefaults,
      labels: null,
      min_count: defaultMinCount(input),
      ...input,
      worker_id: input.worker_id?.toLowerCase() ?? null
    }),
    changeSettings: (row, changes) => {
      const moves = changes.worker_id !== undefined || changes.labels !== undefined
      const settings = { ...row, ...(moves && { worker_id: null, labels: null }), ...changes }
      return countProblem(settings) ?? settings
    },
    checkTarget: Effect.fnUntraced(function* (workspaceId, { worker_id }) {
      if (worker_id !== undefined && !(yield* repo.hasWorker(workspaceId, worker_id))) {
        return yield* ValidationFailed.at(
          ["worker_id"],
          "not_found",
          `matches no worker in this workspace: ${worker_id}`
        )
      }
    }),
    initialColumns: ({ grace_seconds = 0, interval_seconds = 0 }, at) => ({
      since: at,
      check_at: silentAt(at, { grace_seconds, interval_seconds })
    }),
    decideSettings: (row, settings, at) => ({
      columns: { ...settings, ...startedAt({ ...row, ...settings }, row.status !== "paused", at) },
      changes: [],
      events: []
    }),
    decidePaused: (row, isPaused, at) => ({
      columns: startedAt(row, !isPaused, at),
      ...decidePause(row, isPaused, at)
    }),
    show: toProcessMonitor,
    showDetails: ({ message = null }) => ({ message })
  }
  return kind
})

type Times = Pick<ProcessRules, "grace_seconds" | "interval_seconds">

/** Returns the time at which the monitor goes down if no worker has reported until then. */
const silentAt = (at: Date, times: Times) => new Date(at.getTime() + silentAfterMs(times))

/** Returns the columns that restart the monitor: only reports after `at` count. */
const startedAt = (times: Times, isWatched: boolean, at: Date) => ({
  since: at,
  check_at: isWatched ? silentAt(at, times) : null,
  failing_since: null,
  failing: null
})
