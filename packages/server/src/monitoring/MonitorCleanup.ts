import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, runAllInSequence } from "../core/index.ts"
import { IncidentsRepo } from "../incidents/index.ts"
import { UptimeRepo } from "./uptime/UptimeRepo.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"

/**
 * Deletes the events and statistics of deleted monitors, old statistics, and incidents that closed
 * before the retention period. Events of existing monitors are removed with the partition of their
 * day (see `Partitions`).
 */
export const MonitorCleanupLayer: Layer.Layer<
  never,
  never,
  AppConfig | IncidentsRepo | MonitorEventsRepo | UptimeRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { retentionDays } = yield* AppConfig
    const events = yield* MonitorEventsRepo
    const incidents = yield* IncidentsRepo
    const uptime = yield* UptimeRepo
    const clean = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      yield* runAllInSequence([
        events.removeOfDeletedMonitors,
        incidents.removeClosed(new Date(now.getTime() - retentionDays * dayMs)),
        uptime.removeOld(now)
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
