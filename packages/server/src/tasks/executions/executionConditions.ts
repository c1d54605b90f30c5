import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  ExecutionKind,
  ExecutionStatus,
  ExecutionTrigger
} from "@scheduling/domain/executions/Execution"
import type { SqlClient, Statement } from "effect/sql"
import { hasBegun, apiStatus } from "../../engine/index.ts"
import { earliestIdAt, latestIdAt } from "./idRange.ts"

export interface ExecutionFilter {
  readonly kind?: ReadonlyArray<ExecutionKind> | undefined
  readonly task_id?: ReadonlyArray<string> | undefined
  /** Tags of tasks. A deleted task has none. */
  readonly tag?: ReadonlyArray<string> | undefined
  readonly status?: ReadonlyArray<ExecutionStatus> | undefined
  readonly trigger?: ReadonlyArray<ExecutionTrigger> | undefined
  readonly status_code?: ReadonlyArray<number> | undefined
  readonly min_duration_ms?: number | undefined
  /** Bounds of `scheduled_for`. `from` is inclusive and `to` exclusive. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly now: Date
}

export type ScheduledFilter = Pick<ExecutionFilter, "kind" | "task_id" | "tag" | "now">

/**
 * SQL for whether the run is due, or was started before it was due. The database clock decides, so
 * that all nodes agree. The bound on the id, by the node's clock, avoids reading thousands of
 * pending runs.
 */
const isDue = (
  sql: SqlClient.SqlClient,
  now: Date,
  hasStarted: "started_at IS NOT NULL" | "duration_ms IS NOT NULL"
) => sql`
  id < ${latestIdAt(now)} AND (scheduled_for <= now() OR ${sql.literal(hasStarted)})`

/** Returns a filter's condition, if the filter is given. */
const ifGiven = <Value>(
  value: Value | undefined,
  condition: (value: Value) => Statement.Fragment
): ReadonlyArray<Statement.Fragment> => (value === undefined ? [] : [condition(value)])

/**
 * SQL for whether the column has one of the values. The values are literals, because PostgreSQL
 * cannot use the partial index on rare statuses with a parameter. They come from a fixed list, so
 * they need no escaping.
 */
const isOneOf = (
  sql: SqlClient.SqlClient,
  column: string,
  values: ReadonlyArray<ExecutionKind | ExecutionStatus | ExecutionTrigger> | undefined
) =>
  ifGiven(values, (given) =>
    sql.literal(`${column} IN (${given.map((value) => `'${value}'`).join(", ")})`)
  )

const isInTasks = (sql: SqlClient.SqlClient, ids: ReadonlyArray<string> | undefined) =>
  ifGiven(ids, (given) =>
    given.length === 1 ? sql`task_id = ${given[0]}` : sql`task_id = ANY (${given}::uuid[])`
  )

const isTagged = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  tags: ReadonlyArray<string> | undefined
) =>
  ifGiven(
    tags,
    (given) => sql`
    task_id IN (
      SELECT tasks.id
      FROM tasks
      WHERE tasks.workspace_id = ${workspaceId}
        AND tasks.tags && ${given}::text[]
    )`
  )

/** The SQL conditions that apply a filter to runs that are scheduled for later. */
export const scheduledConditions = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  { kind, now, tag, task_id }: ScheduledFilter
) => [
  sql`workspace_id = ${workspaceId}`,
  sql`id >= ${earliestIdAt(now)}`,
  sql`NOT ${sql.literal(hasBegun())}`,
  sql`NOT (${isDue(sql, now, "started_at IS NOT NULL")})`,
  ...isOneOf(sql, "kind", kind),
  ...isInTasks(sql, task_id),
  ...isTagged(sql, workspaceId, tag)
]

type Conditions = ReadonlyArray<Statement.Fragment>

const isFinished = (status: ExecutionStatus) => status !== "queued" && status !== "running"

const commonConditions = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  { from, kind, status_code, tag, task_id, to, trigger }: ExecutionFilter
): Conditions => [
  sql`workspace_id = ${workspaceId}`,
  ...isOneOf(sql, "kind", kind),
  ...isInTasks(sql, task_id),
  ...isTagged(sql, workspaceId, tag),
  ...isOneOf(sql, "trigger", trigger),
  ...ifGiven(status_code, (codes) => sql`status_code = ANY (${codes}::int4[])`),
  ...ifGiven(from, (time) => sql`scheduled_for >= ${time}`),
  ...ifGiven(to, (time) => sql`scheduled_for < ${time}`)
]

/**
 * The SQL conditions that apply a filter to rows of `executions`, including stray rows, whose ids
 * do not contain the time at which they were due.
 */
export const finishedConditions = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  filter: ExecutionFilter
): Conditions => {
  const { from, min_duration_ms, now, status } = filter
  return [
    ...commonConditions(sql, workspaceId, filter),
    ...(status === undefined
      ? [isDue(sql, now, "duration_ms IS NOT NULL")]
      : isOneOf(sql, "status", status.filter(isFinished))),
    ...ifGiven(min_duration_ms, (duration) => sql`duration_ms >= ${duration}`),
    ...ifGiven(from, (time) => sql`id >= ${earliestIdAt(time)}`)
  ]
}

/**
 * The SQL conditions that apply a filter to rows of `runs`, to rows of `executions`, and to stray
 * executions. The ids of stray executions do not contain their times, so a filter with `to` must
 * read them separately.
 */
export const executionConditions = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  filter: ExecutionFilter
): Readonly<Record<"runs" | "executions" | "strays", ReadonlyArray<Conditions>>> => {
  const { min_duration_ms, now, status, to } = filter
  const unfinished = status?.filter((one) => !isFinished(one))
  const hasRuns = unfinished?.length !== 0 && min_duration_ms === undefined
  const runs = () => [
    ...commonConditions(sql, workspaceId, filter),
    ...(unfinished === undefined || unfinished.includes("queued")
      ? [isDue(sql, now, "started_at IS NOT NULL")]
      : []),
    ...isOneOf(sql, apiStatus(), unfinished)
  ]
  const hasExecutions = status === undefined || status.some(isFinished)
  const executions = finishedConditions(sql, workspaceId, filter)
  const until = to === undefined ? undefined : latestIdAt(to)
  return {
    runs: hasRuns ? [runs()] : [],
    executions: hasExecutions ? [[...executions, ...ifGiven(until, (id) => sql`id < ${id}`)]] : [],
    strays:
      hasExecutions && until !== undefined ? [[...executions, sql`id >= ${until}`, sql`stray`]] : []
  }
}
