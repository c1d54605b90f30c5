import type { CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { Context, Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop, Meters, Waker } from "../../core/index.ts"
import { Outbox } from "../../events/index.ts"
import { batched, StoreClock, timestampOf, transactionOf } from "../../store/index.ts"
import type { MonitorEvent } from "../MonitorEventsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { ChecksRepo, type CheckUpdate, type DueRow } from "./ChecksRepo.ts"
import { confirmAfterMs, decideUptime, nextRegularMs, type UptimeDecision } from "./decideUptime.ts"
import { NetworkWatch } from "./NetworkWatch.ts"

/** The outcome of checking a target. */
export interface CheckOutcome {
  readonly result: CheckResult
  /** The host to which the check connected. Null if nothing was sent. */
  readonly host: string | null
  /** True if nothing was received from the network: see `NetworkWatch`. */
  readonly isUnreached: boolean
}

/** Checks the target of a monitor. */
export type Prober = (row: DueRow) => Effect.Effect<CheckOutcome>

/** The prober of each kind whose targets are checked at an interval. */
export class Probers extends Context.Service<
  Probers,
  { readonly [Kind in Monitor["kind"]]?: Prober }
>()("@scheduling/server/monitoring/checks/Probers") {}

/**
 * The number of concurrent checks of a node. A check spends nearly all its time waiting for its
 * target.
 */
const checksAtOnce = 2_000

/**
 * The number of concurrent checks of a workspace, so that its unresponsive targets leave room for
 * others.
 */
const checksOfWorkspace = 250

/** The longest wait between two queries, because another node can make a check due earlier. */
const pollEveryMs = 500

/** Checks that are due within this time are started together with one statement. */
const gatherMs = 100

/** Results that arrive within this time are written together. */
const writeEveryMs = 100

/** Of the checks without a change, one in this time is recorded as an event. */
const recordEveryMs = 5 * 60_000

/** A timeout that fires this much too late shows that the node itself was paused. */
const stalledMs = 1_000

/** A finished check. */
interface Finished {
  readonly row: DueRow
  readonly result: CheckResult
}

/**
 * Checks the targets of monitors when they are due.
 *
 * 1. `startDue` leases the due monitors, which advances their `check_at`, and begins their checks.
 *
 * 2. The prober of the kind checks the target.
 *
 * 3. A failure for which this node itself is the likely reason is dropped (`isAboutNode`).
 *
 * 4. Results that arrive together are written together (`writeAll`), if the leases are still held.
 */
export class Checks extends Context.Service<
  Checks,
  {
    /** Starts due checks up to the limit, and returns the milliseconds until it is to be called again. */
    readonly startDue: Effect.Effect<number>
    readonly finished: Effect.Effect<void>
    /** Wakes the loop when there is room for another check. */
    readonly waker: Waker
  }
>()("@scheduling/server/monitoring/checks/Checks") {
  static readonly layer: Layer.Layer<
    Checks,
    never,
    ChecksRepo | Outbox | Probers | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Checks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const probers = yield* Probers
      const repo = yield* ChecksRepo
      const isAboutNode = yield* makeIsAboutNode
      const record = yield* makeRecord
      const waker = new Waker()
      const fibers = yield* FiberSet.make<void>()
      const run = yield* FiberSet.runtime(fibers)<never>()
      let running = 0
      const runningChecks = new Map<AuthorizedWorkspaceId, number>()

      const count = (workspaceId: AuthorizedWorkspaceId, by: number) => {
        running += by
        const left = (runningChecks.get(workspaceId) ?? 0) + by
        if (left === 0) runningChecks.delete(workspaceId)
        else runningChecks.set(workspaceId, left)
      }

      const writeAll = Effect.fnUntraced(function* (finished: ReadonlyArray<Finished>) {
        const at = yield* now
        const decided = finished.map((one) => decide(one, at))
        const write = Effect.gen(function* () {
          const written = yield* repo.write(
            decided.map(({ update }) => update),
            decided.flatMap(({ event }) => event)
          )
          yield* record(
            decided.filter(({ row }) => written.has(row.monitor_id)),
            at
          )
        })
        const changes = decided.some(({ decision, row }) => decision.status !== row.status)
        yield* changes ? transactionOf(sql)(write) : write
        return finished.map(() => undefined)
      })

      const write = yield* batched(
        (finished: ReadonlyArray<Finished>) =>
          writeAll(finished).pipe(
            Effect.tapCause((cause) =>
              Effect.logWarning(
                `cannot write the results of ${finished.length} checks: they are repeated within minutes`,
                cause
              )
            ),
            Effect.catchCause(() => Effect.succeed([]))
          ),
        { apartMs: writeEveryMs, maxBatch: 500 }
      )

      const check = Effect.fnUntraced(function* (row: DueRow) {
        const probe = probers[row.kind]
        if (probe === undefined) return
        const outcome = yield* probe(row)
        if (yield* isAboutNode(row, outcome)) return
        yield* write({ row, result: outcome.result })
      })

      const start = (row: DueRow) => {
        count(row.workspace_id, 1)
        run(
          check(row).pipe(
            Effect.catchCause((cause) =>
              Effect.logError(`the check of monitor ${row.id} failed: it is repeated`, cause)
            ),
            Effect.ensuring(
              Effect.sync(() => {
                const wasFull =
                  runningChecks.get(row.workspace_id) === checksOfWorkspace ||
                  running >= checksAtOnce
                count(row.workspace_id, -1)
                if (wasFull) waker.wake()
              })
            )
          )
        )
      }

      return Checks.of({
        waker,

        startDue: Effect.gen(function* () {
          const room = checksAtOnce - running
          const next = room > 0 ? yield* repo.findNextCheck : undefined
          if (next === undefined) return pollEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(Math.max(dueInMs, gatherMs), pollEveryMs)
          const rows = yield* repo.lease(at, {
            limit: Math.min(room, leasedAtOnce),
            ofWorkspace: checksOfWorkspace,
            busy: [...runningChecks].flatMap(([id, checks]) =>
              checks < checksOfWorkspace ? [] : [id]
            )
          })
          rows.forEach(start)
          // No rows means that other nodes have leased the due checks, or their workspaces have
          // reached their limit.
          return rows.length === 0 ? pollEveryMs : rows.length < leasedAtOnce ? gatherMs : 0
        }),

        finished: FiberSet.awaitEmpty(fibers)
      })
    })
  )
}

