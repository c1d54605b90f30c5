/**
 * The life of a run: it is enqueued or fired, claimed by a node or an agent, and started; its call
 * is made, and its result is written. Named queues, the signing of calls and completion URLs are
 * here too.
 */
import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import { Effect, Layer } from "effect"
import { AppConfig } from "../core/index.ts"
import { SignalListenerLayer } from "../events/index.ts"
import { stopAtShutdown } from "../http/index.ts"
import { OutgoingCallSettingsLayer } from "./OutgoingCallSettingsLayer.ts"
import { Partitions } from "./Partitions.ts"
import { RunQueue } from "./RunQueue.ts"
import { defaultRunnerOptions, RunnerOptions } from "./RunnerOptions.ts"
import { AgentRunSearch, AgentRunSearchOfNode } from "./workers/AgentRunSearch.ts"
import { type AccessToken, AccessTokens } from "./secrets/AccessTokens.ts"
import { CallSecrets } from "./secrets/CallSecrets.ts"
import { CompletionUrls } from "./completions/CompletionUrls.ts"
import { Completions } from "./completions/Completions.ts"
import { CompletionsRepo } from "./completions/CompletionsRepo.ts"
import { TaskPauses } from "./TaskPauses.ts"
import { Runner } from "./runner/Runner.ts"
import { SigningSecrets } from "./signing/SigningSecrets.ts"
import { AgentRuns } from "./workers/AgentRuns.ts"

export { findLastDowntimeEnd } from "./Absences.ts"
export { type Backlog, measureBacklog, emptyBacklog } from "./Backlog.ts"
export { agentLeaseMs, agentReconnectMs, declareAllNodesDead } from "./Nodes.ts"
export {
  type QueuedRun,
  type RunCall,
  type Settlement,
  makeSettlement,
  type StartedRun
} from "./Run.ts"
export { parseExchangeText } from "./history/exchangeText.ts"
export { firstIdAt } from "./RunId.ts"
export { RunQueue } from "./RunQueue.ts"
export { hasBegun, apiStatus } from "./RunState.ts"
export { dueCountSql, firstDueTimeSql } from "./queues/nextParkedRunsSql.ts"
export {
  flowKeyOfRun,
  flowPartsOf,
  type TaskFlowColumns,
  deleteUnusedFlows
} from "./queues/flows.ts"
export { RunnerOptions } from "./RunnerOptions.ts"
export {
  correctRunTimesAfterClockSetBack,
  wasClockSetBack
} from "./transitions/correctRunTimesAfterClockSetBack.ts"
export { AgentRunSearchOfNode } from "./workers/AgentRunSearch.ts"
export { resultWithoutCall } from "./calling/Execute.ts"
export {
  failWithoutCall,
  type FilledCall,
  type CallValues,
  makeFillCall,
  makeDecryptBatch
} from "./calling/fillCall.ts"
export { loadWholeCall, missingCallFailure } from "./calling/LoadCall.ts"
export { type AccessToken, AccessTokens, CallSecrets }
export { secretValuesFor } from "./secrets/secretValuesFor.ts"
export { makeSigningSecretsCache } from "./calling/signingSecretsCache.ts"
export type { ApprovalDecision } from "./chains/settleApproval.ts"
export {
  insertVersion,
  workerOptionsOf,
  removeReplacedVersions,
  type StoredStep
} from "./chains/ChainVersions.ts"
export { hasCompletionUrl, CompletionUrls } from "./completions/CompletionUrls.ts"
export { handBack } from "./transitions/handBack.ts"
export { settlementOfLostRun, recover } from "./transitions/recover.ts"
export { makeSettleRuns } from "./settleRuns.ts"
export { classifyResult } from "./calling/classifyResult.ts"
export { calendarDaysOf, findCalendars } from "./firing/calendarDays.ts"
export { signingError, SigningSecrets } from "./signing/SigningSecrets.ts"
export { type PausedTask, TaskPauses } from "./TaskPauses.ts"
export { start } from "./transitions/start.ts"
export { publishStarted } from "./publishRunChanges.ts"
export { AgentRuns } from "./workers/AgentRuns.ts"
export { claimForWorker, type DueWorkerRuns, makeFindDueWorkerRuns } from "./workers/WorkerClaim.ts"
export { findHeldRuns, type AgentRun, type HeldRun } from "./workers/HeldRuns.ts"
export { withCompletionRoute } from "./completions/completionRoute.ts"

/**
 * Provides the runner. A node with `RUNNER=off` serves the API, and other nodes notify it of
 * finished runs.
 */
const RunnerLayer = Layer.unwrap(
  Effect.map(AppConfig, ({ retentionDays, runner }) =>
    runner === "off"
      ? SignalListenerLayer
      : stopAtShutdown(
          Runner.layer.pipe(
            Layer.provide(Layer.succeed(RunnerOptions, { ...defaultRunnerOptions, retentionDays }))
          )
        )
  )
)

export const EngineLayer = RunnerLayer.pipe(
  Layer.provideMerge(Completions.layer),
  Layer.provideMerge(Layer.mergeAll(RunQueue.layer, CompletionUrls.layer, AgentRuns.layer)),
  Layer.provide([Partitions.layer, CompletionsRepo.layer]),
  Layer.provideMerge(AccessTokens.layer),
  Layer.provideMerge(Layer.mergeAll(OutgoingCalls.layer, CallSecrets.layer, SigningSecrets.layer)),
  Layer.provideMerge(OutgoingCallSettingsLayer),
  Layer.provideMerge(Layer.sync(AgentRunSearchOfNode, () => new AgentRunSearch())),
  Layer.provideMerge(Layer.sync(TaskPauses, () => ({})))
)
