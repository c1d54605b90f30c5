import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, runAllInSequence } from "../core/index.ts"
import { HousekeepingRepo } from "./HousekeepingRepo.ts"

/**
 * Deletes expired rows every ten minutes. The first pass runs a minute after startup, when a node
 * is less busy.
 */
export const HousekeepingLayer: Layer.Layer<never, never, AppConfig | HousekeepingRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { auditRetentionDays, retentionDays } = yield* AppConfig
      const repo = yield* HousekeepingRepo
      const sweep = Effect.gen(function* () {
        const now = yield* DateTime.nowAsDate
        const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs)
        yield* runAllInSequence([
          repo.removeExpired(now),
          repo.removeEndedTasks(daysAgo(retentionDays)),
          repo.removeEndedAhead(daysAgo(-1), daysAgo(retentionDays)),
          repo.removeProgress(daysAgo(retentionDays)),
          repo.removeInputs(daysAgo(retentionDays)),
          repo.removeReplacedCalls(daysAgo(retentionDays)),
          repo.removeAuditEvents(daysAgo(auditRetentionDays)),
          repo.deleteUnusedFlows,
          repo.eraseAuditEvents
        ])
      })
      yield* Effect.forkScoped(
        loop("housekeeping", sweep, {
          between: () => Effect.sleep("10 minutes"),
          pauseAtMost: "1 minute"
        }).pipe(Effect.delay("1 minute"))
      )
    })
  )
