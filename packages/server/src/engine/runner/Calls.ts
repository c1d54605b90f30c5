import { cancelledError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Cause, Effect, Exit, Fiber, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { AccessTokens } from "../secrets/AccessTokens.ts"
import type { CallSecrets } from "../secrets/CallSecrets.ts"
import type { SigningSecrets } from "../signing/SigningSecrets.ts"
import { type CallValues, makeDecryptBatch } from "../calling/fillCall.ts"
import { makeSecretsCache } from "../calling/secretsCache.ts"
import type { Call } from "@scheduling/calls/Call"
import type { Engine } from "./Engine.ts"
import {
  settlementOfExecution,
  type RunningExecution,
  type Execution,
  makeExecute
} from "../calling/Execute.ts"
import { shortMessage, Tracing } from "../../core/index.ts"
import { type LeasedRun, type Settlement, settlementOf, type StartedRun } from "../Run.ts"
import { start } from "../transitions/start.ts"
import { notifyStarted } from "../notifyChanges.ts"
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
 * How early the start guard is queried, so that the last of thousands of runs also starts on time.
 */
const guardAheadMs = 250

/**
 * The start guard is queried for all runs of this interval together: 200 runs per second take ten
 * statements.
 */
const gatherMs = 100

/** The maximum time that a call waits after its run has started. */
const farAheadMs = 5_000

/** The minimum interval between two queries of the start guard for the same run. */
const askAgainAfterMs = 5

export interface Calls {
  /**
   * Makes the calls of runs that have a slot. `askedMs` is when the statement that started the runs
   * was sent.
   */
  readonly begin: (
    runs: ReadonlyArray<StartedRun>,
    owner: number,
    askedMs: number
  ) => Effect.Effect<void>
  /** Starts the due runs that have a slot, or waits until there are some. */
  readonly startDue: Effect.Effect<void, unknown>
  /** Returns false if this node is not executing the run. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
  /** Aborts all calls without writing their results. */
  readonly abandon: Effect.Effect<void>
  /** Waits until no call is left. */
  readonly ended: Effect.Effect<void>
}

interface RunningCall {
  executed: RunningExecution | undefined
  /** Whether an aborted call means that the run was cancelled. Otherwise the run was abandoned. */
  cancelled: boolean
}

/**
 * Starts runs and makes their calls. The loop runs `startDue`:
 *
 * 1. `Intake.take` returns the runs that are due within a quarter of a second and have a slot.
 * 2. `start`: one statement decides which of these runs start (`transitions/start.ts`). Rejected
 *    runs get their result immediately. Early runs are tried again when they are due
 *    (`askAgainWhenDue`), and lost runs are forgotten.
 * 3. `begin` makes the calls of started runs, including runs that a claim or the settler has
 *    started: `call` makes one call (`calling/Execute.ts`).
 * 4. A call that finishes frees its slot, and its result is added to `Engine.results`.
 */
export const makeCalls = Effect.fnUntraced(function* (
  engine: Engine
): Effect.fn.Return<
  Calls,
  never,
  AccessTokens | CallSecrets | CompletionUrls | SqlClient.SqlClient | Store | SigningSecrets | Call
> {
  const changes = yield* LiveChanges
  const secretsOf = yield* makeSecretsCache
  const decryptBatch = yield* makeDecryptBatch
  const running = new Map<string, RunningCall>()
  const call = yield* makeCall(engine, running)
  const { clock, intake, options } = engine

  const begin = Effect.fnUntraced(function* (
    runs: ReadonlyArray<StartedRun>,
    owner: number,
    askedMs: number
  ) {
    if (owner !== engine.node) {
      return intake.giveUp(
        runs.map(({ id }) => id),
        clock.now()
      )
    }
    const secrets = yield* secretsOf(new Set(runs.map((run) => run.workspace_id))).pipe(
      Effect.onError(() => Effect.sync(() => askAgain(engine, runs)))
    )
    const fillings = yield* decryptBatch(runs)
    // If this process was frozen or waited for the database, other nodes may have the runs by now.
    if (clock.now() - askedMs > options.leaseMs / 2) return askAgain(engine, runs)
    notifyStarted(changes, runs)
    for (const run of runs) {
      const { workspace_id } = run
      const signWith = secrets.get(workspace_id) ?? []
      call(notFarAhead(run, clock.now()), owner, signWith, fillings.get(run))
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
const makeCall = Effect.fnUntraced(function* (engine: Engine, running: Map<string, RunningCall>) {
  const tracer = yield* Tracing
  const execute = yield* makeExecute
  const completionUrls = yield* CompletionUrls
  const runFork = Effect.runForkWith(yield* Effect.context())
  const { budget, clock, intake, loads, meters, results } = engine

  /** Returns undefined if the run was abandoned, because another node repeats it. */
  const interrupted = (
    run: StartedRun,
    execution: Execution,
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
    const allowance = budget.open(intake.shareOf(run.id) ?? 0)
    const trace = tracer && beginTrace(tracer, run, clock.now())
    const execution: Execution = {
      node: owner,
      clock,
      allowance,
      loads,
      started_ms: null,
      traceparent: trace?.traceparent,
      completionUrls,
      connectsAhead: intake.answersQuickly(run.id)
    }
    const going: RunningCall = { executed: undefined, cancelled: false }
    running.set(run.id, going)
    going.executed = execute(run, execution, secrets, filling, (exit) => {
      running.delete(run.id)
      const now = clock.now()
      intake.release(run.id, now, Exit.isSuccess(exit))
      if (execution.started_ms !== null) meters.called(run.due_ms, execution.started_ms, now)
      allowance.shrink(0)
      const settlement = Exit.isSuccess(exit)
        ? exit.value
        : interrupted(run, execution, exit.cause, going.cancelled)
      trace?.called(execution.started_ms, now, settlement)
      if (settlement !== undefined) results.add(settlement)
      engine.slotFreed()
    })
  }
})

/** Steps 1 and 2 of `makeCalls`: queries the start guard for due runs. */
const makeStartDue = Effect.fnUntraced(function* (engine: Engine, begin: Calls["begin"]) {
  const sql = yield* SqlClient.SqlClient
  const batch = maxStartBatch[(yield* Store).kind]
  const runFork = Effect.runForkWith(yield* Effect.context())
  const { clock, intake, meters, results, startWaker } = engine

  /**
   * Queries the start guard again when the runs are due. They keep their slots until then, for a
   * quarter of a second at most.
   */
  const askAgainWhenDue = (runs: ReadonlyArray<LeasedRun>) => {
    for (const [dueMs, due] of Map.groupBy(runs, ({ due_ms }) => due_ms)) {
      // Waits at least a little, because the database clock may be behind its estimate.
      const waitMs = Math.max(dueMs - clock.now(), askAgainAfterMs)
      runFork(
        Effect.andThen(
          Effect.sleep(waitMs),
          Effect.sync(() => askAgain(engine, due))
        )
      )
    }
  }

  const startTaken = Effect.fnUntraced(function* (
    taken: ReadonlyArray<LeasedRun>,
    owner: number,
    askedMs: number
  ) {
    meters.batch("start", taken.length)
    const { early, refused, started } = yield* start(sql, owner, taken).pipe(
      // The runs may be marked as running by now, but their calls were not made.
      Effect.onError(() => Effect.sync(() => askAgain(engine, taken)))
    )
    const gone = new Set(taken.map((run) => run.id))
    for (const run of started) gone.delete(run.id)
    askAgainWhenDue(taken.filter(({ id }) => early.has(id) && gone.delete(id)))
    for (const { error, run, status } of refused) {
      gone.delete(run.id)
      intake.release(run.id, clock.now())
      // The database clock had already reached `due_ms`.
      const finished_ms = status === "skipped" ? Math.max(clock.now(), run.due_ms) : clock.now()
      results.add(settlementOf(run, owner, { status, error, finished_ms }))
    }
    intake.giveUp(gone, clock.now())
    yield* begin(started, owner, askedMs)
  }, Effect.uninterruptible)

  return Effect.gen(function* () {
    const owner = engine.node
    const now = clock.now()
    const askAtMs = () => (intake.nextDueMs ?? now + 60_000) - guardAheadMs + gatherMs
    const taken = intake.take(askAtMs() <= now ? now + guardAheadMs : now, batch)
    if (taken.length === 0) yield* startWaker.wait(askAtMs() - now)
    else yield* startTaken(taken, owner, now)
  })
})

/** Returns the runs to the start guard, which decides again whether they may start here. */
const askAgain = (
  { clock, intake, startWaker }: Engine,
  runs: ReadonlyArray<{ readonly id: string }>
) => {
  intake.putBack(
    runs.map(({ id }) => id),
    clock.now()
  )
  startWaker.wake()
}

/** A run that was started long before it is due was started by a clock that was stepped. */
const notFarAhead = (run: StartedRun, nowMs: number): StartedRun =>
  run.due_ms > nowMs + farAheadMs ? { ...run, due_ms: nowMs } : run
