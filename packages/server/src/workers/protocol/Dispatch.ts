import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs } from "../../platform/elapsed.ts"
import { Doorbell, loop } from "../../platform/Loop.ts"
import { AwaitedRunsOfNode } from "../../queue/AwaitedRuns.ts"
import { RunnerOptions } from "../../queue/RunnerOptions.ts"
import { type DueForWorkers, findDueForWorkers } from "../../queue/workers/WorkerClaim.ts"
import { batched } from "../../sql/batched.ts"

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
  readonly bell: Doorbell
  sets: Sets
}

/** The least time between two looks for agents that wait. */
const pauseMs = 10

/**
 * Says which runs are due for an agent, now or as soon as there are any. Agents that wait cost
 * nothing until the runner of the node says that something is due; then one statement looks for all
 * of them, and as many agents are woken as the runs need.
 */
export class Dispatch extends Context.Service<
  Dispatch,
  {
    /**
     * What is due now, if anything may be. Agents that ask together share one statement.
     */
    readonly look: (asking: Asking) => Effect.Effect<Sets>
    /** Waits for something due. Nothing if the time is up, or if the worker asks once more. */
    readonly wait: (asking: Asking, ms: number) => Effect.Effect<Sets>
  }
>()("@scheduling/server/workers/protocol/Dispatch") {
  static readonly layer: Layer.Layer<Dispatch, never, SqlClient.SqlClient> = Layer.effect(
    Dispatch,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const awaited = yield* AwaitedRunsOfNode
      const clock = yield* Clock.Clock
      const { pollMs } = yield* RunnerOptions
      /** By worker: one that asks again has given up its first request. */
      const waiters = new Map<string, Waiter>()
      const newcomers = new Doorbell()

      const findDue = yield* batched((asked: ReadonlyArray<AuthorizedWorkspaceId>) =>
        findDueForWorkers(sql, [...new Set(asked)]).pipe(
          Effect.orDie,
          Effect.map((due) => {
            const byWorkspace = Map.groupBy(due, ({ workspace_id }) => workspace_id)
            return asked.map((id) => byWorkspace.get(id) ?? [])
          })
        )
      )

      const lookForAll = Effect.gen(function* () {
        awaited.looked()
        const workspaces = new Set([...waiters.values()].map(({ asking }) => asking.workspace_id))
        const due = yield* Effect.orDie(findDueForWorkers(sql, [...workspaces]))
        const left = new Map<string, Map<DueForWorkers, number>>()
        for (const [id, ofOne] of Map.groupBy(due, ({ workspace_id }) => workspace_id)) {
          left.set(id, new Map(ofOne.map((one) => [one, one.due])))
        }
        for (const waiter of waiters.values()) {
          const ofOne = left.get(waiter.asking.workspace_id)
          if (ofOne !== undefined) serve(waiter, ofOne)
        }
      })

      const turn = Effect.gen(function* () {
        if (waiters.size === 0) return yield* newcomers.wait(60_000)
        const restMs = awaited.restMs(elapsedMs(clock), pollMs)
        if (restMs > 0) yield* awaited.bell.wait(Math.min(restMs, 60_000))
        if (waiters.size > 0 && awaited.restMs(elapsedMs(clock), 0) <= 0) yield* lookForAll
        yield* Effect.sleep(pauseMs)
      })
      yield* Effect.forkScoped(loop("waking the agents of workers", turn))

      return Dispatch.of({
        look: (asking) =>
          awaited.mayBeDue
            ? Effect.map(findDue(asking.workspace_id), (due) => setsFor(asking, due))
            : Effect.succeed([]),

        wait: (asking, ms) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              const waiter: Waiter = { asking, bell: new Doorbell(), sets: [] }
              waiters.get(asking.worker_id)?.bell.ring()
              waiters.set(asking.worker_id, waiter)
              awaited.waiting = waiters.size
              newcomers.ring()
              return waiter
            }),
            (waiter) => Effect.map(waiter.bell.wait(ms), () => waiter.sets),
            (waiter) =>
              Effect.sync(() => {
                if (waiters.get(asking.worker_id) === waiter) waiters.delete(asking.worker_id)
                awaited.waiting = waiters.size
              })
          )
      })
    })
  )
}

const setsFor = ({ labels }: Asking, due: ReadonlyArray<DueForWorkers>): Sets =>
  due.map((one) => one.labels).filter((needed) => needed.every((one) => labels.includes(one)))

/** Wakes the agent if something is left for it, and leaves the rest to the next one. */
const serve = (waiter: Waiter, left: Map<DueForWorkers, number>) => {
  let slots = waiter.asking.slots
  const sets: Array<ReadonlyArray<string>> = []
  for (const [due, count] of left) {
    if (slots <= 0) break
    if (count <= 0 || setsFor(waiter.asking, [due]).length === 0) continue
    sets.push(due.labels)
    left.set(due, count - slots)
    slots -= count
  }
  if (sets.length === 0) return
  waiter.sets = sets
  waiter.bell.ring()
}
