import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import type { WorkerCall, WorkerClaim } from "@scheduling/domain/workers/WorkerProtocol"
import type { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ExecutionId } from "@scheduling/domain/shared/Ids"
import {
  type CallOptions,
  maxResponseSeconds,
  type SuccessRule
} from "@scheduling/domain/calls/CallOptions"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { receiverKeys, signWithKeys } from "@scheduling/calls/signing"
import {
  Clock,
  Context,
  DateTime,
  Effect,
  Layer,
  Option,
  Random,
  type Redacted,
  Result,
  Semaphore
} from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import {
  type AccessTokens,
  agentLeaseMs,
  hasCompletionUrl,
  type CallSecrets,
  failWithoutCall,
  signingError,
  claimForWorker,
  CompletionUrls,
  type AgentRun,
  AgentRuns,
  handBack,
  type FilledCall,
  loadWholeCall,
  type CallValues,
  makeFillCall,
  makeDecryptBatch,
  makeSigningSecretsCache,
  makeSettleRuns,
  missingCallFailure,
  resultWithoutCall,
  type Settlement,
  makeSettlement,
  type SigningSecrets,
  start,
  type StartedRun,
  publishStarted
} from "../../engine/index.ts"
import { waitWithoutPermit, Shutdown } from "../../http/index.ts"
import { elapsedMs } from "../../core/index.ts"
import { type EndSignals, LiveChanges, type Signals } from "../../events/index.ts"
import { timestampOf } from "../../store/index.ts"
import { type ClaimingAgent, Dispatch, type LabelSets } from "./Dispatch.ts"
import { toLease } from "./lease.ts"
import { AgentSessions } from "./AgentSessions.ts"

type Worker = CurrentWorker["Service"]

/**
 * The approximate maximum size of large calls in one response. Further calls are put into the next
 * response.
 */
const maxResponseBytes = 4 * 1024 * 1024

/**
 * The maximum number of responses with large calls that are built at the same time. It limits the
 * memory.
 */
const maxLargeResponses = 4

/**
 * The longest wait of a claim of a paused worker. The next claim checks whether the worker was
 * resumed.
 */
const pausedWaitMs = 5_000

interface ClaimAnswer {
  readonly calls: ReadonlyArray<WorkerCall>
  /** True if the agent should send a heartbeat now. */
  readonly beat: boolean
}

/** Gives due runs to agents. Runs are claimed and started in the same way as for nodes. */
export class Claims extends Context.Service<
  Claims,
  {
    readonly claim: (
      worker: Worker,
      claim: WorkerClaim,
      /**
       * True if the response must be sent immediately, because it contains other information for
       * the agent.
       */
      atOnce: boolean
    ) => Effect.Effect<ClaimAnswer, SessionEnded, HttpServerRequest.HttpServerRequest>
  }
