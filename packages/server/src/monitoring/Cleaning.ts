import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, runAllInTurn } from "../core/index.ts"
import { IncidentsRepo } from "./incidents/IncidentsRepo.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"

/**
 * Every ten minutes, deletes the events of deleted monitors, and closed incidents that are older than
 * the retention. Old events are dropped by day (see `Partitions`).
 */
export const MonitorsCleaningLayer: Layer.Layer<
  never,
  never,
  AppConfig | IncidentsRepo | MonitorEventsRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { retentionDays } = yield* AppConfig
    const events = yield* MonitorEventsRepo
    const incidents = yield* IncidentsRepo
    const clean = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      yield* runAllInTurn([
        events.removeOfGone,
        incidents.removeClosed(new Date(now.getTime() - retentionDays * dayMs))
      ])
    })
    yield* Effect.forkScoped(
      loop("cleaning up after monitors", clean, {
        between: () => Effect.sleep("10 minutes"),
        pauseAtMost: "1 minute"
      })
    )
  })
)
