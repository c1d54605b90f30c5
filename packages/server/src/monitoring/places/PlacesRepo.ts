import type { Check, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { PlaceStatus } from "@scheduling/domain/monitors/checks/Place"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf, timestampOf } from "../../store/index.ts"
import { checkedTable } from "../checks/CheckedRow.ts"
import type { DueMonitorRow } from "../checks/ChecksRepo.ts"
import { selectedMonitorColumns } from "../MonitorTable.ts"
import type { OnlineWorker } from "./assignWorkers.ts"

/** A place of a monitor in one round of its checks. The round is the version of the leased row. */
export interface PlaceOfRound {
  readonly monitor_id: string
  readonly place: number
  readonly round: number
}

/**
 * A probe to run from one place of a monitor in this round. `worker_id` is null if no online worker
 * has the labels.
 */
export interface NewProbe extends PlaceOfRound {
  readonly labels: ReadonlyArray<string>
  readonly worker_id: string | null
  readonly timeout_seconds: number
}

/** The state of a place after its round. */
export interface PlaceRow extends PlaceOfRound {
  readonly labels: ReadonlyArray<string>
  readonly worker_id: string | null
  /** True if the worker has not reported a result. */
  readonly is_open: boolean
  readonly status: PlaceStatus
  readonly unreached: boolean
  readonly last_check: Check | null
}

/** The result that a worker reports for a place. */
export interface ReportedPlaceResult extends PlaceOfRound {
  readonly unreached: boolean
  readonly result: CheckResult
}

interface Worker {
  readonly id: string
  readonly workspace_id: string
}

/** How long after the timeout of a check its result may arrive. */
export const resultGraceMs = 3_000

export const noWorkerMessage = "No online worker has these labels."