>()("@scheduling/server/workers/protocol/Claims") {
  static readonly layer: Layer.Layer<
    Claims,
    never,
    | AccessTokens
    | CallSecrets
    | CompletionUrls
    | Dispatch
    | EndSignals
    | AgentRuns
    | AgentSessions
    | Signals
    | SigningSecrets
    | SqlClient.SqlClient
    | Shutdown
  > = Layer.effect(
    Claims,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const changes = yield* LiveChanges
      const clock = yield* Clock.Clock
      const completionUrls = yield* CompletionUrls
      const dispatch = yield* Dispatch
      const given = yield* AgentRuns
      const sessions = yield* AgentSessions
      const stopping = yield* Shutdown
      const secretsOf = yield* makeSigningSecretsCache
      const settleRuns = yield* makeSettleRuns(sql)
      const large = yield* Semaphore.make(maxLargeResponses)
      const loads = yield* Semaphore.make(maxLargeResponses)
      const fillCall = yield* makeFillCall
      const decryptBatch = yield* makeDecryptBatch

      const read = Effect.fnUntraced(function* (run: StartedRun) {
        if (run.withheld === 0) {
          return run.call === null ? missingCallFailure : Result.succeed({ call: run.call })
        }
        return yield* loadWholeCall(run, loads).pipe(
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      })

      /** Reads the call of a run and substitutes its values. */
      const prepare = Effect.fnUntraced(function* (
        run: StartedRun,
        started_ms: number,
        filling: CallValues | undefined
      ) {
        const loaded = yield* read(run)
        if (Result.isFailure(loaded)) return Result.fail(loaded.failure)
        const known = run.withheld === 0 ? filling : undefined
        return yield* fillCall(run, loaded.success, started_ms, known)
      })

      /** Settles runs that are leased to the session but cannot be given to the agent. */
      const end = Effect.fnUntraced(function* (
        session: number,
        refused: ReadonlyArray<{
          readonly run: StartedRun
          readonly result: Parameters<typeof makeSettlement>[2]
        }>
      ) {
        yield* settleRuns(refused.map(({ result, run }) => makeSettlement(run, session, result)))
      })

      /**
       * Builds the calls of started runs. Runs that do not fit into the response are handed back.
       */
      const answer = Effect.fnUntraced(function* (
        { workspace_id }: Worker,
        session: number,
        started: ReadonlyArray<StartedRun>
      ) {
        const secrets = (yield* secretsOf(new Set([workspace_id]))).get(workspace_id) ?? []
        const fillings = yield* decryptBatch(started)
        const now = yield* DateTime.nowAsDate
        const deadline = timestampOf(new Date(now.getTime() + agentLeaseMs))
        const calls: Array<WorkerCall> = []
        const failed: Array<{
          readonly run: StartedRun
          readonly result: Pick<Settlement, "status" | "error">
        }> = []
        const remainingIds: Array<string> = []
        const started_ms = dispatch.nowMs()
        let bytes = 0
        for (const run of started) {
          if (bytes > 0 && bytes + run.withheld > maxResponseBytes) {
            remainingIds.push(run.id)
            continue
          }
          bytes += run.withheld
          const filled =
            secrets.length === 0
              ? failWithoutCall(signingError)
              : yield* prepare(run, started_ms, fillings.get(run))
          if (Result.isFailure(filled)) {
            const result = resultWithoutCall(run, filled.failure, started_ms, yield* Random.next)
            failed.push({ run, result })
          } else {
            given.remember(session, givenRun(run, filled.success, started_ms))
            calls.push(
              toWorkerCall(run, session, filled.success, { completionUrls, deadline, now, secrets })
            )
          }
        }
        if (remainingIds.length > 0) yield* handBack(sql, session, remainingIds)
        yield* end(session, failed)
        return calls
      })

      const take = Effect.fnUntraced(function* (
        worker: Worker,
        { session, slots }: WorkerClaim,
        sets: LabelSets
      ) {
        if (sets.length === 0) return []
        const claimed = yield* claimForWorker(sql, {
          workspace_id: worker.workspace_id,
          session,
          sets,
          limit: slots
        })
        const ids = [...claimed.started, ...claimed.leased].map(({ id }) => id)
        return yield* Effect.gen(function* () {
          const guarded =
            claimed.leased.length === 0
              ? { started: [], refused: [] }
              : yield* start(sql, session, claimed.leased)
          yield* end(
            session,
            guarded.refused.map(({ run, ...result }) => ({ run, result }))
          )
          const started = [...claimed.started, ...guarded.started]
          publishStarted(changes, started)
          const answering = answer(worker, session, started)
          return yield* started.some(({ withheld }) => withheld > 0)
            ? large.withPermit(answering)
            : answering
          // The agent did not receive these runs, so other agents may claim them.
        }).pipe(Effect.onError(() => Effect.ignore(handBack(sql, session, ids))))
      }, Effect.orDie)

      return Claims.of({
        claim: Effect.fnUntraced(function* (worker, claim, atOnce) {
          yield* sessions.check(worker, claim.session)
          const waitMs = atOnce ? 0 : yield* longestWaitMs(worker, claim)
          const endsAtMs = elapsedMs(clock) + waitMs
          const remainingMs = () => endsAtMs - elapsedMs(clock)
          if (worker.paused) {
            yield* waitWithoutPermit(
              remainingMs(),
              Effect.raceFirst(Effect.sleep(remainingMs()), stopping.begun)
            )
            return { calls: [], beat: atOnce }
          }
          const claimant: ClaimingAgent = {
            worker_id: worker.id,
            workspace_id: worker.workspace_id,
            labels: worker.labels,
            slots: claim.slots
          }
          const remaining = yield* take(worker, claim, dispatch.remaining(claimant))
          if (remaining.length < claim.slots) dispatch.forget(claimant)
          if (remaining.length > 0) return { calls: remaining, beat: atOnce }
          const due = yield* take(worker, claim, yield* dispatch.findDue(claimant))
          if (due.length > 0 || remainingMs() < 1) return { calls: due, beat: atOnce }
          return yield* waitWithoutPermit(
            remainingMs(),
            Effect.gen(function* () {
              if (stopping.isStopping()) return { calls: [], beat: atOnce }
              const { hasProbes, sets } = yield* dispatch.wait(claimant, remainingMs())
              // No run is left if other agents claimed the runs first, or if the worker was paused.
              // The agent then claims again.
              const taken = yield* take(worker, claim, sets)
              if (sets.length > 0 && taken.length === 0) yield* dispatch.miss
              return { calls: taken, beat: hasProbes }
            })
          )
        })
      })
    })
  )
}

