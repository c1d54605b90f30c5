import { Clock, Effect, Layer } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { LoopHealth, Meters, version } from "../core/index.ts"
import { Store } from "../store/index.ts"

/** The usual metrics of a process, with the names that common dashboards use. */
export const ProcessMetersLayer: Layer.Layer<never, never, Store> = Layer.effectDiscard(
  Effect.gen(function* () {
    const meters = yield* Meters
    const health = yield* LoopHealth
    const clock = yield* Clock.Clock
    const delay = monitorEventLoopDelay({ resolution: 20 })
    yield* Effect.acquireRelease(
      Effect.sync(() => delay.enable()),
      () => Effect.sync(() => delay.disable())
    )
    meters.gauge(
      "scheduling_build_info",
      "Always 1. The labels are the versions of the service and of Node.",
      () => 1,
      { version, node: process.versions.node }
    )
    meters.gauge(
      "scheduling_event_loop_delay_seconds",
      "The 99th percentile of the event loop delay since the last scrape.",
      () => (delay.count === 0 ? 0 : delay.percentile(99) / 1e9)
    )
    meters.gauge(
      "scheduling_event_loop_delay_max_seconds",
      "The maximum event loop delay since the last scrape.",
      () => {
        const max = delay.count === 0 ? 0 : delay.max / 1e9
        delay.reset()
        return max
      }
    )
    meters.gauge(
      "scheduling_failing_loops",
      "Background loops of this node that fail repeatedly or make no progress.",
      () => health.list(clock.currentTimeMillisUnsafe()).length
    )
    meters.counter(
      "scheduling_loop_restarts_total",
      "How many times background loops were restarted because they made no progress.",
      () => health.restarts
    )
    meters.counter("process_cpu_seconds_total", "CPU time used by the process.", () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })
    const memory = [
      ["process_resident_memory_bytes", "Resident memory of the process.", "rss"],
      ["scheduling_heap_used_bytes", "Memory of JavaScript objects.", "heapUsed"],
      ["scheduling_heap_total_bytes", "Memory that V8 holds for JavaScript objects.", "heapTotal"],
      ["scheduling_external_memory_bytes", "Memory of buffers and of the database.", "external"]
    ] as const
    for (const [name, description, part] of memory) {
      meters.gauge(name, description, () => process.memoryUsage()[part])
    }
    const { pool } = yield* Store
    const database = [
      ["scheduling_database_connections", "Open connections to the database.", "connections"],
      ["scheduling_database_pool_size", "Limit of connections for requests.", "size"],
      ["scheduling_database_transactions", "Transactions in progress.", "transactions"],
      [
        "scheduling_database_transactions_waiting",
        "Transactions waiting for a connection.",
        "waiting"
      ]
    ] as const
    for (const [name, description, field] of database) {
      meters.gauge(name, description, () => pool[field])
    }
    const startedSeconds = clock.currentTimeMillisUnsafe() / 1_000 - process.uptime()
    meters.gauge("process_start_time_seconds", "Start time of the process.", () => startedSeconds)
  })
)
