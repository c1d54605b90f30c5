/**
 * The code shared by all kinds of monitors whose targets are checked periodically. `Checks` runs
 * the checks. Each kind describes its target, and `makeProber.ts` checks it.
 */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { onlyOnRunnerNodes } from "../../core/index.ts"
import { PlaceChecks } from "../places/PlaceChecks.ts"
import { Checks, ChecksLayer } from "./Checks.ts"
import { ChecksRepo } from "./ChecksRepo.ts"

export { type CheckedMonitor, Prober } from "./Checks.ts"

/** The layer that checks the targets of all kinds. */
export const CheckingLayer = onlyOnRunnerNodes(
  ChecksLayer.pipe(
    Layer.provide(Checks.layer),
    Layer.provide(PlaceChecks.layer),
    Layer.provide(ChecksRepo.layer)
  )
)

/** Corrects the times of checks that were written before the database clock was set back. */
export const correctCheckTimesAfterClockSetBack = (sql: SqlClient.SqlClient) => sql`
  UPDATE checked_monitors
  SET check_at = now(), recorded_at = NULL
  WHERE check_at > now() + (interval_seconds + 120) * interval '1 second'`