/**
 * Returns how long a claim may wait. The wait ends before the token expires, so that no run is
 * given to an agent with an expired token.
 */
const longestWaitMs = Effect.fnUntraced(function* (
  { expires_at, paused }: Worker,
  { wait_seconds }: WorkerClaim
) {
  const now = yield* DateTime.nowAsDate
  const untilExpiryMs = expires_at === null ? Infinity : expires_at.getTime() - now.getTime()
  return Math.min(wait_seconds * 1_000, untilExpiryMs, paused ? pausedWaitMs : Infinity)
})

const givenRun = (
  { attempt, id, kind, lost, position, row_at, task_id, workspace_id }: StartedRun,
  { call: { call_options, retry_count, timeout_seconds }, token }: FilledCall,
  started_ms: number
): AgentRun => ({
  id,
  workspace_id,
  task_id,
  kind,
  attempt,
  lost,
  position,
  row_at,
  retry_count,
  call_options,
  timeout_seconds,
  started_ms,
  token: token && { requestId: token.requestId, sealed: token.sealed }
})

const toWorkerCall = (
  run: StartedRun,
  session: number,
  { call, secrets }: FilledCall,
  with_: {
    readonly completionUrls: CompletionUrls["Service"]
    readonly deadline: string
    readonly now: Date
    readonly secrets: ReadonlyArray<Redacted.Redacted>
  }
): WorkerCall => {
  const body = call.method === "GET" || call.method === "HEAD" ? null : call.body
  const timestamp = Math.floor(with_.now.getTime() / 1_000)
  const message = { id: run.id, timestamp, body: body ?? "" }
  return {
    run_id: ExecutionId.make(run.id),
    lease: toLease(session, run.attempt),
    attempt: run.attempt,
    deadline: with_.deadline,
    method: call.method,
    url: call.url,
    headers: call.headers,
    body,
    timeout_seconds: Math.min(call.timeout_seconds, maxResponseSeconds),
    ...(call.call_options !== null && { success: successRuleOf(call.call_options) }),
    ...(secrets.length > 0 && { secrets }),
    ...(hasCompletionUrl(call.call_options) && { complete_url: with_.completionUrls.make(run) }),
    task: { id: TaskId.make(run.task_id), scheduled_ms: run.scheduled_ms },
    signature: {
      id: run.id,
      timestamp,
      signature: Option.match(keysFor(call.url, with_.secrets), {
        onNone: () => "",
        onSome: (keys) => signWithKeys(message, keys)
      })
    }
  }
}

/**
 * Returns the options by which the agent decides whether a call succeeded. The agent needs no other
 * options.
 */
const successRuleOf = ({ body_contains, body_lacks, success_codes }: CallOptions): SuccessRule => ({
  ...(success_codes !== undefined && { success_codes }),
  ...(body_contains !== undefined && { body_contains }),
  ...(body_lacks !== undefined && { body_lacks })
})

/**
 * Returns the signing keys for the origin of a URL, or none if the URL is invalid. The agent does
 * not call invalid URLs.
 */
const keysFor = (url: string, secrets: ReadonlyArray<Redacted.Redacted>) =>
  Option.flatMap(Result.getSuccess(parseCallUrl(url)), ({ origin }) =>
    receiverKeys({ purpose: "call", secrets }, origin)
  )
