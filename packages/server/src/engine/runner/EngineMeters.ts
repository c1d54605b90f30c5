import { type Histogram, longSecondsBounds, type NodeMeters } from "../../core/index.ts"
import type { RunnerOptions } from "../RunnerOptions.ts"
import type { RunnerStats } from "./RunnerStats.ts"

type Statement = "fire" | "claim" | "start" | "settle"

/** Histograms and gauges of a node's engine. */
export class EngineMeters {
  readonly #meters: NodeMeters
  readonly #lateness: Histogram
  readonly #duration: Histogram
  readonly #batches: Readonly<Record<Statement, Histogram>>

  constructor(meters: NodeMeters) {
    this.#meters = meters
    this.#lateness = meters.histogram(
      "scheduling_run_lateness_seconds",
      "The delay between the due time of an attempt and its start.",
      longSecondsBounds
    )
    this.#duration = meters.histogram(
      "scheduling_call_duration_seconds",
      "The duration of calls, with or without a response.",
      longSecondsBounds
    )
    const batch = (statement: Statement) =>
      meters.histogram(
        "scheduling_batch_runs",
        "The number of runs that one statement of the engine changed.",
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

  /** Exports the counters and gauges that are kept elsewhere. */
  show(stats: () => RunnerStats, { concurrency }: RunnerOptions): void {
    const meters = this.#meters
    meters.counter(
      "scheduling_tasks_fired_total",
      "Slots of schedules that fired.",
      () => stats().fired
    )
    meters.counter("scheduling_runs_claimed_total", "Runs claimed.", () => stats().claimed)
    meters.counter("scheduling_calls_started_total", "Attempts started.", () => stats().started)
    for (const outcome of ["succeeded", "failed", "retried", "cancelled", "skipped"] as const) {
      meters.counter(
        "scheduling_attempts_ended_total",
        "Results of attempts. After `retried`, there is another attempt.",
        () => stats()[outcome],
        { outcome }
      )
    }
    meters.counter(
      "scheduling_results_fenced_total",
      "Results discarded because the lease was lost.",
      () => stats().fenced
    )
    const gauges = {
      held: ["scheduling_runs_held", "Runs leased to this node and not started."],
      running: ["scheduling_calls_running", "Calls in progress."],
      settling: ["scheduling_results_waiting", "Results that are not written yet."],
      bytes: ["scheduling_large_call_bytes", "Memory used by large calls, in bytes."]
    } as const
    for (const [name, description, read] of Object.entries(gauges).map(
      ([field, [metric, text]]) =>
        [metric, text, () => stats()[field as keyof typeof gauges]] as const
    )) {
      meters.gauge(name, description, read)
    }
    meters.gauge("scheduling_call_slots", "Maximum number of concurrent calls.", () => concurrency)
  }
}
