import {
  defaultRecentRuns,
  type FailingTasks,
  type RecentRun,
  type RecentRuns,
  type TaskNames,
  type UpcomingRun,
  type UpcomingRuns
} from "@scheduling/domain/activity/Activity"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { parseIds } from "@scheduling/domain/shared/requests/ManyIds"
import { defaultPageLimit } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer } from "effect"
import { toExecution } from "../executions/ExecutionsRepo.ts"
import { timestampOf } from "../../store/index.ts"
import { nextRunTimeOf } from "../TaskOptions.ts"
import { recentIdRange } from "../LastRunRepo.ts"
import { ActivityRepo, type RecentRunRow, type UpcomingTaskRow } from "./ActivityRepo.ts"

interface Query {
  readonly limit?: number
}

interface AskedTasks {
  /** Task ids, separated by commas. */
  readonly task_ids: string
  readonly runs?: number
}

/** Lists the failing tasks of a workspace, its next runs, and the latest runs of its tasks. */
export class Activities extends Context.Service<
  Activities,
  {
    readonly failing: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<FailingTasks>
    readonly upcoming: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<UpcomingRuns>
    readonly recent: (
      workspaceId: AuthorizedWorkspaceId,
      query: AskedTasks
    ) => Effect.Effect<RecentRuns>
    readonly names: (
      workspaceId: AuthorizedWorkspaceId,
      query: Pick<AskedTasks, "task_ids">
    ) => Effect.Effect<TaskNames>
  }
>()("@scheduling/server/tasks/activity/Activities") {
  static readonly layer: Layer.Layer<Activities, never, ActivityRepo> = Layer.effect(
    Activities,
    Effect.gen(function* () {
      const repo = yield* ActivityRepo

      return Activities.of({
        failing: Effect.fn("Activities.failing")(function* (
          workspaceId,
          { limit = defaultPageLimit }: Query
        ) {
          const rows = yield* repo.listFailing(workspaceId, limit)
          return {
            data: rows.map(({ kind, name, task_id, ...row }) => ({
              kind,
              task_id: TaskId.make(task_id),
              name,
              execution: toExecution({ ...row, kind, task_id })
            }))
          }
        }),

        upcoming: Effect.fn("Activities.upcoming")(function* (
          workspaceId,
          { limit = defaultPageLimit }: Query
        ) {
          const rows = yield* repo.listUpcoming(workspaceId, yield* DateTime.nowAsDate, limit)
          return {
            data: rows.flatMap(toUpcoming).toSorted((one, other) => one.at.localeCompare(other.at))
          }
        }),

        recent: Effect.fn("Activities.recent")(function* (workspaceId, query) {
          const { until } = recentIdRange(yield* DateTime.nowAsDate)
          const rows = yield* repo.listRecent(workspaceId, {
            taskIds: parseIds(query.task_ids),
            runs: query.runs ?? defaultRecentRuns,
            until
          })
          const byTask = Map.groupBy(rows, ({ task_id }) => task_id)
          return {
            data: [...byTask].map(([id, runs]) => ({
              task_id: TaskId.make(id),
              runs: runs.map(toRecent)
            }))
          }
        }),

        names: Effect.fn("Activities.names")(function* (workspaceId, query) {
          const rows = yield* repo.listNames(workspaceId, parseIds(query.task_ids))
          return {
            data: rows.map(({ id, kind, name, url }) => ({
              kind,
              task_id: TaskId.make(id),
              name,
              url
            }))
          }
        })
      })
    })
  )
}

const toUpcoming = (row: UpcomingTaskRow): ReadonlyArray<UpcomingRun> => {
  const { id, kind, name, run_at, url } = row
  const at = run_at === null ? nextRunTimeOf(row) : timestampOf(run_at)
  return at === null ? [] : [{ kind, task_id: TaskId.make(id), name, url, at }]
}

const toRecent = ({ duration_ms, finished_at, id, status }: RecentRunRow): RecentRun => ({
  id,
  status,
  finished_at: timestampOf(finished_at),
  duration_ms
})
