import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs, loop, mayBeStuck, Meters } from "../core/index.ts"
import { type Depth, findDepth, noDepth } from "../engine/index.ts"
import { DatabaseClock, StoreClock } from "../store/index.ts"

const lookEveryMs = 10_000

/** A run that has been due for this long is late: nodes take due runs within a second. */
const lateAfterSeconds = 60

const reportEveryMs = 60_000

/** If a timer of this length is later, the node is too busy to start runs on time. */
const canaryMs = 100

export interface Lateness extends Pick<Depth, "oldest_due_seconds"> {
  /** How late the last timer of this node was. Runs start by such timers. */
  readonly timer_delay_seconds: number
  /** Since when runs are late, or null. */
  readonly late_since_ms: number | null
}

/**
 * Checks from the outside whether due work starts. Every node checks the same queue, even a node
 * that runs nothing: if all runners have stopped, somebody must notice.
 */
export class SelfWatch extends Context.Service<SelfWatch, { readonly latest: () => Lateness }>()(
  "@scheduling/server/operations/SelfWatch"
) {
  static readonly layer: Layer.Layer<SelfWatch, never, SqlClient.SqlClient> = Layer.effect(
    SelfWatch,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const now = (yield* StoreClock)(sql)
      const databaseClock = yield* DatabaseClock
      const meters = yield* Meters
      let depth = noDepth
      let timerDelaySeconds = 0
      let databaseDelaySeconds = 0
      let lateSinceMs: number | null = null
      let reportedMs = Number.NEGATIVE_INFINITY

      const canary = Effect.gen(function* () {
        const before = elapsedMs(clock)
        yield* Effect.sleep(canaryMs)
        timerDelaySeconds = Math.max(0, elapsedMs(clock) - before - canaryMs) / 1_000
      })

      const judge = Effect.gen(function* () {
        // Due work waits then, and may be due by the wrong time.
        if (databaseClock.doubt !== undefined) return
        const nowMs = clock.currentTimeMillisUnsafe()
        const seconds = Math.max(depth.oldest_due_seconds, depth.unfired_seconds)
        if (seconds < lateAfterSeconds) {
          if (lateSinceMs !== null) yield* Effect.logInfo("runs start in time again")
          lateSinceMs = null
          return
        }
        lateSinceMs ??= nowMs
        if (nowMs < reportedMs + reportEveryMs) return
        reportedMs = nowMs
        yield* Effect.logError(
          `runs are late: what is due has waited for ${Math.round(seconds)} s`
        ).pipe(Effect.annotateLogs({ due_runs: depth.due, nodes: depth.nodes }))
      })

      const look = Effect.gen(function* () {
        yield* canary
        const asked = elapsedMs(clock)
        depth = yield* findDepth(sql, yield* now)
        databaseDelaySeconds = (elapsedMs(clock) - asked) / 1_000
        yield* judge
      })
      yield* Effect.forkScoped(
        loop("watching the queue", look, {
          ...mayBeStuck,
          between: () => Effect.sleep(lookEveryMs)
        })
      )

      const gauges = [
        ["scheduling_due_runs", "Runs that are due and not taken, up to 10,000.", () => depth.due],
        [
          "scheduling_oldest_due_run_age_seconds",
          "How long the oldest due run has waited.",
          () => depth.oldest_due_seconds
        ],
        [
          "scheduling_unfired_slot_age_seconds",
          "How long the oldest slot that has not fired has waited.",
          () => depth.unfired_seconds
        ],
        ["scheduling_nodes", "Nodes that run tasks and are alive.", () => depth.nodes],
        ["scheduling_workers_online", "Workers that are heard of.", () => depth.workers],
        [
          "scheduling_worker_due_runs",
          "Runs that are due and no worker has taken, up to 10,000.",
          () => depth.due_for_workers
        ],
        [
          "scheduling_database_delay_seconds",
          "How long two statements took, with their wait for a connection.",
          () => databaseDelaySeconds
        ],
        [
          "scheduling_engine_late",
          "1 while what is due has waited for more than a minute.",
          () => (lateSinceMs === null ? 0 : 1)
        ],
        [
          "scheduling_timer_delay_seconds",
          "How late a timer of this node was.",
          () => timerDelaySeconds
        ],
        [
          "scheduling_database_clock_ahead_seconds",
          "By how much the clock of the database is ahead of the right time while it is doubted.",
          () => (databaseClock.doubt?.aheadMs ?? 0) / 1_000
        ]
      ] as const
      for (const [name, description, read] of gauges) meters.gauge(name, description, read)

      meters.counter(
        "scheduling_database_clock_steps_total",
        "How often the clock of the database was stepped.",
        () => databaseClock.steps
      )

      return SelfWatch.of({
        latest: () => ({
          oldest_due_seconds: Math.max(depth.oldest_due_seconds, depth.unfired_seconds),
          timer_delay_seconds: timerDelaySeconds,
          late_since_ms: lateSinceMs
        })
      })
    })
  )
}
