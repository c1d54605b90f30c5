import { DateTime, Effect, Layer, Schedule } from "effect"
import { AppConfig } from "../Config.ts"
import { dayMs } from "../platform/millis.ts"
import { HousekeepingRepo } from "./HousekeepingRepo.ts"

/** Sweeps every ten minutes; a sweep that fails is made up for by the next. */
export const HousekeepingLayer: Layer.Layer<never, never, AppConfig | HousekeepingRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { retentionDays } = yield* AppConfig
      const repo = yield* HousekeepingRepo
      const sweep = Effect.flatMap(DateTime.nowAsDate, (now) =>
        Effect.andThen(
          repo.removeExpired(now),
          repo.removeEndedTasks(new Date(now.getTime() - retentionDays * dayMs))
        )
      )
      yield* sweep.pipe(
        Effect.catchCause((cause) => Effect.logWarning("could not remove expired rows", cause)),
        Effect.repeat(Schedule.spaced("10 minutes")),
        Effect.forkScoped
      )
    })
  )
