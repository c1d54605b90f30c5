import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Signals } from "../../events/index.ts"
import { Shutdown } from "../../http/index.ts"
import { probesSignal } from "../../monitoring/index.ts"
import { elapsedMs, loop, Waker } from "../../core/index.ts"
import {
  AgentRunSearchOfNode,
  type DueWorkerRuns,
  makeFindDueWorkerRuns,
  RunnerOptions
} from "../../engine/index.ts"
import { batchRequests, DatabaseClock } from "../../store/index.ts"
import { KnownDueRuns } from "./KnownDueRuns.ts"
import { RemainingDueRuns } from "./RemainingDueRuns.ts"

export interface ClaimingAgent {
  readonly worker_id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly labels: ReadonlyArray<string>
  readonly slots: number
}

/** The sets of labels that due runs require. The worker has all labels of each set. */
export type LabelSets = ReadonlyArray<ReadonlyArray<string>>

interface Waiter {
  readonly claimant: ClaimingAgent
  readonly endsAtMs: number
  readonly give: (sets: LabelSets, hasProbes?: boolean) => void
}

/** The minimum time between two reads of due runs for waiting agents. */
const pauseMs = 10

/**
 * The minimum time after a read that found no runs for the waiting agents. The due runs are then
 * for other agents.
 */
const emptyPauseMs = 100

/**
 * The longest pause after a read. The pause is ten times the duration of the read, up to this
 * limit.
 */
const longestPauseMs = 250

/** The margin for clock differences. A claim before the due time would find nothing. */
const marginMs = 1

/**
 * How long the runs of a workspace are still read after its last waiting agent received runs,
 * because that agent will soon claim again.
 */
const rememberedMs = 5_000

/**
 * The maximum number of workers with probes that are remembered. If they are forgotten, their
 * agents still find the probes later.
 */
const maxProbed = 10_000

/** How often expired waits are ended. A timer per agent would cost more. */
const sweepMs = 250

/**
 * Finds the runs that are due for an agent, now or later. Waiting agents cost nothing until the
 * node's runner signals that a run is due soon. Then one statement reads the due runs for all
 * waiting agents, and each run wakes one agent when it is due.
 */
export class Dispatch extends Context.Service<
  Dispatch,
  {
    /** Reads the runs that are due now. Concurrent claims share one statement. */
    readonly findDue: (claimant: ClaimingAgent) => Effect.Effect<LabelSets>
    /**
     * Takes due runs that a recent read has found. Call `forget` if not all of them could be
     * claimed.
     */
    readonly remaining: (claimant: ClaimingAgent) => LabelSets
    readonly forget: (claimant: ClaimingAgent) => void
    /**
     * Waits for due runs. The result is empty if the wait times out, if the worker claims again or
     * if the process stops.
     */
    readonly wait: (
      claimant: ClaimingAgent,
      ms: number
    ) => Effect.Effect<{
      readonly sets: LabelSets
      /** True if the wait ended because the worker has probes to make. */
      readonly hasProbes: boolean
    }>
    /** Makes the loop read again. Call it when due runs could not be claimed. */
    readonly miss: Effect.Effect<void>
    /**
     * Returns the current time on the database clock. Valid only after the first read of due runs.
     */
    readonly nowMs: () => number
  }