const leasedAtOnce = 500

/** Runs on every node that makes calls. When a node stops, the other nodes do its checks. */
export const ChecksLayer: Layer.Layer<never, never, Checks> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { startDue, waker } = yield* Checks
    yield* Effect.forkScoped(
      loop("checking targets", startDue, { between: (ms) => waker.wait(ms) })
    )
  })
)

/**
 * Creates the function that decides whether a failure must be dropped because this node is the
 * likely reason: it reaches nothing, or it was paused. The log says once that the node reaches
 * nothing.
 */
const makeIsAboutNode = Effect.gen(function* () {
  const network = new NetworkWatch()
  const countDropped = (yield* Meters).counts(
    "scheduling_uncounted_checks_total",
    "Checks of monitors that were not counted, because the node was the reason of their failure.",
    "reason",
    ["network", "stall"]
  )
  return Effect.fnUntraced(function* (row: DueRow, { host, isUnreached, result }: CheckOutcome) {
    const { duration_ms, error } = result
    if (error?.code === "timeout") {
      const lateMs = (duration_ms ?? 0) - row.timeout_seconds * 1_000
      if (lateMs > stalledMs) {
        countDropped("stall")
        return true
      }
    }
    if (host === null) return false
    if (!isUnreached) {
      if (network.noteReached()) {
        yield* Effect.logInfo("targets of monitors can be reached again: checks count")
      }
      return false
    }
    if (row.status === "up" && network.noteLost(host)) {
      yield* Effect.logWarning(
        "this node reaches none of its targets any more: checks that get no response do not count until one of them answers. Check the network of this machine"
      )
    }
    if (network.isCutOff) countDropped("network")
    return network.isCutOff
  })
})

interface Decided {
  readonly row: DueRow
  readonly decision: UptimeDecision
  readonly update: CheckUpdate
  readonly event: ReadonlyArray<MonitorEvent>
}

const decide = ({ result, row }: Finished, at: Date): Decided => {
  const decision = decideUptime(row, row, result.error)
  const ms = at.getTime()
  const nextMs = decision.isToBeConfirmed
    ? ms + confirmAfterMs
    : nextRegularMs(row.id, row.interval_seconds, ms)
  const isRecorded =
    result.error !== null ||
    decision.status !== row.status ||
    row.recorded_at === null ||
    ms - row.recorded_at.getTime() >= recordEveryMs
  const { failures, status, successes } = decision
  return {
    row,
    decision,
    update: {
      row,
      check_at: new Date(nextMs),
      failures,
      successes,
      last_check: { at: timestampOf(at), ...result },
      recorded_at: isRecorded ? at : row.recorded_at
    },
    event: isRecorded
      ? [
          {
            workspace_id: row.workspace_id,
            monitor_id: row.monitor_id,
            type: "check",
            status,
            at: ms,
            details: result
          }
        ]
      : []
  }
}

/** Creates the function that writes status changes with their incidents and notifications. */
const makeRecord = Effect.gen(function* () {
  const outbox = yield* Outbox
  const statusChanges = yield* StatusChanges
  return Effect.fnUntraced(function* (decided: ReadonlyArray<Decided>, at: Date) {
    const changed = decided.filter(({ decision, row }) => decision.status !== row.status)
    for (const { decision, row } of changed) {
      // The former target may have an open problem. Forgetting it makes the problem of the new target
      // a separate one.
      if (row.status === "new" && decision.status === "down") {
        yield* outbox.forget({ workspace_id: row.workspace_id, subject_id: row.id })
      }
    }
    yield* statusChanges.record(
      changed.map(({ decision, row }) => ({
        monitor_id: row.monitor_id,
        workspace_id: row.workspace_id,
        kind: row.kind,
        from: row.status,
        to: decision.status,
        at: at.getTime(),
        cause: decision.cause,
        endsFormerProblem: row.status === "new"
      }))
    )
  })
})
