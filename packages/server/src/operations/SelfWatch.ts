import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs, loop, Meters, stuckRestartOptions } from "../core/index.ts"
import { type Backlog, measureBacklog, emptyBacklog } from "../engine/index.ts"
import { DatabaseClock, StoreClock } from "../store/index.ts"

const checkEveryMs = 10_000

/** How long a run must be due to count as late. Nodes normally start due runs within a second. */
const lateAfterSeconds = 60

const reportEveryMs = 60_000

/** The duration of a timer that measures how late the timers of this node are. */
const canaryMs = 100

/** How late this node's timers and due runs are. */
export interface Lateness extends Pick<Backlog, "oldest_due_seconds"> {
  /** How late the last timer of this node fired. Timers start runs, so late timers delay runs. */
  readonly timer_delay_seconds: number
  /** Since when runs have been late. Null if they are on time. */
  readonly late_since_ms: number | null
}

/**
 * Checks whether due runs are started. Every node checks the same queue, even a node without a
 * runner, so that somebody notices if all runners have stopped.
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
      let depth = emptyBacklog
      let timerDelaySeconds = 0
      let databaseDelaySeconds = 0
      let lateSinceMs: number | null = null
      let reportedMs = Number.NEGATIVE_INFINITY

      const canary = Effect.gen(function* () {
        const before = elapsedMs(clock)
        yield* Effect.sleep(canaryMs)
        timerDelaySeconds = Math.max(0, elapsedMs(clock) - before - canaryMs) / 1_000
      })

      const reportLateness = Effect.gen(function* () {
        // While the database clock is in doubt, no run counts as late. Due runs wait on purpose, or
        // they only seem to be due because the time is wrong.
        if (databaseClock.doubt !== undefined) return
        const nowMs = clock.currentTimeMillisUnsafe()
        const seconds = Math.max(depth.oldest_due_seconds, depth.unfired_seconds)
        if (seconds < lateAfterSeconds) {
          if (lateSinceMs !== null) yield* Effect.logInfo("runs start on time again")
          lateSinceMs = null
          return
        }
        lateSinceMs ??= nowMs
        if (nowMs < reportedMs + reportEveryMs) return
        reportedMs = nowMs
        yield* Effect.logError(
          `runs are late: the oldest due run has waited for ${Math.round(seconds)} s`
        ).pipe(Effect.annotateLogs({ due_runs: depth.due, nodes: depth.nodes }))
      })

      const check = Effect.gen(function* () {
        yield* canary
        const asked = elapsedMs(clock)
        depth = yield* measureBacklog(sql, yield* now)
        databaseDelaySeconds = (elapsedMs(clock) - asked) / 1_000
        yield* reportLateness
      })
      yield* Effect.forkScoped(
        loop("watching the queue", check, {
          ...stuckRestartOptions,
          between: () => Effect.sleep(checkEveryMs)
        })
      )

      const gauges = [
        ["scheduling_due_runs", "Due runs that are not claimed, up to 10,000.", () => depth.due],
        [
          "scheduling_oldest_due_run_age_seconds",
          "How long the oldest due run has been waiting.",
          () => depth.oldest_due_seconds
        ],
        [
          "scheduling_unfired_slot_age_seconds",
          "How long the oldest slot that has not fired is overdue.",
          () => depth.unfired_seconds
        ],
        ["scheduling_nodes", "Live nodes that execute runs.", () => depth.nodes],
        ["scheduling_workers_online", "Workers whose agents are online.", () => depth.workers],
        [
          "scheduling_worker_due_runs",
          "Due runs for workers that no agent has claimed yet. Counted up to 10,000.",
          () => depth.due_for_workers
        ],
        [
          "scheduling_database_delay_seconds",
          "The duration of two statements, including the wait for a connection.",
          () => databaseDelaySeconds
        ],
        [
          "scheduling_engine_late",
          "1 while the oldest due run has been waiting for more than a minute.",
          () => (lateSinceMs === null ? 0 : 1)
        ],
        [
          "scheduling_timer_delay_seconds",
          "How late this node's latest timer fired. High if the event loop is busy.",
          () => timerDelaySeconds
        ],
        [
          "scheduling_database_clock_ahead_seconds",
          "How far the database clock is ahead of the expected time, while the service does not trust it.",
          () => (databaseClock.doubt?.aheadMs ?? 0) / 1_000
        ]
      ] as const
      for (const [name, description, read] of gauges) meters.gauge(name, description, read)

      meters.counter(
        "scheduling_database_clock_steps_total",
        "Steps of the database clock.",
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
