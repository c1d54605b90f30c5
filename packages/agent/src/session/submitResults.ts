import { Effect } from "effect"
import { AgentState } from "../AgentState.ts"
import { pluralize } from "../pluralize.ts"
import { toWorkerResult } from "../runs/HeldRuns.ts"
import { requestTimeoutMs, ServiceClient } from "../service/ServiceClient.ts"
import type { Session } from "./Session.ts"

const gatherMs = 5

/**
 * Submits results soon after they arrive. A second loop submits full batches, so that they do not
 * wait for the response to the previous request.
 */
export const submitResults = Effect.fnUntraced(function* (session: Session) {
  const { runs, signals } = yield* AgentState
  const submitSoon = Effect.gen(function* () {
    if (!runs.hasResults) yield* signals.resultReady.wait
    yield* Effect.sleep(gatherMs)
    yield* submit(session)
  })
  const submitFullBatch = Effect.gen(function* () {
    if (!runs.hasFullBatch) yield* signals.batchReady.wait
    yield* submit(session)
  })
  return yield* Effect.raceFirst(Effect.forever(submitSoon), Effect.forever(submitFullBatch))
})

const submit = Effect.fnUntraced(function* ({ id }: Session) {
  const { nowMs, retries, runs, signals } = yield* AgentState
  const service = yield* ServiceClient
  const results = runs.takeResults()
  if (results.length === 0) return
  const { receipts } = yield* retries
    .untilAnswered(
      "submitting results",
      Effect.suspend(() => {
        const current = runs.withoutReclaimed(results)
        if (current.length === 0) return Effect.succeed({ receipts: [] })
        return Effect.timeout(
          service.results({
            payload: { session: id, results: current.map((one) => toWorkerResult(one, nowMs())) }
          }),
          requestTimeoutMs
        )
      })
    )
    .pipe(Effect.onError(() => Effect.sync(() => runs.putBack(results))))
  runs.release(results)
  signals.slotFreed.notify()
  const fenced = receipts.filter(({ receipt }) => receipt === "fenced").length
  if (fenced > 0) {
    yield* Effect.logWarning(
      `the service has not accepted ${pluralize(fenced, "result")}: it has given the runs to another worker`
    )
  }
})
