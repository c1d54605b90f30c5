import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { correctMonitorTimesAfterClockSetBack, Deadlines } from "../monitoring/index.ts"
import { correctNotificationTimesAfterClockSetBack } from "../notifications/index.ts"
import { loop, runAllInSequence } from "../core/index.ts"
import { correctRunTimesAfterClockSetBack, wasClockSetBack } from "../engine/index.ts"
import { DatabaseClock } from "../store/index.ts"

/**
 * Corrects times that were written while the database clock was ahead. Each node with a runner does
 * this when it starts and after a step of the clock. Correct times stay as they are, so several
 * nodes can do this at the same time.
 */
export const TimeCorrectorLayer: Layer.Layer<never, never, Deadlines | SqlClient.SqlClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { correctTimes } = yield* Deadlines
      const clock = yield* DatabaseClock
      /**
       * The number of clock steps at the last correction. Undefined until this node has checked the
       * clock.
       */
      let doneAfter: number | undefined

      const correctAll = Effect.gen(function* () {
        const ended = clock.endedSteps
        const isDue = doneAfter === undefined ? yield* wasClockSetBack(sql) : doneAfter < ended
        if (isDue) {
          yield* runAllInSequence([
            correctTimes,
            correctMonitorTimesAfterClockSetBack(sql),
            correctNotificationTimesAfterClockSetBack(sql),
            correctRunTimesAfterClockSetBack(sql)
          ])
          yield* Effect.logInfo(
            "corrected times that were written while the database clock was ahead"
          )
        }
        doneAfter = ended
        if (clock.endedSteps === ended) yield* clock.steppedWaker.wait(60_000)
      })
      yield* Effect.forkScoped(loop("correcting times after a step of the clock", correctAll))
    })
  )
