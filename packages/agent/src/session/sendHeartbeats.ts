import { Effect } from "effect"
import { AgentState } from "../AgentState.ts"
import { observeProcesses } from "../processes/observeProcesses.ts"
import { requestTimeoutMs, ServiceClient } from "../service/ServiceClient.ts"
import type { Session } from "./Session.ts"

/**
 * A run that has waited this long for a slot is returned, because another worker may have a free
 * slot.
 */
const maxSlotWaitMs = 1_000

/**
 * Sends heartbeats regularly and on demand. Processes are observed concurrently, because an
 * observation can hang and must not delay heartbeats.
 */
export const sendHeartbeats = (session: Session) =>
  Effect.raceFirst(Effect.forever(heartbeatOnce(session)), Effect.forever(observeOnce))

/**
 * Sends a heartbeat with the latest observations and probe results, and executes the commands in
 * the response. Returns whether the response contained new probes.
 */
export const exchangeHeartbeat = Effect.fnUntraced(function* ({ id }: Session) {
  const agent = yield* AgentState
  const service = yield* ServiceClient
  const { calls, probes, processes, retries, runs, signals } = agent
  const reports = processes.takeReports()
  const results = probes.takeResults()
  const orders = yield* retries.untilAnswered(
    "sending a heartbeat",
    Effect.suspend(() =>
      Effect.timeout(
        service.beat({
          payload: {
            session: id,
            running: [...runs.ids],
            reports,
            ...(results.length > 0 && { probes: results })
          }
        }),
        requestTimeoutMs
      )
    )
  )
  processes.watch(orders.watch)
  signals.watchListChanged.notify()
  agent.watchListHash = orders.watching
  for (const runId of orders.cancel) calls.cancel(runId)
  return probes.begin(orders.probes ?? [])
})

const heartbeatOnce = Effect.fnUntraced(function* (session: Session) {
  const agent = yield* AgentState
  const { calls, nowMs, runs, signals } = agent
  calls.returnWaiting(nowMs() - maxSlotWaitMs)
  yield* exchangeHeartbeat(session)
  yield* agent.reportStatus
  agent.isIdle = runs.size === 0
  yield* Effect.raceFirst(
    agent.isIdle ? Effect.never : Effect.sleep(session.beatMs),
    signals.heartbeatDue.wait
  )
})

const observeOnce = Effect.gen(function* () {
  const { nowMs, processes, signals } = yield* AgentState
  const restMs = processes.restMs(nowMs())
  yield* Effect.raceFirst(
    restMs === Infinity ? Effect.never : Effect.sleep(restMs),
    signals.watchListChanged.wait
  )
  if (yield* observeProcesses(processes, nowMs())) signals.heartbeatDue.notify()
})
