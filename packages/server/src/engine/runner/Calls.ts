import { cancelledError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Cause, Effect, Exit, Fiber, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { AccessTokens } from "../secrets/AccessTokens.ts"
import type { CallSecrets } from "../secrets/CallSecrets.ts"
import type { SigningSecrets } from "../signing/SigningSecrets.ts"
import { type CallValues, makeDecryptBatch } from "../calling/fillCall.ts"
import { makeSigningSecretsCache } from "../calling/signingSecretsCache.ts"
import type { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import type { EngineState } from "./EngineState.ts"
import {
  settlementOfExecution,
  type RunningExecution,
  type ExecutionContext,
  makeExecute
} from "../calling/Execute.ts"
import { shortMessage, Tracing } from "../../core/index.ts"
import { type LeasedRun, type Settlement, makeSettlement, type StartedRun } from "../Run.ts"
import { start } from "../transitions/start.ts"
import { publishStarted } from "../publishRunChanges.ts"
import { CompletionUrls } from "../completions/CompletionUrls.ts"
import { beginTrace } from "./traceRuns.ts"
import { LiveChanges } from "../../events/index.ts"
import { Store } from "../../store/index.ts"

/**
 * Maximum number of runs that one statement starts. On the embedded store, all other statements
 * wait for it, and a thousand runs take 0.35 s.
 */
const maxStartBatch = { embedded: 250, postgres: 1_000 }

/**
 * How early the start guard is queried, so that even the last of thousands of runs starts on time.
 */
const guardAheadMs = 250

/**
 * All runs of this interval share one query of the start guard, so that 200 runs per second take
 * ten statements.
 */
const gatherMs = 100

/**
 * How far in the future a started run may be due. If it is due later, the database clock must have
 * been stepped, and the run counts as due now.
 */
const farAheadMs = 5_000

/** The minimum interval between two queries of the start guard for the same run. */
const queryAgainAfterMs = 5

export interface Calls {
  /** Makes the calls of runs that have a slot and were started for the node `owner`. */
  readonly begin: (runs: ReadonlyArray<StartedRun>, owner: number) => Effect.Effect<void>
  /** Starts the due runs that have a slot, or waits until there are some. */
  readonly startDue: Effect.Effect<void, unknown>
  /** Returns false if this node is not executing the run. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
  /** Aborts all calls without writing their results. */
  readonly abandon: Effect.Effect<void>
  /** Waits until no call is in progress. */
  readonly ended: Effect.Effect<void>
}

interface RunningCall {
  executed: RunningExecution | undefined
  /**
   * True if the call was aborted because the run was cancelled, and false if the run was abandoned.
   */
  cancelled: boolean
  /** True if the call was not sent because another node may have the run. */
  isWithheld: boolean
}

/**
 * Starts runs and makes their calls. The loop runs `startDue`:
 *
 * 1. `LeasedRuns.take` returns the runs that are due within a quarter of a second and have a slot.
 * 2. `start`: one statement decides which of these runs start (`transitions/start.ts`). Rejected
 *    runs get their result immediately. Early runs are tried again when they are due
 *    (`queryAgainWhenDue`), and lost runs are forgotten.
 * 3. `begin` makes the calls of started runs, including runs that a claim or the settler has
 *    started: `call` makes one call (`calling/Execute.ts`).
 * 4. A call that finishes frees its slot, and its result is added to `EngineState.results`.
 *
 * If the process was frozen or lost the database for so long that other nodes may have its runs,
 * nothing is sent: `EngineState.holdsLease` is checked right before a request is written, and runs whose
 * calls were withheld go through the start guard again.
 */
export const makeCalls = Effect.fnUntraced(function* (
  engine: EngineState
): Effect.fn.Return<
  Calls,
  never,
  | AccessTokens
  | CallSecrets
  | CompletionUrls
  | SqlClient.SqlClient
  | Store
  | SigningSecrets
  | OutgoingCalls
> {
  const changes = yield* LiveChanges
  const secretsOf = yield* makeSigningSecretsCache
  const decryptBatch = yield* makeDecryptBatch
  const running = new Map<string, RunningCall>()
  const call = yield* makeCall(engine, running)
  const { clock, leasedRuns } = engine

  const begin = Effect.fnUntraced(function* (runs: ReadonlyArray<StartedRun>, owner: number) {
    if (owner !== engine.node) {
      return leasedRuns.giveUp(
        runs.map(({ id }) => id),
        clock.now()
      )
    }
    const secrets = yield* secretsOf(new Set(runs.map((run) => run.workspace_id))).pipe(
      Effect.onError(() => Effect.sync(() => queryAgain(engine, runs)))
    )
    const fillings = yield* decryptBatch(runs)
    if (!engine.holdsLease) return queryAgain(engine, runs)
    publishStarted(changes, runs)
    for (const run of runs) {
      const { workspace_id } = run
      const signWith = secrets.get(workspace_id) ?? []
      call(withoutFarAheadDueTime(run, clock.now()), owner, signWith, fillings.get(run))
    }
  }, Effect.uninterruptible)

  return {
    begin,
    startDue: yield* makeStartDue(engine, begin),
    cancel: (runId) =>
      Effect.sync(() => {
        const going = running.get(runId)
        if (going === undefined) return false
        going.cancelled = true
        going.executed?.cutOff()
        return true
      }),
    abandon: Effect.suspend(() => {
      const cut = [...running.values()].flatMap(({ executed }) => executed ?? [])
      for (const { cutOff } of cut) cutOff()
      return Effect.asVoid(Fiber.awaitAll(cut.flatMap(({ preparing }) => preparing ?? [])))
    }),
    ended: Effect.whileLoop({
      while: () => running.size > 0,
      body: () => Effect.sleep(20),
      step: () => {}
    })
  }
})

/** Steps 3 and 4 of `makeCalls`: makes the call of one run, which is in `running` until it ends. */
const makeCall = Effect.fnUntraced(function* (
  engine: EngineState,
  running: Map<string, RunningCall>
) {
  const tracer = yield* Tracing
  const execute = yield* makeExecute
  const completionUrls = yield* CompletionUrls
  const runFork = Effect.runForkWith(yield* Effect.context())
  const { budget, clock, leasedRuns, loads, meters, results } = engine

  /**
   * Returns the settlement of an interrupted call, or undefined if the run was abandoned. Another
   * node repeats an abandoned run.
   */
  const interrupted = (
    run: StartedRun,
    execution: ExecutionContext,
    cause: Cause.Cause<never>,
    cancelled: boolean
  ): Settlement | undefined => {
    if (cancelled) {
      return settlementOfExecution(run, execution, { status: "cancelled", error: cancelledError })
    }
    if (Cause.hasInterrupts(cause)) return undefined
    runFork(Effect.logError(`run ${run.id} failed unexpectedly: ${shortMessage(cause)}`))
    return settlementOfExecution(run, execution, {
      status: "failed",
      error: executionError("internal", "internal error")
    })
  }

  return (
    run: StartedRun,
    owner: number,
    secrets: ReadonlyArray<Redacted.Redacted>,
    filling: CallValues | undefined
  ) => {
    engine.count("started")
    const allowance = budget.open(leasedRuns.shareOf(run.id) ?? 0)
    const trace = tracer && beginTrace(tracer, run, clock.now())
    const going: RunningCall = { executed: undefined, cancelled: false, isWithheld: false }
    const execution: ExecutionContext = {
      node: owner,
      clock,
      allowance,
      loads,
      started_ms: null,
      traceparent: trace?.traceparent,
      completionUrls,
      connectsAhead: leasedRuns.answersQuickly(run.id),
      maySend: () => {
        going.isWithheld = !engine.holdsLease
        return !going.isWithheld
      }
    }
    running.set(run.id, going)
    going.executed = execute(run, execution, secrets, filling, (exit) => {
      running.delete(run.id)
      const now = clock.now()
      leasedRuns.release(run.id, now, Exit.isSuccess(exit))
      if (execution.started_ms !== null) meters.called(run.due_ms, execution.started_ms, now)
      allowance.shrink(0)
      const settlement = Exit.isSuccess(exit)
        ? exit.value
        : interrupted(run, execution, exit.cause, going.cancelled)
      trace?.called(execution.started_ms, now, settlement)
      if (settlement !== undefined) results.add(settlement)
      else if (going.isWithheld) queryAgain(engine, [run])
      engine.slotFreed()
    })
  }
})

/** Steps 1 and 2 of `makeCalls`: queries the start guard for due runs. */
const makeStartDue = Effect.fnUntraced(function* (engine: EngineState, begin: Calls["begin"]) {
  const sql = yield* SqlClient.SqlClient
  const batch = maxStartBatch[(yield* Store).kind]
  const runFork = Effect.runForkWith(yield* Effect.context())
  const { clock, leasedRuns, meters, results, startWaker } = engine

  /**
   * Queries the start guard again when the runs are due. Until then, which is at most a quarter of
   * a second, the runs keep their slots.
   */
  const queryAgainWhenDue = (runs: ReadonlyArray<LeasedRun>) => {
    for (const [dueMs, due] of Map.groupBy(runs, ({ due_ms }) => due_ms)) {
      // The wait has a minimum, because the database clock may be behind its estimate.
      const waitMs = Math.max(dueMs - clock.now(), queryAgainAfterMs)
      runFork(
        Effect.andThen(
          Effect.sleep(waitMs),
          Effect.sync(() => queryAgain(engine, due))
        )
      )
    }
  }

  const startTaken = Effect.fnUntraced(function* (taken: ReadonlyArray<LeasedRun>, owner: number) {
    meters.batch("start", taken.length)
    const { early, refused, started } = yield* start(sql, owner, taken).pipe(
      // The runs may be marked as running in the database, but their calls were not made.
      Effect.onError(() => Effect.sync(() => queryAgain(engine, taken)))
    )
    const gone = new Set(taken.map((run) => run.id))
    for (const run of started) gone.delete(run.id)
    queryAgainWhenDue(taken.filter(({ id }) => early.has(id) && gone.delete(id)))
    for (const { error, run, status } of refused) {
      gone.delete(run.id)
      leasedRuns.release(run.id, clock.now())
      // A skipped run was due by the database clock, even if this node's estimate of that clock is
      // behind.
      const finished_ms = status === "skipped" ? Math.max(clock.now(), run.due_ms) : clock.now()
      results.add(makeSettlement(run, owner, { status, error, finished_ms }))
    }
    leasedRuns.giveUp(gone, clock.now())
    yield* begin(started, owner)
  }, Effect.uninterruptible)

  return Effect.gen(function* () {
    const owner = engine.node
    const now = clock.now()
    const queryAtMs = () => (leasedRuns.nextDueMs ?? now + 60_000) - guardAheadMs + gatherMs
    const taken = leasedRuns.take(queryAtMs() <= now ? now + guardAheadMs : now, batch)
    if (taken.length === 0) yield* startWaker.wait(queryAtMs() - now)
    else yield* startTaken(taken, owner)
  })
})

/** Returns the runs to the start guard, which decides again whether they may start on this node. */
const queryAgain = (
  { clock, leasedRuns, startWaker }: EngineState,
  runs: ReadonlyArray<{ readonly id: string }>
) => {
  leasedRuns.putBack(
    runs.map(({ id }) => id),
    clock.now()
  )
  startWaker.wake()
}

/**
 * Treats a run as due now if it was started long before it is due, because the database clock must
 * have been stepped.
 */
const withoutFarAheadDueTime = (run: StartedRun, nowMs: number): StartedRun =>
  run.due_ms > nowMs + farAheadMs ? { ...run, due_ms: nowMs } : run
