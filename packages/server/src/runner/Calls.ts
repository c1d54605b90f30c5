import { Cause, Clock, Effect, Exit, Fiber, type Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { SigningSecrets } from "../workspaces/SigningSecrets.ts"
import type { Call } from "./Call.ts"
import type { Engine } from "./Engine.ts"
import { execute, type Execution, settlementOf } from "./Execute.ts"
import { briefly } from "./Loop.ts"
import type { Settlement, StartedRun } from "./Run.ts"
import type { Settler } from "./Settler.ts"
import { start } from "./Start.ts"

const batch = 1_000

/** The start guard is asked so much ahead, so that the last of thousands starts on time too. */
const guardAheadMs = 250

/** It is asked about all that become due within so long at once: 200 a second are ten statements. */
const gatherMs = 100

export interface Calls {
  /** Makes the calls of runs that have a slot and were asked for at `askedMs`. */
  readonly begin: (
    runs: ReadonlyArray<StartedRun>,
    owner: number,
    askedMs: number
  ) => Effect.Effect<void>
  /** Starts what is due and has a slot, or waits until there is something. */
  readonly startDue: Effect.Effect<void, unknown>
  /** False: no such run goes on here. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
  /** Cuts all calls off and writes nothing about them. */
  readonly abandon: Effect.Effect<void>
  /** Waits until none goes on. */
  readonly ended: Effect.Effect<void>
}

interface RunningCall {
  readonly fiber: Fiber.Fiber<Settlement>
  /** What an interruption of the fiber means. */
  cancelled: boolean
}

/** The calls that go on: from the start guard to the settler. */
export const makeCalls = Effect.fnUntraced(function* (
  engine: Engine,
  settler: Settler,
  node: () => number
): Effect.fn.Return<Calls, never, Scope.Scope | SqlClient.SqlClient | SigningSecrets | Call> {
  const sql = yield* SqlClient.SqlClient
  const runFork = Effect.runForkWith(yield* Effect.context<SqlClient.SqlClient | Call>())
  const secretsOf = yield* makeSecretsCache
  const { budget, clock, counts, feedBell, intake, loads, options, startBell } = engine
  const running = new Map<string, RunningCall>()

  /** Without a context of its own, and watched instead of wrapped: that is a tenth of a run. */
  const call = (run: StartedRun, owner: number, secrets: ReadonlyArray<Redacted.Redacted>) => {
    counts.started++
    const allowance = budget.open(intake.shareOf(run.id) ?? 0)
    const execution: Execution = { node: owner, clock, allowance, loads, started_ms: null }
    const fiber = runFork(execute(run, execution, secrets))
    const going: RunningCall = { fiber, cancelled: false }
    running.set(run.id, going)
    fiber.addObserver((exit) => {
      running.delete(run.id)
      intake.release(run.id, clock.now(), Exit.isSuccess(exit))
      allowance.shrink(0)
      const settlement = Exit.isSuccess(exit)
        ? exit.value
        : interrupted(run, execution, exit.cause, going.cancelled)
      if (settlement !== undefined) settler.offer(settlement)
      startBell.ring()
      if (engine.backlog && intake.free >= intake.turnover / 4) feedBell.ring()
    })
  }

  /** Nothing where the run was abandoned: another node does it again. */
  const interrupted = (
    run: StartedRun,
    execution: Execution,
    cause: Cause.Cause<never>,
    cancelled: boolean
  ): Settlement | undefined => {
    if (cancelled) {
      return settlementOf(run, execution, { status: "cancelled", error: "cancelled" })
    }
    if (Cause.hasInterrupts(cause)) return undefined
    runFork(Effect.logError(`run ${run.id} broke: ${briefly(cause)}`))
    return settlementOf(run, execution, { status: "failed", error: "internal error" })
  }

  /** Whether they are still to be started here. */
  const askAgain = (runs: ReadonlyArray<{ readonly id: string }>) => {
    intake.putBack(
      runs.map(({ id }) => id),
      clock.now()
    )
    startBell.ring()
  }

  const begin = Effect.fnUntraced(function* (
    runs: ReadonlyArray<StartedRun>,
    owner: number,
    askedMs: number
  ) {
    if (owner !== node()) {
      return intake.giveUp(
        runs.map(({ id }) => id),
        clock.now()
      )
    }
    // This process may have stood still, and others may have the runs by now.
    if (clock.now() - askedMs > options.leaseMs / 2) return askAgain(runs)
    const secrets = yield* secretsOf(new Set(runs.map((run) => run.workspace_id))).pipe(
      Effect.onError(() => Effect.sync(() => askAgain(runs)))
    )
    for (const run of runs) call(run, owner, secrets.get(run.workspace_id) ?? [])
  }, Effect.uninterruptible)

  const startDue = Effect.gen(function* () {
    const owner = node()
    const now = clock.now()
    const askAtMs = () => (intake.nextDueMs ?? now + 60_000) - guardAheadMs + gatherMs
    const taken = intake.take(askAtMs() <= now ? now + guardAheadMs : now, batch)
    if (taken.length === 0) {
      yield* startBell.wait(askAtMs() - now)
      return
    }
    yield* Effect.gen(function* () {
      const { refused, started } = yield* start(sql, owner, taken).pipe(
        // Marked as running by now or not, they did not start.
        Effect.onError(() => Effect.sync(() => askAgain(taken)))
      )
      const gone = new Set(taken.map((run) => run.id))
      for (const run of started) gone.delete(run.id)
      for (const { error, run, status } of refused) {
        gone.delete(run.id)
        intake.release(run.id, clock.now())
        settler.offer(
          settlementOf(run, { node: owner, clock, started_ms: null }, { status, error })
        )
      }
      intake.giveUp(gone, clock.now())
      yield* begin(started, owner, now)
    }).pipe(Effect.uninterruptible)
  })

  return {
    begin,
    startDue,
    cancel: Effect.fnUntraced(function* (runId) {
      const going = running.get(runId)
      if (going === undefined) return false
      going.cancelled = true
      yield* Effect.forkDetach(Fiber.interrupt(going.fiber))
      return true
    }),
    abandon: Effect.suspend(() =>
      Effect.forEach([...running.values()], ({ fiber }) => Fiber.interrupt(fiber), {
        concurrency: "unbounded",
        discard: true
      })
    ),
    ended: Effect.whileLoop({
      while: () => running.size > 0,
      body: () => Effect.sleep(20),
      step: () => {}
    })
  }
})

const secretsLiveMs = 5_000
const maxWorkspaces = 10_000

/** Signing secrets change by rotation, and the old one goes on for a day: seconds do not matter. */
const makeSecretsCache = Effect.gen(function* () {
  const signingSecrets = yield* SigningSecrets
  const clock = yield* Clock.Clock
  const cache = new Map<
    string,
    { readonly secrets: ReadonlyArray<Redacted.Redacted>; readonly untilMs: number }
  >()
  return Effect.fnUntraced(function* (workspaces: ReadonlySet<string>) {
    const now = clock.currentTimeMillisUnsafe()
    const missing = [...workspaces].filter((id) => (cache.get(id)?.untilMs ?? 0) <= now)
    if (missing.length > 0) {
      const found = yield* signingSecrets.findLive(missing)
      if (cache.size > maxWorkspaces) cache.clear()
      for (const id of missing) {
        cache.set(id, { secrets: found.get(id) ?? [], untilMs: now + secretsLiveMs })
      }
    }
    return new Map([...workspaces].map((id) => [id, cache.get(id)?.secrets ?? []]))
  })
})
