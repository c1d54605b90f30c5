import { Duration, Effect } from "effect"
import { AgentState } from "../AgentState.ts"
import { pluralize } from "../pluralize.ts"
import { ServiceClient } from "../service/ServiceClient.ts"
import { sendHeartbeats } from "./sendHeartbeats.ts"
import type { Session } from "./Session.ts"
import { submitResults } from "./submitResults.ts"

/**
 * Returns the runs whose calls have not started, lets the other calls finish within
 * `drain_seconds`, submits their results and says goodbye.
 */
export const drainSession = Effect.fnUntraced(function* (session: Session) {
  const { calls, runs, settings } = yield* AgentState
  const service = yield* ServiceClient
  calls.returnWaiting(Infinity)
  yield* Effect.logInfo(`stopping: ${pluralize(runs.running, "call is", "calls are")} in progress`)
  const emptied = Effect.whileLoop({
    while: () => runs.size > 0 || runs.hasResults,
    body: () => Effect.sleep(20),
    step: () => {}
  })
  yield* Effect.timeout(emptied, Duration.seconds(settings.drainSeconds)).pipe(
    Effect.raceFirst(submitResults(session)),
    Effect.raceFirst(sendHeartbeats(session)),
    Effect.ignore
  )
  const left = runs.ids
  if (left.length > 0) {
    yield* Effect.logWarning(`${pluralize(left.length, "run goes", "runs go")} to other workers`)
  }
  yield* service
    .beat({ payload: { session: session.id, running: [...left], leaving: true } })
    .pipe(Effect.timeout("5 seconds"), Effect.ignore)
  yield* abandonRuns
})

/** Aborts all calls, because their runs now belong to other workers. */
export const abandonRuns = Effect.gen(function* () {
  const { runs } = yield* AgentState
  for (const cutOff of runs.clear()) cutOff()
})
