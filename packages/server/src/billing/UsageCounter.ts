import { Effect, Layer } from "effect"
import { AppConfig, loop } from "../core/index.ts"
import { StatsRollUpRepo } from "../tasks/index.ts"
import { KeepingToPlans } from "./KeepingToPlans.ts"

/** The most executions that one transaction counts. */
const pieceSize = 50_000

/**
 * Counts the executions of each workspace by day, and enforces the monthly limits of plans right
 * after. Without such a limit, nothing waits for the count.
 */
export const UsageCounterLayer: Layer.Layer<
  never,
  never,
  AppConfig | KeepingToPlans | StatsRollUpRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { plans } = yield* AppConfig
    const { keepMonths } = yield* KeepingToPlans
    const repo = yield* StatsRollUpRepo
    const limitsMonths = [...plans.plans.values()].some(
      ({ limits }) => limits.executions_a_month !== null
    )

    const turn = Effect.gen(function* () {
      const upTo = yield* repo.settledOrdinal
      for (;;) {
        const counted = yield* repo.countUsage({ upTo, size: pieceSize })
        if (counted === undefined) return
        yield* keepMonths(counted)
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
