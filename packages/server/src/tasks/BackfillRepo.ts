import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maxJitterSeconds } from "@scheduling/domain/cron/jitterMs"
import type { BackfillRequest } from "@scheduling/domain/tasks/Backfill"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { earliestIdAt, latestIdAt } from "./executions/idRange.ts"

const isKnown = "EXISTS (SELECT FROM known WHERE known.scheduled_for = times.at)"

const someAre = (...statuses: ReadonlyArray<string>) => `EXISTS (
  SELECT
  FROM known
  WHERE known.scheduled_for = times.at
    AND known.status IN (${statuses.map((status) => `'${status}'`).join(", ")})
)`

const conditions: Readonly<Record<NonNullable<BackfillRequest["only"]>, string>> = {
  missing: `NOT ${isKnown}`,
  failed: `${someAre("failed")} AND NOT ${someAre("succeeded", "unfinished")}`,
  all: `NOT ${someAre("unfinished")}`
}

/**
 * Returns those of the given times that a backfill should run. This depends on the task's
 * executions at these times, except manual ones. `stray` executions are read separately, because
 * their ids do not contain the time at which they were due.
 */
export const selectBackfillTimes = Effect.fn("BackfillRepo.selectTimes")(function* (
  sql: SqlClient.SqlClient,
  task: {
    readonly kind: "chain" | "cron"
    readonly workspaceId: AuthorizedWorkspaceId
    readonly id: string
  },
  only: NonNullable<BackfillRequest["only"]>,
  times: ReadonlyArray<Date>
) {
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return []
  // Jitter can change the order of the times, so the range is extended by the maximum jitter.
  const [from, to] = [new Date(+first - maxJitterMs), new Date(+last + maxJitterMs)]
  const ofTask = sql`
    workspace_id = ${task.workspaceId}
    AND task_id = ${task.id}`
  const ofSlots = sql`
    ${ofTask}
    AND trigger NOT IN ('manual', 'chain')
    AND scheduled_for BETWEEN ${from} AND ${to}`
  const firsts = sql`
    SELECT id, scheduled_for, status
    FROM executions
    WHERE ${ofSlots}
      AND id >= ${earliestIdAt(from)}
      AND id < ${latestIdAt(to)}
    UNION ALL
    SELECT id, scheduled_for, status
    FROM executions
    WHERE ${ofSlots}
      AND stray
    UNION ALL
    SELECT id, scheduled_for, 'unfinished'
    FROM runs
    WHERE ${ofSlots}`
  const known =
    task.kind === "cron"
      ? sql`known AS MATERIALIZED (${firsts})`
      : sql`
    firsts AS (${firsts}),
    later AS (
      SELECT chain_run_id, status
      FROM executions
      WHERE ${ofTask}
        AND trigger = 'chain'
        AND id >= ${earliestIdAt(from)}
      UNION ALL
      SELECT chain_run_id, 'unfinished'
      FROM runs
      WHERE ${ofTask}
        AND trigger = 'chain'
    ),
    known AS MATERIALIZED (
      SELECT
        firsts.scheduled_for,
        CASE
          WHEN bool_or(later.status = 'unfinished') THEN 'unfinished'
          WHEN bool_or(later.status = 'cancelled') THEN 'cancelled'
          WHEN bool_or(later.status = 'failed') THEN 'failed'
          ELSE firsts.status
        END AS status
      FROM firsts
      LEFT JOIN later ON later.chain_run_id = firsts.id
      GROUP BY firsts.id, firsts.scheduled_for, firsts.status
    )`
  const rows = yield* sql<{ readonly at: Date }>`
    WITH ${known}
    SELECT times.at
    FROM unnest(${times.map((at) => at.toISOString())}::timestamptz[]) AS times (at)
    WHERE ${sql.literal(conditions[only])}
    ORDER BY times.at`
  return rows.map(({ at }) => at)
}, Effect.orDie)

const maxJitterMs = maxJitterSeconds * 1_000
