import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Deadlines, setMonitorsRight } from "../monitoring/index.ts"
import { setNotificationsRight } from "../notifications/index.ts"
import { eachInTurn, loop } from "../core/index.ts"
import { setRunsRight, wasSetBack } from "../engine/index.ts"
import { DatabaseClock } from "../store/index.ts"

/**
 * Corrects times that were written while the database's clock was ahead. Each node with a runner
 * does so after a step, and at its start. It changes nothing that is right, so several nodes may do
 * it.
 */
export const SettingRightLayer: Layer.Layer<never, never, Deadlines | SqlClient.SqlClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { setRight } = yield* Deadlines
      const clock = yield* DatabaseClock
      /** The number of steps after which it last ran. Undefined until this node has checked. */
      let doneAfter: number | undefined

      const setAllRight = Effect.gen(function* () {
        const ended = clock.endedSteps
        const isDue = doneAfter === undefined ? yield* wasSetBack(sql) : doneAfter < ended
        if (isDue) {
          yield* eachInTurn([
            setRight,
            setMonitorsRight(sql),
            setNotificationsRight(sql),
            setRunsRight(sql)
          ])
          yield* Effect.logInfo("what waited for a time of the wrong clock goes by the right one")
        }
        doneAfter = ended
        if (clock.endedSteps === ended) yield* clock.steppedBell.wait(60_000)
      })
      yield* Effect.forkScoped(loop("setting times right after a step of the clock", setAllRight))
    })
  )
