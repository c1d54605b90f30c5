import { Clock, Effect, Exit, Fiber, type Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { SigningSecrets } from "../workspaces/SigningSecrets.ts"
import type { Call } from "./Call.ts"
import type { Engine } from "./Engine.ts"
import { execute, type Execution, settlementOf } from "./Execute.ts"
import { briefly } from "./Loop.ts"
import type { StartedRun } from "./Run.ts"
import type { Settler } from "./Settler.ts"
import { start } from "./Start.ts"

const batch = 1_000

/** The start guard is asked so much ahead, so that the last of thousands starts on time too. */
const guardAheadMs = 250

export interface Calls {
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
  fiber: Fiber.Fiber<void> | undefined
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
  const context = yield* Effect.context<SqlClient.SqlClient | Call>()
  const secretsOf = yield* makeSecretsCache
  const { clock, counts, feedBell, intake, options, startBell } = engine
  const running = new Map<string, RunningCall>()

  const begin = (run: StartedRun, owner: number, secrets: ReadonlyArray<Redacted.Redacted>) => {
    const going: RunningCall = { fiber: undefined, cancelled: false }
    running.set(run.id, going)
    counts.started++
    const execution: Execution = { node: owner, clock, started_ms: null }
    return execute(run, execution, secrets).pipe(
      Effect.tapCause((cause) =>
        Exit.hasInterrupts(Exit.failCause(cause))
          ? Effect.void
          : Effect.logError(`run ${run.id} broke: ${briefly(cause)}`)
      ),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          running.delete(run.id)
          intake.release(run)
          if (Exit.isSuccess(exit)) settler.offer(exit.value)
          else if (going.cancelled) {
            settler.offer(settlementOf(run, execution, { status: "cancelled", error: "cancelled" }))
          } else if (!Exit.hasInterrupts(exit)) {
            settler.offer(
              settlementOf(run, execution, { status: "failed", error: "internal error" })
            )
          }
          startBell.ring()
          if (engine.backlog && intake.free >= options.concurrency / 4) feedBell.ring()
        })
      ),
      Effect.provideContext(context),
      Effect.exit,
      Effect.asVoid,
      Effect.forkDetach({ startImmediately: true }),
      Effect.tap((fiber) =>
        Effect.sync(() => {
          going.fiber = fiber
        })
      )
    )
  }

  const startDue = Effect.gen(function* () {
    const owner = node()
    const taken = intake.take(clock.now() + guardAheadMs, batch)
    if (taken.length === 0) {
      const next = intake.nextDueMs
      yield* startBell.wait(next === undefined ? 60_000 : next - guardAheadMs - clock.now())
      return
    }
    yield* Effect.gen(function* () {
      const { refused, started } = yield* start(sql, owner, taken)
      const secrets = yield* secretsOf(new Set(started.map((run) => run.workspace_id)))
      const gone = new Map(taken.map((run) => [run.id, run]))
      for (const run of started) {
        gone.delete(run.id)
        yield* begin(run, owner, secrets.get(run.workspace_id) ?? [])
      }
      for (const { error, run, status } of refused) {
        gone.delete(run.id)
        intake.release(run)
        settler.offer(
          settlementOf(run, { node: owner, clock, started_ms: null }, { status, error })
        )
      }
      for (const run of gone.values()) {
        intake.release(run)
        intake.forget(run.id)
      }
    }).pipe(
      // Whether they are marked as running by now or not: they did not start, and are asked again.
      Effect.onError(() => Effect.sync(() => intake.putBack(taken))),
      Effect.uninterruptible
    )
  })

  return {
    startDue,
    cancel: Effect.fnUntraced(function* (runId) {
      const going = running.get(runId)
      if (going?.fiber === undefined) return false
      going.cancelled = true
      yield* Effect.forkDetach(Fiber.interrupt(going.fiber))
      return true
    }),
    abandon: Effect.suspend(() =>
      Effect.forEach(
        [...running.values()],
        ({ fiber }) => (fiber === undefined ? Effect.void : Fiber.interrupt(fiber)),
        { concurrency: "unbounded", discard: true }
      )
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
