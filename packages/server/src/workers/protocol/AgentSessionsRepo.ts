import type { WatchedProcess } from "@scheduling/domain/workers/WorkerProtocol"
import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { agentLeaseMs } from "../../engine/index.ts"
import { LiveChanges, publishAfterCommit } from "../../events/index.ts"
import { batchRequests, variableLengthColumns } from "../../store/index.ts"
import { workerChange } from "../workerChange.ts"
import { heartbeatBatch } from "./batchSettings.ts"
import {
  hasProbesSql,
  watchedProcessesSql,
  watchedProcessesHashSql
} from "./watchedProcessesSql.ts"

type Worker = Pick<CurrentWorker["Service"], "id" | "workspace_id">

/** The agent's description of itself when it starts a session. */
export interface AgentDescription {
  readonly version: string
  readonly host: string
  readonly slots: number
  readonly offered_labels: ReadonlyArray<string> | null
}

export interface AgentHeartbeat {
  readonly session: number
  readonly running: ReadonlyArray<string>
}

export interface SessionRenewal {
  readonly session: number
  readonly cancelled: ReadonlyArray<string>
  /**
   * The runs that are leased to the session but that the agent does not know, because the response
   * that contained them was lost.
   */
  readonly unknown: ReadonlyArray<string>
  readonly watch: ReadonlyArray<WatchedProcess>
  readonly watching: string
  /** True if the worker must check targets of monitors. */
  readonly has_probes: boolean
}

/** The time after which a response to the agent counts as lost. */
const lostAnswerMs = agentLeaseMs

export class AgentSessionsRepo extends Context.Service<
  AgentSessionsRepo,
  {
    /**
     * Inserts a session and ends the previous session, whose id is `replaced`. `was_missed` is true
     * if the worker was announced as offline.
     */
    readonly insert: (
      worker: Worker,
      agent: AgentDescription
    ) => Effect.Effect<
      Option.Option<{
        readonly session: number
        readonly replaced: number | null
        readonly name: string
        /** All labels of the worker, including labels that its agent does not offer. */
        readonly labels: ReadonlyArray<string>
        readonly was_missed: boolean
      }>
    >
    /**
     * Renews the lease of a session, or returns none if the session has ended. Many heartbeats
     * share one statement.
     */
    readonly renew: (beat: AgentHeartbeat) => Effect.Effect<Option.Option<SessionRenewal>>
    /** Ends a session. The worker is announced as offline if its agent does not return in time. */
    readonly remove: (worker: Worker, session: number) => Effect.Effect<void>
    /** Marks the workers of expired sessions as lost. */
    readonly updateLost: Effect.Effect<void>
    /** Returns the offline workers to announce, and marks them as announced. */
    readonly claimMissed: Effect.Effect<
      ReadonlyArray<{
        readonly id: string
        readonly workspace_id: string
        readonly name: string
        readonly host: string | null
        readonly seen_at: Date | null
      }>
    >
  }
