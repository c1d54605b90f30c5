/**
 * The code shared by all kinds of monitors whose targets are checked periodically. `Checks` runs
 * the checks. Each kind provides a prober and describes its target.
 */
import { type Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { onlyOnRunnerNodes } from "../../core/index.ts"
import { PlaceChecks } from "../places/PlaceChecks.ts"
import { Checks, ChecksLayer, Probers } from "./Checks.ts"
import { ChecksRepo } from "./ChecksRepo.ts"

export { type Prober, Probers } from "./Checks.ts"
export type { DueMonitorRow } from "./ChecksRepo.ts"

/** The layer that checks the targets of all kinds. */
export const checkingLayer = <R>(probers: Effect.Effect<Probers["Service"], never, R>) =>
  onlyOnRunnerNodes(
    ChecksLayer.pipe(
      Layer.provide(Checks.layer),
      Layer.provide(PlaceChecks.layer),
      Layer.provide(Layer.effect(Probers, probers)),
      Layer.provide(ChecksRepo.layer)
    )
  )

/** Corrects the times of checks that were written before the database clock was set back. */
export const correctCheckTimesAfterClockSetBack = (sql: SqlClient.SqlClient) => sql`
  UPDATE checked_monitors
  SET check_at = now(), recorded_at = NULL
  WHERE check_at > now() + (interval_seconds + 120) * interval '1 second'`
