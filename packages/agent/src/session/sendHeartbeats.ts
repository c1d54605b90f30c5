import { Effect } from "effect"
import { Agent } from "../Agent.ts"
import { observeProcesses } from "../processes/observeProcesses.ts"
import { requestTimeoutMs, Service } from "../service/Service.ts"
import type { Session } from "./Session.ts"

/**
 * A run that has waited this long for a slot is returned, because another worker may have a free
 * slot.
 */
const maxSlotWaitMs = 1_000

/**
 * Sends heartbeats at an interval and on demand, and observes processes concurrently. Heartbeats do
 * not wait for an observation, which may hang.
 */
export const sendHeartbeats = (session: Session) =>
  Effect.raceFirst(Effect.forever(heartbeatOnce(session)), Effect.forever(observeOnce))

/** Sends a heartbeat with the latest observations, and executes the commands in the response. */
export const exchangeHeartbeat = Effect.fnUntraced(function* ({ id }: Session) {
  const agent = yield* Agent
  const service = yield* Service
  const { calls, processes, retries, runs, signals } = agent
  const reports = processes.takeReports()
  const orders = yield* retries.untilAnswered(
    "sending a heartbeat",
    Effect.suspend(() =>
      Effect.timeout(
        service.beat({ payload: { session: id, running: [...runs.ids], reports } }),
        requestTimeoutMs
      )
    )
  )
  processes.watch(orders.watch)
  signals.watchChanged.notify()
  agent.watching = orders.watching
  for (const runId of orders.cancel) calls.cancel(runId)
})

const heartbeatOnce = Effect.fnUntraced(function* (session: Session) {
  const agent = yield* Agent
  const { calls, nowMs, runs, signals } = agent
  calls.returnWaiting(nowMs() - maxSlotWaitMs)
  yield* exchangeHeartbeat(session)
  yield* agent.reportStatus
  agent.isIdle = runs.size === 0
  yield* Effect.raceFirst(
    agent.isIdle ? Effect.never : Effect.sleep(session.beatMs),
    signals.beatDue.wait
  )
})

const observeOnce = Effect.gen(function* () {
  const { nowMs, processes, signals } = yield* Agent
  const restMs = processes.restMs(nowMs())
  yield* Effect.raceFirst(
    restMs === Infinity ? Effect.never : Effect.sleep(restMs),
    signals.watchChanged.wait
  )
  if (yield* observeProcesses(processes, nowMs())) signals.beatDue.notify()
})