>()("@scheduling/server/workers/protocol/Dispatch") {
  static readonly layer: Layer.Layer<Dispatch, never, Signals | SqlClient.SqlClient | Shutdown> =
    Layer.effect(
      Dispatch,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const search = yield* AgentRunSearchOfNode
        const clock = yield* Clock.Clock
        const { pollMs } = yield* RunnerOptions
        const signals = yield* Signals
        const stopping = yield* Shutdown
        /** The waiting agents by worker. A new claim of a worker replaces the earlier one. */
        const waiters = new Map<string, Waiter>()
        /**
         * Workers that were given probes while they were not waiting at this node. Their next wait
         * ends immediately, because its claim may have looked for probes before they existed.
         */
        const probed = new Set<string>()
        const newcomers = new Waker()
        /** Wakes the loop that serves waiting agents. */
        const waker = new Waker()
        /**
         * For each workspace, the time when an agent most recently stopped waiting because it received
         * runs.
         */
        const left = new Map<AuthorizedWorkspaceId, number>()
        const agenda = new KnownDueRuns()
        const remaining = new RemainingDueRuns()
        const dbClock = yield* DatabaseClock

        const findDueRuns = makeFindDueWorkerRuns(sql)

        const read = (workspaces: ReadonlyArray<AuthorizedWorkspaceId>) =>
          Effect.map(dbClock.sample(findDueRuns(workspaces)), ({ found }) => found)

        /**
         * Reads the due runs of workspaces. The claiming agent takes the runs that are due, and the
         * waiting agents get only upcoming runs.
         */
        const readDue = yield* batchRequests((asked: ReadonlyArray<AuthorizedWorkspaceId>) =>
          read([...new Set(asked)]).pipe(
            Effect.orDie,
            Effect.map((found) => {
              agenda.learn(
                asked,
                found.map((one) => ({ ...one, due: 0 })),
                true
              )
              remaining.learn(asked, found, elapsedMs(clock))
              waker.wake()
              const byWorkspace = Map.groupBy(
                found.filter(({ due }) => due > 0),
                ({ workspace_id }) => workspace_id
              )
              return asked.map((id) => byWorkspace.get(id) ?? [])
            })
          )
        )

        const takeRemaining = ({ labels, slots, workspace_id }: ClaimingAgent) =>
          remaining.take(workspace_id, isSubset(labels), slots, elapsedMs(clock))

        const serve = ({ claimant: { labels, slots, workspace_id }, give }: Waiter) => {
          const sets = agenda.take(workspace_id, isSubset(labels), slots)
          if (sets.length > 0) give(sets)
          return sets.length > 0
        }

        const serveAll = () => {
          agenda.pass(dbClock.now() - marginMs)
          let served = 0
          for (const waiter of waiters.values()) if (serve(waiter)) served++
          return served
        }

        const readForAll = Effect.gen(function* () {
          const beganMs = elapsedMs(clock)
          search.searched(beganMs)
          for (const [id, leftMs] of left) if (leftMs < beganMs - rememberedMs) left.delete(id)
          const workspaces = new Set(left.keys())
          for (const { claimant } of waiters.values()) workspaces.add(claimant.workspace_id)
          const asked = [...workspaces]
          agenda.learn(asked, yield* Effect.orDie(read(asked)))
          const isFruitless = serveAll() === 0 && agenda.nextMs === Number.POSITIVE_INFINITY
          waker.wake()
          const tookMs = elapsedMs(clock) - beganMs
          yield* Effect.sleep(
            Math.max(isFruitless ? emptyPauseMs : pauseMs, Math.min(longestPauseMs, 10 * tookMs))
          )
        })

        const readWhenDue = Effect.gen(function* () {
          if (waiters.size === 0) return yield* newcomers.wait(60_000)
          const restMs = search.restMs(elapsedMs(clock), pollMs)
          if (restMs > 0) return yield* search.waker.wait(Math.min(restMs, 60_000))
          yield* readForAll
        })
        yield* Effect.forkScoped(loop("reading runs for waiting agents", readWhenDue))

        const release = (isDone: (waiter: Waiter) => boolean) => {
          for (const waiter of waiters.values()) if (isDone(waiter)) waiter.give([])
        }

        const wake = Effect.gen(function* () {
          if (waiters.size === 0) return yield* waker.wait(60_000)
          yield* waker.wait(Math.min(sweepMs, agenda.nextMs + marginMs - dbClock.now()))
          const nowMs = elapsedMs(clock)
          release(({ endsAtMs }) => endsAtMs <= nowMs)
          serveAll()
        })
        yield* Effect.forkScoped(loop("waking the agents of workers", wake))
        yield* Effect.forkScoped(
          Effect.andThen(
            stopping.begun,
            Effect.sync(() => release(() => true))
          )
        )

        yield* signals.subscribe({
          received: (payload) => {
            const workerId = probesSignal.decode(payload)
            if (workerId === undefined) return
            const waiter = waiters.get(workerId)
            if (waiter !== undefined) return waiter.give([], true)
            if (probed.size >= maxProbed) probed.clear()
            probed.add(workerId)
          },
          connected: () => {}
        })

        return Dispatch.of({
          findDue: (claimant) =>
            search.mayBeDue
              ? Effect.map(readDue(claimant.workspace_id), (due) => {
                  takeRemaining(claimant)
                  return setsFor(claimant, due)
                })
              : Effect.succeed([]),

          remaining: takeRemaining,

          forget: ({ workspace_id }) => remaining.forget(workspace_id),

          miss: Effect.sync(() => search.searchAgain(elapsedMs(clock))),

          nowMs: () => dbClock.now(),

          wait: (claimant, ms) =>
            Effect.callback((resume) => {
              const { worker_id } = claimant
              const leave = () => {
                if (waiters.get(worker_id) === waiter) waiters.delete(worker_id)
                left.set(claimant.workspace_id, elapsedMs(clock))
                search.waiting = waiters.size
              }
              const waiter: Waiter = {
                claimant,
                endsAtMs: elapsedMs(clock) + ms,
                give: (sets, hasProbes = false) => {
                  leave()
                  resume(Effect.succeed({ sets, hasProbes }))
                }
              }
              waiters.get(worker_id)?.give([])
              waiters.set(worker_id, waiter)
              search.waiting = waiters.size
              if (serve(waiter)) return
              if (probed.delete(worker_id)) return waiter.give([], true)
              if (waiters.size === 1) waker.wake()
              newcomers.wake()
              return Effect.sync(leave)
            })
        })
      })
    )
}

const isSubset = (labels: ReadonlyArray<string>) => (needed: ReadonlyArray<string>) =>
  needed.every((one) => labels.includes(one))

const setsFor = ({ labels }: ClaimingAgent, due: ReadonlyArray<DueWorkerRuns>): LabelSets =>
  due.map((one) => one.labels).filter(isSubset(labels))
