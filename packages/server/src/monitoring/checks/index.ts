/**
 * The code that all kinds with targets checked at an interval share. `Checks` runs the checks. A
 * kind provides a prober and describes its target.
 */
import { type Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { onRunnerNodes } from "../../core/index.ts"
import { Checks, ChecksLayer, Probers } from "./Checks.ts"
import { ChecksRepo } from "./ChecksRepo.ts"

export { type CheckOutcome, type Prober, Probers } from "./Checks.ts"

/** The layer that checks the targets of all kinds. */
export const checkingLayer = <R>(probers: Effect.Effect<Probers["Service"], never, R>) =>
  onRunnerNodes(
    ChecksLayer.pipe(
      Layer.provide(Checks.layer),
      Layer.provide(Layer.effect(Probers, probers)),
      Layer.provide(ChecksRepo.layer)
    )
  )

/** Corrects times that were written before the clock of the database was set back. */
export const correctCheckTimes = (sql: SqlClient.SqlClient) => sql`
  UPDATE checked_monitors
  SET check_at = now(), recorded_at = NULL
  WHERE check_at > now() + (interval_seconds + 120) * interval '1 second'`