>()("@scheduling/server/workers/protocol/AgentSessionsRepo") {
  static readonly layer: Layer.Layer<AgentSessionsRepo, never, SqlClient.SqlClient> = Layer.effect(
    AgentSessionsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publish = publishAfterCommit(sql, yield* LiveChanges)
      const lease = sql`${agentLeaseMs} * interval '1 millisecond'`

      const renewAll = (beats: ReadonlyArray<AgentHeartbeat>) => {
        const column = variableLengthColumns(sql, beats)
        return sql<SessionRenewal>`
          WITH beats AS (
            SELECT session, string_to_array(running, ' ')::uuid[] AS running
            FROM unnest(
              ${column("int4", ({ session }) => session)},
              ${column("text", ({ running }) => running.join(" "))}
            ) AS beats (session, running)
          ), renewed AS (
            UPDATE nodes
            SET lease_until = now() + ${lease}
            FROM beats
            WHERE nodes.id = beats.session
              AND nodes.died_at IS NULL
            RETURNING nodes.id, nodes.worker_id, beats.running
          )
          SELECT
            renewed.id AS session,
            ARRAY (
              SELECT id::text
              FROM runs
              WHERE lease_owner = renewed.id
                AND cancel_requested
            ) AS cancelled,
            ARRAY (
              SELECT id::text
              FROM runs
              WHERE lease_owner = renewed.id
                AND coalesce(attempt_started_at, due_at) < now() - ${lostAnswerMs} * interval '1 millisecond'
                AND id <> ALL (renewed.running)
            ) AS unknown,
            watched.watch,
            ${sql.literal(watchedProcessesHashSql("watched.watch"))} AS watching,
            ${sql.literal(hasProbesSql("renewed.worker_id"))} AS has_probes
          FROM renewed
          JOIN workers ON workers.id = renewed.worker_id
          CROSS JOIN LATERAL (SELECT ${sql.literal(watchedProcessesSql("workers"))} AS watch) AS watched`.pipe(
          Effect.orDie,
          Effect.map((renewals) => {
            const found = new Map(renewals.map((renewal) => [renewal.session, renewal]))
            return beats.map(({ session }) => Option.fromNullishOr(found.get(session)))
          })
        )
      }

      return AgentSessionsRepo.of({
        insert: Effect.fn("AgentSessionsRepo.insert")(function* ({ id, workspace_id }, agent) {
          const rows = yield* sql<{
            readonly session: number
            readonly replaced: number | null
            readonly name: string
            readonly labels: ReadonlyArray<string>
            readonly was_missed: boolean
          }>`
            WITH worker AS (
              SELECT id, name, node_id, is_missed
              FROM workers
              WHERE workspace_id = ${workspace_id}
                AND id = ${id}
              FOR UPDATE
            ), replaced AS (
              UPDATE nodes
              SET died_at = now()
              FROM worker
              WHERE nodes.id = worker.node_id
                AND nodes.died_at IS NULL
            ), session AS (
              INSERT INTO nodes (holds_lock, worker_id, lease_until)
              SELECT false, id, now() + ${lease}
              FROM worker
              RETURNING id
            )
            UPDATE workers
            SET
              node_id = session.id,
              seen_at = now(),
              missed_at = NULL,
              is_missed = false,
              version = ${agent.version},
              host = ${agent.host},
              slots = ${agent.slots},
              offered_labels = ${agent.offered_labels}::text[]
            FROM worker, session
            WHERE workers.id = worker.id
            RETURNING
              session.id AS session, worker.node_id AS replaced, worker.name, workers.labels,
              worker.is_missed AS was_missed`
          yield* publish(
            rows.length === 0 ? [] : [{ id, workspace_id }],
            workerChange("worker.online")
          )
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        renew: yield* batchRequests(renewAll, heartbeatBatch),

        remove: Effect.fn("AgentSessionsRepo.remove")(function* ({ id, workspace_id }, session) {
          yield* sql`
            WITH gone AS (
              UPDATE workers
              SET node_id = NULL, seen_at = now(), missed_at = now() + interval '1 minute'
              WHERE workspace_id = ${workspace_id}
                AND id = ${id}
                AND node_id = ${session}
            )
            UPDATE nodes
            SET died_at = now()
            WHERE id = ${session}
              AND worker_id = ${id}
              AND died_at IS NULL`
          yield* publish([{ id, workspace_id }], workerChange("worker.offline"))
        }, Effect.orDie),

        updateLost: sql<Worker>`
          UPDATE workers
          SET node_id = NULL, missed_at = now(), seen_at = nodes.lease_until - ${lease}
          FROM nodes
          WHERE nodes.died_at IS NOT NULL
            AND nodes.worker_id IS NOT NULL
            AND workers.node_id = nodes.id
          RETURNING workers.id, workers.workspace_id`.pipe(
          Effect.flatMap((lost) => publish(lost, workerChange("worker.offline"))),
          Effect.orDie
        ),

        claimMissed: sql<{
          readonly id: string
          readonly workspace_id: string
          readonly name: string
          readonly host: string | null
          readonly seen_at: Date | null
        }>`
          UPDATE workers
          SET missed_at = NULL, is_missed = true
          WHERE missed_at <= now()
            AND NOT paused
          RETURNING id, workspace_id, name, host, seen_at`.pipe(Effect.orDie)
      })
    })
  )
}
