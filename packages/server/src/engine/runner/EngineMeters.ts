import { type Histogram, longSecondsBounds, type NodeMeters } from "../../core/index.ts"
import type { RunnerOptions } from "../RunnerOptions.ts"
import type { RunnerStats } from "./RunnerStats.ts"

type Statement = "fire" | "claim" | "start" | "settle"

/** What the engine of a node measures besides its counts. */
export class EngineMeters {
  readonly #meters: NodeMeters
  readonly #lateness: Histogram
  readonly #duration: Histogram
  readonly #batches: Readonly<Record<Statement, Histogram>>

  constructor(meters: NodeMeters) {
    this.#meters = meters
    this.#lateness = meters.histogram(
      "scheduling_run_lateness_seconds",
      "From when an attempt was due until it started.",
      longSecondsBounds
    )
    this.#duration = meters.histogram(
      "scheduling_call_duration_seconds",
      "How long the calls took, answered or not.",
      longSecondsBounds
    )
    const batch = (statement: Statement) =>
      meters.histogram(
        "scheduling_batch_runs",
        "How many runs a statement of the engine was for.",
        [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000],
        { statement }
      )
    this.#batches = {
      fire: batch("fire"),
      claim: batch("claim"),
      start: batch("start"),
      settle: batch("settle")
    }
  }

  called(dueMs: number, startedMs: number, endedMs: number): void {
    this.#lateness.observe((startedMs - dueMs) / 1_000)
    this.#duration.observe((endedMs - startedMs) / 1_000)
  }

  batch(statement: Statement, runs: number): void {
    if (runs > 0) this.#batches[statement].observe(runs)
  }

  /** Shows what is counted elsewhere. */
  show(stats: () => RunnerStats, { concurrency }: RunnerOptions): void {
    const meters = this.#meters
    meters.counter(
      "scheduling_tasks_fired_total",
      "Slots of schedules that fired.",
      () => stats().fired
    )
    meters.counter(
      "scheduling_runs_claimed_total",
      "Runs that were claimed.",
      () => stats().claimed
    )
    meters.counter("scheduling_calls_started_total", "Attempts that began.", () => stats().started)
    for (const outcome of ["succeeded", "failed", "retried", "cancelled", "skipped"] as const) {
      meters.counter(
        "scheduling_attempts_ended_total",
        "How attempts ended. After `retried` there is another one.",
        () => stats()[outcome],
        { outcome }
      )
    }
    meters.counter(
      "scheduling_results_fenced_total",
      "Results that came after the lease was lost and were not written.",
      () => stats().fenced
    )
    const gauges = {
      held: ["scheduling_runs_held", "Runs that this node has leased and not started."],
      running: ["scheduling_calls_running", "Calls under way."],
      settling: ["scheduling_results_waiting", "Results that are not written yet."],
      bytes: ["scheduling_large_call_bytes", "Memory that large calls take."]
    } as const
    for (const [name, description, read] of Object.entries(gauges).map(
      ([field, [metric, text]]) =>
        [metric, text, () => stats()[field as keyof typeof gauges]] as const
    )) {
      meters.gauge(name, description, read)
    }
    meters.gauge("scheduling_call_slots", "Calls that may be under way.", () => concurrency)
  }
}
