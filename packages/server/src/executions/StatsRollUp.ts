import { Effect, Layer } from "effect"
import { AppConfig } from "../Config.ts"
import { loop } from "../runner/Loop.ts"
import { ExecutionStatsRepo } from "./ExecutionStatsRepo.ts"

/**
 * Every ten minutes, on every node: takes in the hours that are complete by now, one after the
 * other, and removes those whose executions are gone. What fails is tried again.
 */
export const StatsRollUpLayer: Layer.Layer<never, never, AppConfig | ExecutionStatsRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { retentionDays } = yield* AppConfig
      const repo = yield* ExecutionStatsRepo
      const turn = repo.rollUp.pipe(
        Effect.repeat({ while: (tookIn) => tookIn }),
        Effect.andThen(repo.removeOlderThan(retentionDays))
      )
      yield* Effect.forkScoped(
        loop("rolling up statistics", turn, {
          between: () => Effect.sleep("10 minutes"),
          pauseAtMost: "1 minute"
        })
      )
    })
  )
