import { Effect } from "effect"
import { AgentState } from "../AgentState.ts"
import { makeIdlePause } from "../service/makeIdlePause.ts"
import { requestTimeoutMs, ServiceClient } from "../service/ServiceClient.ts"
import { exchangeHeartbeat } from "./sendHeartbeats.ts"
import type { Session } from "./Session.ts"

/** How long a claim is delayed so that more slots can become free. */
const gatherSlotsMs = 10

/**
 * The agent pauses if an empty response arrives sooner than this, because the service should have
 * waited for a due run.
 */
const earlyResponseMs = 1_000

export const claimRuns = Effect.fnUntraced(function* (session: Session) {
  const agent = yield* AgentState
  const service = yield* ServiceClient
  const { calls, nowMs, retries, runs, settings, signals } = agent
  const pause = yield* makeIdlePause
  let gotNothing = false

  const claim = (slots: number, waitSeconds: number) =>
    retries.untilAnswered(
      "claiming runs",
      Effect.suspend(() =>
        Effect.timeout(
          service.claim({
            query: {
              session: session.id,
              slots,
              wait_seconds: waitSeconds,
              ...(gotNothing && runs.size === 0 && { idle: true }),
              ...(agent.watchListHash !== "" && { watching: agent.watchListHash })
            }
          }),
          waitSeconds * 1_000 + requestTimeoutMs
        )
      )
    )

  const claimOnce = Effect.gen(function* () {
    const wanted = runs.wanted(nowMs())
    if (wanted === 0) return yield* signals.slotFreed.wait
    if (runs.size > 0 && wanted < settings.slots / 2) yield* Effect.sleep(gatherSlotsMs)
    const slots = runs.wanted(nowMs())
    if (slots === 0) return
    const claimedAtMs = nowMs()
    runs.noteClaim(claimedAtMs)
    // A claim that prefetches runs does not wait for runs to become due.
    const waitSeconds = slots > runs.free ? 0 : session.waitSeconds
    const { beat = false, calls: given } = yield* claim(slots, waitSeconds)
    gotNothing = given.length === 0
    const takenCount = runs.take(given, slots, nowMs())
    calls.beginAll()
    const tookLong = nowMs() - claimedAtMs > earlyResponseMs
    // The response to this heartbeat contains the probes, or the new list of watched processes. The
    // next claim sends the hash of that list.
    const hasProbes = beat && (yield* exchangeHeartbeat(session))
    yield* pause(takenCount > 0 || hasProbes || tookLong)
    if (beat || (given.length > 0 && agent.isIdle)) signals.heartbeatDue.notify()
    if (agent.isIdle) yield* agent.reportStatus
  })

  return yield* Effect.forever(claimOnce)
})
