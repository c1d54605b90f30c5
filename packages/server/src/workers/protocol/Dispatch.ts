import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Stopping } from "../../http/index.ts"
import { Doorbell, elapsedMs, loop } from "../../core/index.ts"
import {
  AwaitedRunsOfNode,
  type DueForWorkers,
  findDueForWorkers,
  RunnerOptions
} from "../../engine/index.ts"
import { batched, DatabaseClock } from "../../store/index.ts"
import { Agenda } from "./Agenda.ts"
import { Remaining } from "./Remaining.ts"

/** An agent that asks for runs. */
export interface Asking {
  readonly worker_id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly labels: ReadonlyArray<string>
  readonly slots: number
}

/** The sets of labels of runs that are due, as far as the worker has them. */
export type Sets = ReadonlyArray<ReadonlyArray<string>>

interface Waiter {
  readonly asking: Asking
  readonly endsAtMs: number
  /** Answers what it waits for. */
  readonly give: (sets: Sets) => void
}

/** The least time between two looks for agents that wait. */
const pauseMs = 10

/** The same if the one before found nothing for any of them: what is due waits for others. */
const fruitlessPauseMs = 100

/** Looks take a tenth of the time, unless the machine is so slow that this would be too late. */
const longestPauseMs = 250

/** A run that is claimed before its time on the database's clock is not given. */
const marginMs = 1

/** An agent that was given something is back soon. What is due for it then is seen meanwhile. */
const rememberedMs = 5_000

/** How often agents are looked for that have waited for long enough. A timer for each costs more. */
const sweepMs = 250

/**
 * Says which runs are due for an agent, now or as soon as there are any. Agents that wait cost
 * nothing until the runner of the node says that something will be due soon. Then one statement
 * looks for all of them, and as many agents are woken as the runs need, each run at its time.
 */
export class Dispatch extends Context.Service<
  Dispatch,
  {
    /**
     * What is due now, if anything may be. Agents that ask together share one statement.
     */
    readonly look: (asking: Asking) => Effect.Effect<Sets>
    /** What a look of a moment ago has found besides. If there was less, `forget` it. */
    readonly remaining: (asking: Asking) => Sets
    readonly forget: (asking: Asking) => void
    /**
     * Waits for something due. Nothing if the time is up, if the worker asks once more, or if the
     * process is about to stop.
     */
    readonly wait: (asking: Asking, ms: number) => Effect.Effect<Sets>
    /** What was due could not be claimed. */
    readonly miss: Effect.Effect<void>
    /** The time on the database's clock, once something was due. */
    readonly nowMs: () => number
  }
