import {
  type CurrentWorker,
  InvalidWorkerToken
} from "@scheduling/domain/workers/WorkerAuthentication"
import {
  type WorkerBeat,
  type WorkerHello,
  type WorkerOrders,
  workerProtocolVersion,
  type WorkerWelcome
} from "@scheduling/domain/workers/WorkerProtocol"
import { AgentOutdated, SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { ExecutionId, WorkerId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { PlaceProbes, Processes } from "../../monitoring/index.ts"
import { type EndSignals, Outbox, Signals } from "../../events/index.ts"
import { loop } from "../../core/index.ts"
import { agentLeaseMs, handBack, recover } from "../../engine/index.ts"
import { transactionOf } from "../../store/index.ts"
import { AgentSessionsRepo } from "./AgentSessionsRepo.ts"

type Worker = CurrentWorker["Service"]

/**
 * The longest wait of a claim. It is shorter than the lease, so that a claim that is five seconds
 * late still finds its session.
 */
const waitSeconds = agentLeaseMs / 1_000 - 5

/**
 * The interval between heartbeats. It is short, because users wait for cancellations and the
 * responses to heartbeats contain them.
 */
const heartbeatSeconds = 1

/**
 * Manages the sessions of agents. For the engine, a session is a node: runs are leased to it, they
 * are recovered when its lease expires, and its results are fenced.
 */
export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    readonly begin: (
      worker: Worker,
      hello: WorkerHello
    ) => Effect.Effect<WorkerWelcome, AgentOutdated | InvalidWorkerToken>
    readonly beat: (worker: Worker, beat: WorkerBeat) => Effect.Effect<WorkerOrders, SessionEnded>
    /** Announces the workers whose agents went offline and did not return in time. */
    readonly announceOffline: Effect.Effect<void>
    readonly check: (worker: Worker, session: number) => Effect.Effect<void, SessionEnded>
  }
>()("@scheduling/server/workers/protocol/AgentSessions") {
  static readonly layer: Layer.Layer<
    AgentSessions,
    never,
    | EndSignals
    | Outbox
    | PlaceProbes
    | Processes
    | AgentSessionsRepo
    | Signals
    | SqlClient.SqlClient
  > = Layer.effect(
    AgentSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const context = yield* Effect.context<EndSignals | Signals>()
      const outbox = yield* Outbox
      const places = yield* PlaceProbes
      const processes = yield* Processes
      const repo = yield* AgentSessionsRepo
      const signals = yield* Signals

      /**
       * Recovers the runs of an ended session immediately, without waiting for its lease to expire.
       */
      const recoverNow = (session: number, calls: Parameters<typeof recover>[2]) =>
        recover(sql, session, calls).pipe(
          Effect.provide(context),
          Effect.andThen(signals.wake),
          Effect.orDie
        )

      const returnRuns = (session: number, ids: ReadonlyArray<string>) =>
        ids.length === 0
          ? Effect.void
          : Effect.orDie(Effect.andThen(handBack(sql, session, ids), signals.wake))

      const insert = Effect.fnUntraced(function* (worker: Worker, hello: WorkerHello) {
        const { host, labels = null, slots, version } = hello
        const started = yield* repo.insert(worker, { host, slots, version, offered_labels: labels })
        if (Option.isSome(started) && started.value.was_missed) {
          yield* outbox.announce({
            workspace_id: worker.workspace_id,
            event: "worker.online",
            subject_id: worker.id,
            at: yield* DateTime.nowAsDate,
            data: {
              name: started.value.name,
              reason: `Its agent on ${host} is connected again.`,
              about: { worker: { id: worker.id } }
            }
          })
        }
        return started
      }, transaction)

      const announceOffline = Effect.gen(function* () {
        const missed = yield* repo.claimMissed
        const at = yield* DateTime.nowAsDate
        yield* outbox.announce(
          ...missed.map(({ host, id, name, seen_at, workspace_id }) => ({
            workspace_id,
            event: "worker.offline" as const,
            subject_id: id,
            at,
            data: {
              name,
              reason: `The service lost contact with its agent${host === null ? "" : ` on ${host}`}.`,
              facts: [{ name: "last seen", value: seen_at?.toISOString() ?? "never" }],
              about: { worker: { id: WorkerId.make(id) } }
            }
          }))
        )
      }).pipe(transaction)

      const check = (worker: Worker, session: number) =>
        worker.session === session
          ? Effect.void
          : Effect.fail(new SessionEnded({ reason: worker.session === null ? "lost" : "replaced" }))

      return AgentSessions.of({
        begin: Effect.fn("AgentSessions.begin")(function* (worker, hello) {
          if (hello.protocol !== workerProtocolVersion) return yield* new AgentOutdated()
          const started = yield* insert(worker, hello)
          // The worker was deleted after its token was checked.
          if (Option.isNone(started)) return yield* new InvalidWorkerToken()
          const { labels, name, replaced, session } = started.value
          if (replaced !== null) yield* recoverNow(replaced, "perhaps going on")
          return {
            worker_id: worker.id,
            name,
            labels: labels.filter((one) => hello.labels?.includes(one) ?? true),
            session,
            wait_seconds: waitSeconds,
            beat_seconds: heartbeatSeconds
          }
        }),

        beat: Effect.fnUntraced(function* (
          worker,
          { leaving = false, probes = [], reports = [], running, session }
        ) {
          yield* check(worker, session)
          if (leaving) {
            yield* repo.remove(worker, session)
            yield* recoverNow(session, "gone")
            return { cancel: [], watch: [], watching: "" }
          }
          const renewal = yield* repo.renew({ session, running })
          if (Option.isNone(renewal)) return yield* new SessionEnded({ reason: "lost" })
          const { cancelled, has_probes, unknown, watch, watching } = renewal.value
          yield* returnRuns(session, unknown)
          if (reports.length > 0) yield* processes.report(worker, reports)
          if (probes.length > 0) yield* places.take(worker, probes)
          const given = has_probes ? yield* places.give(worker) : []
          return {
            cancel: cancelled.map((id) => ExecutionId.make(id)),
            watch,
            watching,
            ...(given.length > 0 && { probes: given })
          }
        }),

        announceOffline: Effect.andThen(repo.updateLost, announceOffline),

        check
      })
    })
  )
}

/**
 * Announces offline workers. It runs on every node, but the row of each worker is updated by only
 * one node, so the worker is announced once.
 */
export const OfflineWorkersLayer: Layer.Layer<never, never, AgentSessions> = Layer.effectDiscard(
  Effect.flatMap(AgentSessions, ({ announceOffline }) =>
    Effect.forkScoped(
      loop("announcing offline workers", Effect.andThen(Effect.sleep("2 seconds"), announceOffline))
    )
  )
)
