import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, runAllInSequence } from "../core/index.ts"
import { IncidentsRepo } from "../incidents/index.ts"
import { PlacesRepo } from "./places/PlacesRepo.ts"
import { UptimeRepo } from "./uptime/UptimeRepo.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"

/**
 * Deletes the events and statistics of deleted monitors, old statistics, results of places that
 * monitors no longer have, and incidents that closed before the retention period. Existing
 * monitors' events are removed together with their day's partition (see `Partitions`).
 */
export const MonitorCleanupLayer: Layer.Layer<
  never,
  never,
  AppConfig | IncidentsRepo | MonitorEventsRepo | PlacesRepo | UptimeRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { retentionDays } = yield* AppConfig
    const events = yield* MonitorEventsRepo
    const incidents = yield* IncidentsRepo
    const places = yield* PlacesRepo
    const uptime = yield* UptimeRepo
    const clean = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      yield* runAllInSequence([
        events.removeOfDeletedMonitors,
        incidents.removeClosed(new Date(now.getTime() - retentionDays * dayMs)),
        uptime.removeOld(now),
        places.removeOld
      ])
    })
    yield* Effect.forkScoped(
      loop("deleting old records of monitors", clean, {
        between: () => Effect.sleep("10 minutes"),
        pauseAtMost: "1 minute"
      })
    )
  })
)