>()("@scheduling/server/workers/protocol/Dispatch") {
  static readonly layer: Layer.Layer<Dispatch, never, SqlClient.SqlClient | Stopping> =
    Layer.effect(
      Dispatch,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const awaited = yield* AwaitedRunsOfNode
        const clock = yield* Clock.Clock
        const { pollMs } = yield* RunnerOptions
        const stopping = yield* Stopping
        /** By worker: one that asks again has given up its first request. */
        const waiters = new Map<string, Waiter>()
        const newcomers = new Doorbell()
        /** Wakes those who wait. */
        const bell = new Doorbell()
        /** Workspaces whose agents are at work, and when the last one asked. */
        const left = new Map<AuthorizedWorkspaceId, number>()
        const agenda = new Agenda()
        const remaining = new Remaining()
        const dbClock = yield* DatabaseClock

        const look = (workspaces: ReadonlyArray<AuthorizedWorkspaceId>) =>
          Effect.map(dbClock.sample(findDueForWorkers(sql, workspaces)), ({ found }) => found)

        /** Whoever asks takes what is due, so only the rest is for those who wait. */
        const findDue = yield* batched((asked: ReadonlyArray<AuthorizedWorkspaceId>) =>
          look([...new Set(asked)]).pipe(
            Effect.orDie,
            Effect.map((found) => {
              agenda.learn(
                asked,
                found.map((one) => ({ ...one, due: 0 })),
                true
              )
              remaining.learn(asked, found, elapsedMs(clock))
              bell.ring()
              const byWorkspace = Map.groupBy(
                found.filter(({ due }) => due > 0),
                ({ workspace_id }) => workspace_id
              )
              return asked.map((id) => byWorkspace.get(id) ?? [])
            })
          )
        )

        const takeRemaining = ({ labels, slots, workspace_id }: Asking) =>
          remaining.take(workspace_id, isAmong(labels), slots, elapsedMs(clock))

        const serve = ({ asking: { labels, slots, workspace_id }, give }: Waiter) => {
          const sets = agenda.take(workspace_id, isAmong(labels), slots)
          if (sets.length > 0) give(sets)
          return sets.length > 0
        }

        const serveAll = () => {
          agenda.pass(dbClock.now() - marginMs)
          let served = 0
          for (const waiter of waiters.values()) if (serve(waiter)) served++
          return served
        }

        const lookForAll = Effect.gen(function* () {
          const beganMs = elapsedMs(clock)
          awaited.looked(beganMs)
          for (const [id, leftMs] of left) if (leftMs < beganMs - rememberedMs) left.delete(id)
          const workspaces = new Set(left.keys())
          for (const { asking } of waiters.values()) workspaces.add(asking.workspace_id)
          const asked = [...workspaces]
          agenda.learn(asked, yield* Effect.orDie(look(asked)))
          const isFruitless = serveAll() === 0 && agenda.nextMs === Number.POSITIVE_INFINITY
          bell.ring()
          const tookMs = elapsedMs(clock) - beganMs
          yield* Effect.sleep(
            Math.max(
              isFruitless ? fruitlessPauseMs : pauseMs,
              Math.min(longestPauseMs, 10 * tookMs)
            )
          )
        })

        const lookWhenDue = Effect.gen(function* () {
          if (waiters.size === 0) return yield* newcomers.wait(60_000)
          const restMs = awaited.restMs(elapsedMs(clock), pollMs)
          if (restMs > 0) return yield* awaited.bell.wait(Math.min(restMs, 60_000))
          yield* lookForAll
        })
        yield* Effect.forkScoped(loop("looking for what agents wait for", lookWhenDue))

        const release = (isOver: (waiter: Waiter) => boolean) => {
          for (const waiter of waiters.values()) if (isOver(waiter)) waiter.give([])
        }

        const wake = Effect.gen(function* () {
          if (waiters.size === 0) return yield* bell.wait(60_000)
          yield* bell.wait(Math.min(sweepMs, agenda.nextMs + marginMs - dbClock.now()))
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

        return Dispatch.of({
          look: (asking) =>
            awaited.mayBeDue
              ? Effect.map(findDue(asking.workspace_id), (due) => {
                  takeRemaining(asking)
                  return setsFor(asking, due)
                })
              : Effect.succeed([]),

          remaining: takeRemaining,

          forget: ({ workspace_id }) => remaining.forget(workspace_id),

          miss: Effect.sync(() => awaited.lookAgain(elapsedMs(clock))),

          nowMs: () => dbClock.now(),

          wait: (asking, ms) =>
            Effect.callback((resume) => {
              const { worker_id } = asking
              const leave = () => {
                if (waiters.get(worker_id) === waiter) waiters.delete(worker_id)
                left.set(asking.workspace_id, elapsedMs(clock))
                awaited.waiting = waiters.size
              }
              const waiter: Waiter = {
                asking,
                endsAtMs: elapsedMs(clock) + ms,
                give: (sets) => {
                  leave()
                  resume(Effect.succeed(sets))
                }
              }
              waiters.get(worker_id)?.give([])
              waiters.set(worker_id, waiter)
              awaited.waiting = waiters.size
              if (serve(waiter)) return
              if (waiters.size === 1) bell.ring()
              newcomers.ring()
              return Effect.sync(leave)
            })
        })
      })
    )
}

const isAmong = (labels: ReadonlyArray<string>) => (needed: ReadonlyArray<string>) =>
  needed.every((one) => labels.includes(one))

const setsFor = ({ labels }: Asking, due: ReadonlyArray<DueForWorkers>): Sets =>
  due.map((one) => one.labels).filter(isAmong(labels))
