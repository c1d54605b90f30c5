import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  uptimeBucketStarts,
  type MonitorUptimeSeries,
  type MonitorUptime,
  type UptimePeriod
} from "@scheduling/domain/monitors/MonitorUptime"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs, orNotFound } from "../../core/index.ts"
import { StoreClock, timestampOf } from "../../store/index.ts"
import { addLatencyHistograms, latencyPercentilesOf } from "./latencies.ts"
import { type UptimeBucketRow, UptimeRepo, type CurrentMonitorStatus } from "./UptimeRepo.ts"

/** Computes the uptime of monitors in a period. */
export class Uptime extends Context.Service<
  Uptime,
  {
    readonly uptime: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      period: UptimePeriod | undefined
    ) => Effect.Effect<MonitorUptime, NotFound>
    readonly series: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      period: UptimePeriod | undefined
    ) => Effect.Effect<MonitorUptimeSeries, NotFound>
    /** Returns many monitors' uptime on each of the last days, oldest first. */
    readonly daily: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      days: number
    ) => Effect.Effect<ReadonlyMap<string, DailyUptime>>
  }
>()("@scheduling/server/monitoring/uptime/Uptime") {
  static readonly layer: Layer.Layer<Uptime, never, SqlClient.SqlClient | UptimeRepo> =
    Layer.effect(
      Uptime,
      Effect.gen(function* () {
        const now = Effect.orDie((yield* StoreClock)(yield* SqlClient.SqlClient))
        const repo = yield* UptimeRepo

        const read = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: MonitorId,
          period: UptimePeriod
        ) {
          const [watched] = yield* repo.findMonitors(workspaceId, [id])
          const monitor = yield* requireMonitor(Effect.succeed(Option.fromNullishOr(watched)))
          const toMs = (yield* now).getTime()
          const { bucketSeconds, fromMs, starts, widthMs } = uptimeBucketStarts(period, toMs)
          const rows = yield* repo.list(workspaceId, [id], bucketSeconds, new Date(fromMs))
          const counted = new Map(rows.map((row) => [row.starts_at.getTime(), row]))
          return {
            range: { period, from: timestampOf(new Date(fromMs)), to: timestampOf(new Date(toMs)) },
            bucketSeconds,
            buckets: starts.map((startMs) => ({
              startMs,
              ...bucketOf(counted.get(startMs), monitor, startMs, Math.min(startMs + widthMs, toMs))
            }))
          }
        })

        return Uptime.of({
          uptime: Effect.fn("Uptime.uptime")(function* (workspaceId, id, period = "24h") {
            const { buckets, range } = yield* read(workspaceId, id, period)
            return { ...range, ...figuresOf(buckets) }
          }),

          series: Effect.fn("Uptime.series")(function* (workspaceId, id, period = "24h") {
            const { bucketSeconds, buckets, range } = yield* read(workspaceId, id, period)
            return {
              ...range,
              bucket_seconds: bucketSeconds,
              buckets: buckets.map(({ startMs, ...bucket }) => ({
                start: timestampOf(new Date(startMs)),
                ...figuresOf([bucket])
              }))
            }
          }),

          daily: Effect.fn("Uptime.daily")(function* (workspaceId, ids, days) {
            const nowMs = (yield* now).getTime()
            const today = Math.floor(nowMs / dayMs) * dayMs
            const starts = Array.from({ length: days }, (_, n) => today - (days - 1 - n) * dayMs)
            const from = new Date(starts[0] ?? today)
            const monitors = yield* repo.findMonitors(workspaceId, ids)
            const rows = yield* repo.list(workspaceId, ids, dayMs / 1_000, from)
            const stored = new Map(
              rows.map((row) => [`${row.monitor_id} ${row.starts_at.getTime()}`, row])
            )
            return new Map(
              monitors.map((monitor) => {
                const buckets = starts.map((startMs) =>
                  bucketOf(
                    stored.get(`${monitor.id} ${startMs}`),
                    monitor,
                    startMs,
                    Math.min(startMs + dayMs, nowMs)
                  )
                )
                return [
                  monitor.id,
                  {
                    uptime: uptimeOf(buckets),
                    days: buckets.map((bucket, n) => ({
                      day: new Date(starts[n] ?? 0).toISOString().slice(0, 10),
                      uptime: uptimeOf([bucket])
                    }))
                  }
                ]
              })
            )
          })
        })
      })
    )
}

const requireMonitor = orNotFound("monitor")

/**
 * A monitor's uptime, in total and on each day: the fraction of the monitored time in which it was
 * not down. Null if it was not monitored.
 */
export interface DailyUptime {
  readonly uptime: number | null
  readonly days: ReadonlyArray<{ readonly day: string; readonly uptime: number | null }>
}

interface Bucket extends Omit<UptimeBucketRow, "monitor_id" | "starts_at" | "unwatched_ms"> {
  readonly watched_ms: number
}

/**
 * Returns a bucket's totals: the stored totals plus the time since the last status change, which is
 * not stored yet.
 */
const bucketOf = (
  stored: UptimeBucketRow | undefined,
  { changed_at, created_at, status }: CurrentMonitorStatus,
  startMs: number,
  endMs: number
): Bucket => {
  const isUnwatched = status === "new" || status === "paused"
  const existedMs = Math.max(0, endMs - Math.max(startMs, created_at.getTime()))
  const presentMs = Math.max(0, endMs - Math.max(startMs, changed_at.getTime()))
  const unwatched = (stored?.unwatched_ms ?? 0) + (isUnwatched ? presentMs : 0)
  return {
    checks: stored?.checks ?? 0,
    failed_checks: stored?.failed_checks ?? 0,
    down_ms: (stored?.down_ms ?? 0) + (status === "down" ? presentMs : 0),
    watched_ms: Math.max(0, existedMs - unwatched),
    latencies: stored?.latencies ?? null
  }
}

const sumOf = <Name extends string>(
  buckets: ReadonlyArray<{ readonly [Field in Name]: number }>,
  name: Name
): number => buckets.reduce((total, bucket) => total + bucket[name], 0)

const uptimeOf = (
  buckets: ReadonlyArray<Pick<Bucket, "down_ms" | "watched_ms">>
): number | null => {
  const watchedMs = sumOf(buckets, "watched_ms")
  const downMs = sumOf(buckets, "down_ms")
  return watchedMs <= 0 ? null : Math.max(0, 1 - downMs / watchedMs)
}

const figuresOf = (buckets: ReadonlyArray<Bucket>) => ({
  uptime: uptimeOf(buckets),
  down_seconds: Math.round(sumOf(buckets, "down_ms")) / 1_000,
  watched_seconds: Math.round(sumOf(buckets, "watched_ms")) / 1_000,
  checks: sumOf(buckets, "checks"),
  failed_checks: sumOf(buckets, "failed_checks"),
  latency_ms: latencyPercentilesOf(
    buckets.reduce<ReadonlyArray<number> | null>(
      (total, { latencies }) => addLatencyHistograms(total, latencies),
      null
    )
  )
})
