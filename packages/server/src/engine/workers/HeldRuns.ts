import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { joinCallOfRun } from "../joinCallOfRun.ts"
import { positionColumn } from "../chains/ChainRuns.ts"
import type { RunCall, StartedRun } from "../Run.ts"
import type { AccessTokenId } from "../secrets/AccessTokens.ts"

/** A run that was given to an agent, with the options that decide what follows its call. */
export interface AgentRun
  extends
    Pick<
      StartedRun,
      "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "lost" | "position" | "row_at"
    >,
    Pick<RunCall, "retry_count" | "call_options" | "timeout_seconds"> {
  readonly started_ms: number
  /** The access token of a call with OAuth2. Absent if the run was read from the database. */
  readonly token?: AccessTokenId | undefined
}

/** A run that the agent still holds. */
export interface HeldRun extends AgentRun {
  readonly now_ms: number
  readonly cancel_requested: boolean
}

/** Finds the runs that are still running under these leases, by id. */
export const findHeldRuns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  leases: ReadonlyArray<{
    readonly workspace_id: string
    readonly id: string
    readonly attempt: number
    readonly session: number
  }>
) {
  if (leases.length === 0) return new Map<string, HeldRun>()
  const column = columnsOf(leases)
  const rows = yield* sql<HeldRun>`
    SELECT
      runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost,
      runs.cancel_requested, runs.ctid::text AS row_at, ${sql.literal(positionColumn())},
      coalesce(call.retry_count, 0) AS retry_count, call.call_options,
      coalesce(call.timeout_seconds, 30) AS timeout_seconds,
      date_part('epoch', runs.attempt_started_at) * 1000 AS started_ms,
      date_part('epoch', now()) * 1000 AS now_ms
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ id }) => id)},
      ${column("int4", ({ attempt }) => attempt)},
      ${column("int4", ({ session }) => session)}
    ) AS held (workspace_id, id, attempt, session)
    CROSS JOIN LATERAL (
      SELECT ctid, *
      FROM runs
      WHERE runs.workspace_id = held.workspace_id
        AND runs.id = held.id
      OFFSET 0
    ) AS runs
    ${sql.literal(joinCallOfRun)}
    WHERE runs.attempt = held.attempt
      AND runs.lease_owner = held.session
      AND runs.state = 'running'`
  return new Map(rows.map((row) => [row.id, row]))
})
