import type { Check, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs } from "../../core/index.ts"
import { Signals } from "../../events/index.ts"
import { batchRequests, StoreClock } from "../../store/index.ts"
import type { DueMonitorRow } from "../checks/ChecksRepo.ts"
import { NetworkWatch } from "../checks/NetworkWatch.ts"
import { assignWorkers } from "./assignWorkers.ts"
import { combinePlaceResults } from "./combinePlaceResults.ts"
import { resultGraceMs, noWorkerMessage, type PlaceRow, PlacesRepo } from "./PlacesRepo.ts"
import { probesSignal } from "./probesSignal.ts"

/** The interval at which a node looks for the results of workers. */
const pollMs = 250

/** If a timeout fires late by at least this time, the worker itself was paused. */
const stalledMs = 1_000

/** The batch settings. Rounds that begin at about the same time share statements. */
const batchSettings = { apartMs: 50, maxBatch: 500 }

/**
 * Checks targets from their monitors' places. Each check is a round. It writes a probe for each
 * place, which a worker's agent receives with its next heartbeat (`PlaceProbes`). It waits for the
 * results until the timeout and a grace period have passed, and combines them.
 */
export class PlaceChecks extends Context.Service<
  PlaceChecks,
  {
    /**
     * Returns the combined result. Returns undefined if no place has a result. The check then does
     * not count.
     */
    readonly check: (row: DueMonitorRow) => Effect.Effect<CheckResult | undefined>
  }
>()("@scheduling/server/monitoring/places/PlaceChecks") {
  static readonly layer: Layer.Layer<
    PlaceChecks,
    never,
    PlacesRepo | Signals | SqlClient.SqlClient
  > = Layer.effect(
    PlaceChecks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const clock = yield* Clock.Clock
      const repo = yield* PlacesRepo
      const signals = yield* Signals
      const findReason = makeFindReason()

      /** Notifies the nodes at which agents wait for probes that some are due. */
      const wake = (workerIds: ReadonlyArray<string>) => {
        const payloads = workerIds.map(probesSignal.encode)
        return signals.isAlone
          ? Effect.forEach(payloads, signals.receive, { discard: true })
          : signals.notify(payloads)
      }

      const begin = yield* batchRequests(
        Effect.fnUntraced(function* (rows: ReadonlyArray<DueMonitorRow>) {
          const workers = yield* repo.findOnlineWorkers([
            ...new Set(rows.map(({ workspace_id }) => workspace_id))
          ])
          const byWorkspace = Map.groupBy(workers, ({ workspace_id }) => workspace_id)
          const probes = rows.flatMap((row) => {
            const places = row.places ?? []
            const online = byWorkspace.get(row.workspace_id) ?? []
            const assigned = assignWorkers(row.monitor_id, places, online)
            return places.map(({ labels }, place) => ({
              monitor_id: row.monitor_id,
              place,
              round: row.row_version,
              labels,
              worker_id: assigned[place]?.id ?? null,
              timeout_seconds: row.timeout_seconds
            }))
          })
          yield* repo.insert(probes, yield* now)
          const asked = new Set(probes.flatMap(({ worker_id }) => worker_id ?? []))
          if (asked.size > 0) yield* wake([...asked])
          return rows
        }),
        batchSettings
      )

      const findFinished = yield* batchRequests(
        (ids: ReadonlyArray<string>) =>
          Effect.map(repo.findFinished(ids), (places) => {
            const found = Map.groupBy(places, ({ monitor_id }) => monitor_id)
            return ids.map((id) => found.get(id) ?? [])
          }),
        batchSettings
      )

      /**
       * Returns a round's places once it is complete, or none if another round of the monitor has
       * begun.
       */
      const waitForResults = Effect.fnUntraced(function* (row: DueMonitorRow) {
        const endsAtMs = elapsedMs(clock) + row.timeout_seconds * 1_000 + 2 * resultGraceMs
        while (elapsedMs(clock) < endsAtMs) {
          const places = (yield* findFinished(row.monitor_id)).slice(0, row.places?.length)
          if (places.some(({ round }) => round > row.row_version)) return []
          if (places.length > 0) return places
          yield* Effect.sleep(pollMs)
        }
        return []
      })

      return PlaceChecks.of({
        check: Effect.fnUntraced(function* (row) {
          yield* begin(row)
          const places = yield* waitForResults(row)
          const judged = places.map((place) => ({
            ...place,
            reason: findReason(row, place, elapsedMs(clock))
          }))
          const unknown = judged.flatMap(({ reason, ...place }) =>
            reason === undefined || (place.status === "unknown" && !place.is_open)
              ? []
              : [{ ...place, reason }]
          )
          if (unknown.length > 0) yield* repo.updateUnknown(unknown, yield* now)
          const known = judged.flatMap(({ labels, last_check, reason }) =>
            reason !== undefined || last_check === null
              ? []
              : [{ labels, result: resultOf(last_check) }]
          )
          return combinePlaceResults(row.down_when, known)
        })
      })
    })
  )
}

const resultOf = ({ at: _, ...result }: Check): CheckResult => result

/**
 * Creates the function that returns why a place counts as unknown after a round, or undefined if
 * its result counts. As with checks by the service, a failure does not count if the worker was
 * paused or no longer reaches any target.
 */
const makeFindReason = () => {
  const networks = new Map<string, NetworkWatch>()
  return (row: DueMonitorRow, place: PlaceRow, nowMs: number): string | undefined => {
    const { is_open, last_check, status, unreached, worker_id } = place
    if (worker_id === null) return noWorkerMessage
    if (is_open || status === "unknown" || last_check === null) {
      return "The worker did not respond in time."
    }
    const lateMs = (last_check.duration_ms ?? 0) - row.timeout_seconds * 1_000
    if (last_check.error?.code === "timeout" && lateMs > stalledMs) {
      return "The worker was paused during the check."
    }
    if (!unreached) {
      networks.delete(worker_id)
      return undefined
    }
    const network = networks.get(worker_id) ?? new NetworkWatch()
    networks.set(worker_id, network)
    if (row.status === "up") network.noteLost(hostOf(row), nowMs)
    return network.isCutOff ? "The worker cannot reach any of its targets." : undefined
  }
}

const hostOf = ({ target }: DueMonitorRow): string => {
  const {
    host = "",
    resolver,
    url
  } = target as {
    readonly host?: string
    readonly resolver?: string | null
    readonly url?: string
  }
  return url === undefined ? (resolver ?? host) : new URL(url.replace(/[?#].*$/s, "")).hostname
}
