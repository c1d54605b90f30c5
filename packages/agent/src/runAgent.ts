import { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Deferred, Effect, Exit } from "effect"
import { AgentState } from "./AgentState.ts"
import { pluralize } from "./pluralize.ts"
import { missingLabelsWarning, formatLabels } from "./missingLabelsWarning.ts"
import {
  toAgentExitError,
  type ServiceRejection,
  findServiceRejection
} from "./ServiceRejection.ts"
import { makeIdlePause } from "./service/makeIdlePause.ts"
import { claimRuns } from "./session/claimRuns.ts"
import { abandonRuns, drainSession } from "./session/drainSession.ts"
import { sendHello } from "./session/sendHello.ts"
import { sendHeartbeats } from "./session/sendHeartbeats.ts"
import type { Session } from "./session/Session.ts"
import { submitResults } from "./session/submitResults.ts"

/**
 * The agent pauses after a session shorter than this. The service ends a session 15 seconds after
 * the last heartbeat.
 */
const shortSessionMs = 10_000

/**
 * Runs the agent until `stop` completes:
 *
 * 1. Say hello, which starts a session (`session/sendHello.ts`).
 * 2. Until `stop` completes, claim runs and make their calls (`session/claimRuns.ts`), submit their
 *    results (`session/submitResults.ts`), and send heartbeats and execute the service's commands
 *    (`session/sendHeartbeats.ts`).
 * 3. If the service has ended the session, start again with step 1.
 * 4. When `stop` completes, stop claiming, let calls finish and say goodbye
 *    (`session/drainSession.ts`).
 */
export const runAgent = Effect.fnUntraced(function* (stop: Deferred.Deferred<void>) {
  const { reportStatus } = yield* AgentState
  yield* runSessions(Effect.as(Deferred.await(stop), undefined)).pipe(
    Effect.ensuring(abandonRuns),
    Effect.catch((refusal: ServiceRejection) => Effect.fail(toAgentExitError(refusal))),
    Effect.ensuring(reportStatus)
  )
})

const runSessions = Effect.fnUntraced(function* (stopped: Effect.Effect<undefined>) {
  const agent = yield* AgentState
  const pause = yield* makeIdlePause
  for (;;) {
    yield* agent.reportStatus
    const welcome = yield* Effect.raceFirst(sendHello, stopped)
    if (welcome === undefined)
      return yield* Effect.logInfo("stopping while a request to the service is in progress")
    const session = yield* begin(welcome)
    const startedAtMs = agent.nowMs()
    const exit = yield* Effect.exit(runSession(session, stopped))
    agent.isOnline = false
    if (Exit.isSuccess(exit)) return
    const refusal = findServiceRejection(exit)
    if (!(refusal instanceof SessionEnded) || refusal.reason === "replaced") {
      return yield* Exit.asVoid(exit)
    }
    yield* Effect.logWarning(refusal.message)
    yield* abandonRuns
    yield* Effect.raceFirst(pause(agent.nowMs() - startedAtMs > shortSessionMs), stopped)
  }
})

const begin = Effect.fnUntraced(function* (welcome: Effect.Success<typeof sendHello>) {
  const agent = yield* AgentState
  const { slots, labels } = agent.settings
  agent.worker = welcome.name
  agent.isOnline = true
  yield* Effect.logInfo(
    `worker "${welcome.name}" is online with ${pluralize(slots, "slot")} for ${formatLabels(welcome.labels)}`
  )
  const missing = missingLabelsWarning(labels, welcome.labels)
  if (missing !== undefined) yield* Effect.logWarning(missing)
  yield* agent.reportStatus
  const session: Session = {
    id: welcome.session,
    waitSeconds: welcome.wait_seconds,
    beatMs: welcome.beat_seconds * 1_000
  }
  return session
})

const runSession = Effect.fnUntraced(function* (
  session: Session,
  stopped: Effect.Effect<undefined>
) {
  yield* Effect.raceFirst(
    Effect.raceFirst(claimRuns(session), stopped),
    Effect.raceFirst(submitResults(session), sendHeartbeats(session))
  )
  yield* drainSession(session)
})