/** The results of the places of monitors, and the probes that workers must make. */
export class PlacesRepo extends Context.Service<
  PlacesRepo,
  {
    readonly findOnlineWorkers: (
      workspaceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<OnlineWorker>>
    /**
     * Inserts the probes of new rounds. Monitors that have changed since they were leased are left
     * out.
     */
    readonly insert: (probes: ReadonlyArray<NewProbe>, at: Date) => Effect.Effect<void>
    /**
     * Returns the places of those monitors whose workers have all reported a result or run out of
     * time.
     */
    readonly findFinished: (
      monitorIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<PlaceRow>>
    /** Marks places as unknown. */
    readonly updateUnknown: (
      places: ReadonlyArray<PlaceOfRound & { readonly reason: string }>,
      at: Date
    ) => Effect.Effect<void>
    /** Returns the probes that the worker must make. Each probe is returned only once. */
    readonly take: (
      worker: Worker,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DueMonitorRow & PlaceOfRound>>
    /** Returns the monitors whose rounds are still open. */
    readonly findOpen: (
      worker: Worker,
      places: ReadonlyArray<PlaceOfRound>
    ) => Effect.Effect<ReadonlyArray<DueMonitorRow>>
    /**
     * Writes the results of the worker's open probes. A late or repeated result, or a result of
     * another worker, changes nothing.
     */
    readonly answer: (
      worker: Worker,
      answers: ReadonlyArray<ReportedPlaceResult>,
      at: Date
    ) => Effect.Effect<void>
    /** Deletes the results of places that monitors no longer have. */
    readonly removeOld: Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/places/PlacesRepo") {
  static readonly layer: Layer.Layer<PlacesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PlacesRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const monitorColumns = sql.literal(`m.kind, ${selectedMonitorColumns(checkedTable("http"))}`)

      return PlacesRepo.of({
        findOnlineWorkers: Effect.fn("PlacesRepo.findOnlineWorkers")(function* (workspaceIds) {
          return yield* sql<OnlineWorker>`
            SELECT
              w.id, w.workspace_id, w.name,
              CASE
                WHEN w.offered_labels IS NULL THEN w.labels
                ELSE ARRAY (
                  SELECT label
                  FROM unnest(w.labels) AS label
                  WHERE label = ANY (w.offered_labels)
                )
              END AS labels
            FROM workers AS w
            JOIN nodes AS s
              ON s.id = w.node_id
              AND s.died_at IS NULL
              AND s.lease_until > now()
            WHERE w.workspace_id = ANY (${workspaceIds}::uuid[])
              AND NOT w.paused
            ORDER BY w.id`
        }, Effect.orDie),

        insert: Effect.fn("PlacesRepo.insert")(function* (probes, at) {
          const column = columnsOf(probes)
          yield* sql`
            INSERT INTO monitor_places AS p (
              monitor_id, place, workspace_id, labels, round, worker_id, is_open, ends_at, status,
              reason, checked_at
            )
            SELECT
              k.monitor_id, given.place, k.workspace_id, given.labels::jsonb, given.round,
              given.worker_id, given.worker_id IS NOT NULL,
              now() + given.timeout_seconds * interval '1 second'
                + ${resultGraceMs} * interval '1 millisecond',
              'unknown',
              CASE WHEN given.worker_id IS NULL THEN ${noWorkerMessage} ELSE ${notCheckedYet} END,
              CASE WHEN given.worker_id IS NULL THEN ${at}::timestamptz END
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("int4", ({ place }) => place)},
              ${column("text", ({ labels }) => JSON.stringify(labels))},
              ${column("int4", ({ round }) => round)},
              ${column("uuid", ({ worker_id }) => worker_id)},
              ${column("int4", ({ timeout_seconds }) => timeout_seconds)}
            ) AS given (monitor_id, place, labels, round, worker_id, timeout_seconds)
            JOIN checked_monitors AS k
              ON k.monitor_id = given.monitor_id
              AND k.version = given.round
            ORDER BY k.monitor_id, given.place
            FOR KEY SHARE OF k
            ON CONFLICT (monitor_id, place) DO UPDATE
            SET
              labels = excluded.labels,
              round = excluded.round,
              worker_id = excluded.worker_id,
              is_open = excluded.is_open,
              is_given = false,
              ends_at = excluded.ends_at,
              unreached = false,
              status = CASE
                WHEN excluded.is_open AND p.labels = excluded.labels THEN p.status
                ELSE 'unknown'
              END,
              reason = CASE
                WHEN excluded.is_open AND p.labels = excluded.labels THEN p.reason
                ELSE excluded.reason
              END,
              checked_at = CASE
                WHEN excluded.is_open AND p.labels = excluded.labels THEN p.checked_at
                ELSE excluded.checked_at
              END,
              last_check = CASE WHEN p.labels = excluded.labels THEN p.last_check END
            WHERE p.round < excluded.round`
        }, Effect.orDie),

        findFinished: Effect.fn("PlacesRepo.findFinished")(function* (monitorIds) {
          return yield* sql<PlaceRow>`
            SELECT
              monitor_id, place, round, labels, worker_id, is_open, status, unreached, last_check
            FROM monitor_places AS p
            WHERE monitor_id = ANY (${monitorIds}::uuid[])
              AND NOT EXISTS (
                SELECT
                FROM monitor_places AS other
                WHERE other.monitor_id = p.monitor_id
                  AND other.round = p.round
                  AND other.is_open
                  AND other.ends_at > now()
              )
            ORDER BY monitor_id, place`
        }, Effect.orDie),

        updateUnknown: Effect.fn("PlacesRepo.updateUnknown")(function* (places, at) {
          const column = columnsOf(places)
          yield* sql`
            UPDATE monitor_places AS p
            SET is_open = false, status = 'unknown', reason = given.reason, checked_at = ${at}
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("int4", ({ place }) => place)},
              ${column("int4", ({ round }) => round)},
              ${column("text", ({ reason }) => reason)}
            ) AS given (monitor_id, place, round, reason)
            WHERE p.monitor_id = given.monitor_id
              AND p.place = given.place
              AND p.round = given.round`
        }, Effect.orDie),

        take: Effect.fn("PlacesRepo.take")(function* (worker, limit) {
          return yield* sql<DueMonitorRow & PlaceOfRound>`
            WITH taken AS (
              UPDATE monitor_places AS p
              SET is_given = true
              WHERE (p.monitor_id, p.place) IN (
                SELECT monitor_id, place
                FROM monitor_places
                WHERE worker_id = ${worker.id}
                  AND workspace_id = ${worker.workspace_id}
                  AND is_open
                  AND NOT is_given
                  AND ends_at > now()
                ORDER BY ends_at
                LIMIT ${limit}
                FOR UPDATE SKIP LOCKED
              )
              RETURNING p.monitor_id, p.place, p.round
            )
            SELECT ${monitorColumns}, taken.place, taken.round
            FROM taken
            JOIN checked_monitors AS k
              ON k.monitor_id = taken.monitor_id
              AND k.version = taken.round
            JOIN monitors AS m ON m.id = k.monitor_id`
        }, Effect.orDie),

        findOpen: Effect.fn("PlacesRepo.findOpen")(function* (worker, places) {
          const column = columnsOf(places)
          return yield* sql<DueMonitorRow>`
            SELECT ${monitorColumns}
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("int4", ({ place }) => place)},
              ${column("int4", ({ round }) => round)}
            ) AS given (monitor_id, place, round)
            JOIN monitor_places AS p
              ON p.monitor_id = given.monitor_id
              AND p.place = given.place
              AND p.round = given.round
            JOIN checked_monitors AS k ON k.monitor_id = p.monitor_id
            JOIN monitors AS m ON m.id = k.monitor_id
            WHERE p.worker_id = ${worker.id}
              AND p.workspace_id = ${worker.workspace_id}
              AND p.is_open`
        }, Effect.orDie),

        answer: Effect.fn("PlacesRepo.answer")(function* (worker, answers, at) {
          const column = columnsOf(answers)
          const toCheck = ({ result }: ReportedPlaceResult) =>
            JSON.stringify({ at: timestampOf(at), ...result })
          yield* sql`
            WITH given AS (
              SELECT *
              FROM unnest(
                ${column("uuid", ({ monitor_id }) => monitor_id)},
                ${column("int4", ({ place }) => place)},
                ${column("int4", ({ round }) => round)},
                ${column("text", ({ result }) => result.error?.message)},
                ${column("text", toCheck)},
                ${column("bool", ({ unreached }) => unreached)}
              ) AS given (monitor_id, place, round, reason, last_check, unreached)
            ), mine AS MATERIALIZED (
              SELECT p.monitor_id, p.place
              FROM monitor_places AS p
              JOIN given USING (monitor_id, place, round)
              WHERE p.worker_id = ${worker.id}
                AND p.workspace_id = ${worker.workspace_id}
                AND p.is_open
                AND p.ends_at > now()
              ORDER BY p.monitor_id, p.place
              FOR UPDATE OF p
            )
            UPDATE monitor_places AS p
            SET
              is_open = false,
              status = CASE WHEN given.reason IS NULL THEN 'up' ELSE 'down' END,
              reason = given.reason,
              checked_at = ${at},
              last_check = given.last_check::jsonb,
              unreached = given.unreached
            FROM mine
            JOIN given USING (monitor_id, place)
            WHERE p.monitor_id = mine.monitor_id
              AND p.place = mine.place
              AND p.round = given.round
              AND p.is_open`
        }, Effect.orDie),

        removeOld: sql`
          DELETE FROM monitor_places AS p
          USING checked_monitors AS k
          WHERE k.monitor_id = p.monitor_id
            AND p.place >= coalesce(jsonb_array_length(k.places), 0)`.pipe(
          Effect.orDie,
          Effect.asVoid
        )
      })
    })
  )
}

const notCheckedYet = "Not checked yet."
