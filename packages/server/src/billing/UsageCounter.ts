import { Effect, Layer } from "effect"
import { AppConfig, loop } from "../core/index.ts"
import { StatsRollUpRepo } from "../tasks/index.ts"
import { PlanEnforcement } from "./PlanEnforcement.ts"

const batchSize = 50_000

/**
 * Counts each workspace's daily executions, and enforces the plans' monthly limits after each
 * count. If no plan has such a limit, it counts less often.
 */
export const UsageCounterLayer: Layer.Layer<
  never,
  never,
  AppConfig | PlanEnforcement | StatsRollUpRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { plans } = yield* AppConfig
    const { enforceMonths } = yield* PlanEnforcement
    const repo = yield* StatsRollUpRepo
    const limitsMonths = [...plans.plans.values()].some(
      ({ limits }) => limits.executions_a_month !== null
    )

    const turn = Effect.gen(function* () {
      const upTo = yield* repo.settledOrdinal
      for (;;) {
        const counted = yield* repo.countUsage({ upTo, size: batchSize })
        if (counted === undefined) return
        yield* enforceMonths(counted)
      }
    })

    yield* Effect.forkScoped(
      loop("counting usage", turn, {
        between: () => Effect.sleep(limitsMonths ? "3 seconds" : "1 minute"),
        pauseAtMost: "1 minute"
      })
    )
  })
)
