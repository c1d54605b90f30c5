import { Effect, Layer, Schedule } from "effect"
import { AppConfig } from "../Config.ts"
import { ExecutionStatsRepo } from "./ExecutionStatsRepo.ts"

/**
 * Every ten minutes, on every node: takes in the hours that are complete by now, one after the
 * other, and removes those whose executions are gone. What fails is made up for by the next turn.
 */
export const StatsRollUpLayer: Layer.Layer<never, never, AppConfig | ExecutionStatsRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { retentionDays } = yield* AppConfig
      const repo = yield* ExecutionStatsRepo
      yield* repo.rollUp.pipe(
        Effect.repeat({ while: (tookIn) => tookIn }),
        Effect.andThen(repo.removeOlderThan(retentionDays)),
        Effect.catchCause((cause) => Effect.logWarning("could not roll up statistics", cause)),
        Effect.repeat(Schedule.spaced("10 minutes")),
        Effect.forkScoped
      )
    })
  )
