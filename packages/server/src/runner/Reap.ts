import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { placeColumn } from "./ChainRuns.ts"
import { Endings } from "./Endings.ts"
import { delayedTaskOf, type Settlement, type StepPlace } from "./Run.ts"
import { settle } from "./Settle.ts"

/** A run that takes its node down with it must not take them all. */
const maxLost = 5

const batch = 500

interface LostRun {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  readonly lost: number
  readonly lease_owner: number
  readonly place: StepPlace | null
}

/**
 * Takes back everything that is leased to the nodes. What had not started goes back as it is; what
 * was running starts again as a further attempt, for how the lost one ended nobody knows. Several
 * nodes may do this at once: the fence of `settle` lets each run through once.
 */
export const takeBack = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  nodes: "dead" | number
) {
  const endings = yield* Endings
  const owners =
    nodes === "dead"
      ? sql`SELECT id FROM nodes WHERE died_at IS NOT NULL`
      : sql`SELECT ${nodes}::integer`
  yield* sql`
    UPDATE runs
    SET lease_owner = NULL
    WHERE lease_owner IN (${owners})
      AND state = 'queued'`
  let lost = 0
  for (;;) {
    const runs = yield* sql<LostRun>`
      SELECT
        id, workspace_id, task_id, kind, attempt, lost, lease_owner, ${sql.literal(placeColumn())}
      FROM runs
      WHERE lease_owner IN (${owners})
        AND state = 'running'
      LIMIT ${batch}`
    if (runs.length === 0) return lost
    const settled = yield* settle(sql, runs.map(lostSettlement))
    endings.tell(settled.ended)
    lost += settled.ids.length
  }
})

const lostSettlement = (run: LostRun): Settlement => {
  const poisonous = run.lost + 1 >= maxLost
  return {
    id: run.id,
    workspace_id: run.workspace_id,
    delayed_task_id: delayedTaskOf(run),
    attempt: run.attempt,
    lease_owner: run.lease_owner,
    status: poisonous ? "failed" : null,
    retry_delay_ms: 0,
    lost: true,
    started: true,
    started_ms: null,
    finished_ms: null,
    status_code: null,
    response_body: null,
    error: poisonous
      ? `the node that ran it was lost, for the ${maxLost}th time`
      : "the node that ran it was lost",
    place: run.place
  }
}
