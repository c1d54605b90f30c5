import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { onlyOnRunnerNodes } from "../../core/index.ts"
import { isAheadOfClock } from "../../store/index.ts"
import { ProcessMonitorsHandlers } from "./http.ts"
import { Processes, ProcessChecksLayer } from "./Processes.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "./ProcessReportsRepo.ts"
import { processTable } from "./ProcessRow.ts"

export const processMonitors = {
  table: processTable,
  layer: Layer.mergeAll(ProcessMonitorsHandlers, onlyOnRunnerNodes(ProcessChecksLayer)).pipe(
    Layer.provideMerge(Processes.layer),
    Layer.provide([ProcessMonitorsRepo.layer, ProcessReportsRepo.layer])
  ),
  correctTimes: (sql: SqlClient.SqlClient) => [
    sql`
      UPDATE process_reports
      SET reported_at = least(reported_at, now()), failing_since = least(failing_since, now())
      WHERE ${sql.literal(isAheadOfClock("reported_at"))}`,
    // `check_at` makes these monitors due now. Deciding again is harmless, because a decision
    // depends only on the reports.
    sql`
      UPDATE process_monitors
      SET
        since = least(since, now()),
        failing_since = least(failing_since, now()),
        check_at = least(check_at, now())
      WHERE ${sql.literal(isAheadOfClock("greatest(since, failing_since, check_at)"))}`
  ]
}
