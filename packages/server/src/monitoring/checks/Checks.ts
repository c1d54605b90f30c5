import type { CheckOutcome } from "@scheduling/calls/probes/checkErrors"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Context, Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs, loop, Meters, Waker } from "../../core/index.ts"
import { Outbox } from "../../events/index.ts"
import { batchRequests, StoreClock, timestampOf, transactionOf } from "../../store/index.ts"
import type { MonitorEvent } from "../MonitorEventsRepo.ts"
import { PlaceChecks } from "../places/PlaceChecks.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { ChecksRepo, type CheckUpdate, type DueMonitorRow } from "./ChecksRepo.ts"
import {
  confirmationDelayMs,
  decideTargetStatus,
  nextRegularCheckMs,
  decisionAfterDoubtfulCheck,
  type TargetStatusDecision
} from "./decideTargetStatus.ts"
import { NetworkWatch } from "./NetworkWatch.ts"

/** The parts of a monitor that a check needs. A monitor that is tested is not stored. */
export type CheckedMonitor = Pick<
  DueMonitorRow,
  "kind" | "monitor_id" | "target" | "timeout_seconds" | "workspace_id"
>

/** Checks the targets of all kinds of monitors whose targets are checked periodically. */
export class Prober extends Context.Service<
  Prober,
  { readonly check: (monitor: CheckedMonitor) => Effect.Effect<CheckOutcome> }
>()("@scheduling/server/monitoring/checks/Prober") {}

/**
 * The number of concurrent checks per node. A check spends nearly all its time waiting for its
 * target.
 */
const checksAtOnce = 2_000

/**
 * The number of concurrent checks per workspace, so that its unresponsive targets leave room for
 * other workspaces.
 */
const checksOfWorkspace = 250

/**
 * The maximum time between two queries for due checks. The queries are repeated because another
 * node can make a check due earlier.
 */
const pollEveryMs = 500

/** The period in which due checks are collected and then started with one statement. */
const gatherMs = 100

/** The period in which results are collected and then written with one statement. */
const writeEveryMs = 100

/**
 * The interval at which successful checks are recorded as events while the status stays the same.
 */
const recordEveryMs = 5 * 60_000

/** If a timeout fires late by at least this time, the node itself was paused. */
const stalledMs = 1_000

/** What a failure says about the target. */
type Evidence =
  /** The failure says nothing, because this node is its likely cause. */
  | "none"
  /**
   * The failure says nothing yet, because this node may be its cause. The check is repeated within
   * seconds.
   */
  | "doubtful"
  | "full"

/** A finished check. */
interface Finished {
  readonly row: DueMonitorRow
  readonly result: CheckResult
  readonly isDoubtful: boolean
}

/**
 * Checks the targets of monitors when they are due.
 *
 * 1. `startDue` leases the due monitors, which advances their `check_at`, and begins their checks.
 *
 * 2. The prober checks the target, or workers do so from its places (`PlaceChecks`).
 *
 * 3. A failure that this node itself has probably caused is dropped (`evidenceOf`).
 *
 * 4. Results that arrive together are written together (`writeAll`), if the leases are still held.
 */
export class Checks extends Context.Service<
  Checks,
  {
    /**
     * Starts due checks up to the limit. Returns the number of milliseconds until the next call.
     */
    readonly startDue: Effect.Effect<number>
    readonly finished: Effect.Effect<void>
    /** Wakes the loop when a check has finished, so that it can start another check. */
    readonly waker: Waker
  }
>()("@scheduling/server/monitoring/checks/Checks") {
  static readonly layer: Layer.Layer<
    Checks,
    never,
    ChecksRepo | Outbox | PlaceChecks | Prober | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Checks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const places = yield* PlaceChecks
      const prober = yield* Prober
      const repo = yield* ChecksRepo
      const evidenceOf = yield* makeEvidenceOf
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

      const write = yield* batchRequests(
        (finished: ReadonlyArray<Finished>) =>
          writeAll(finished).pipe(
            Effect.tapCause((cause) =>
              Effect.logWarning(
                `cannot write the results of ${finished.length} checks: they will be repeated within minutes`,
                cause
              )
            ),
            Effect.catchCause(() => Effect.succeed([]))
          ),
        { apartMs: writeEveryMs, maxBatch: 500 }
      )

      /** Checks a target from this node. Returns undefined if the result does not count. */
      const checkHere = Effect.fnUntraced(function* (row: DueMonitorRow) {
        const outcome = yield* prober.check(row)
        const evidence = yield* evidenceOf(row, outcome)
        return evidence === "none"
          ? undefined
          : { row, result: outcome.result, isDoubtful: evidence === "doubtful" }
      })

      const checkAtPlaces = Effect.fnUntraced(function* (row: DueMonitorRow) {
        const result = yield* places.check(row)
        return result && { row, result, isDoubtful: false }
      })

      const check = Effect.fnUntraced(function* (row: DueMonitorRow) {
        const finished = yield* row.places === null ? checkHere(row) : checkAtPlaces(row)
        if (finished !== undefined) yield* write(finished)
      })

      const start = (row: DueMonitorRow) => {
        count(row.workspace_id, 1)
        run(
          check(row).pipe(
            Effect.catchCause((cause) =>
              Effect.logError(`the check of monitor ${row.id} failed: it will be repeated`, cause)
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
          // If no check was leased, either other nodes have leased the due checks, or the checks'
          // workspaces have reached their limit.
          return rows.length === 0 ? pollEveryMs : rows.length < leasedAtOnce ? gatherMs : 0
        }),

        finished: FiberSet.awaitEmpty(fibers)
      })
    })
  )
}

const leasedAtOnce = 500

/**
 * Checks targets on every node that makes calls. If a node stops, the other nodes take over its
 * checks.
 */
export const ChecksLayer: Layer.Layer<never, never, Checks> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { startDue, waker } = yield* Checks
    yield* Effect.forkScoped(
      loop("checking targets", startDue, { between: (ms) => waker.wait(ms) })
    )
  })
)

/**
 * Creates the function that decides what a check says about its target. A failure says nothing if
 * this node is the likely cause: it reaches no target, or it was paused. When the node no longer
 * reaches any target, the function logs this once.
 */
const makeEvidenceOf = Effect.gen(function* () {
  const network = new NetworkWatch()
  const clock = yield* Clock.Clock
  const countDropped = (yield* Meters).counts(
    "scheduling_uncounted_checks_total",
    "Failed checks of monitors that were not counted, because the node itself had caused the failure.",
    "reason",
    ["network", "stall"]
  )
  return Effect.fnUntraced(function* (
    row: DueMonitorRow,
    { host, isUnreached, result }: CheckOutcome
  ): Effect.fn.Return<Evidence> {
    const { duration_ms, error } = result
    if (error?.code === "timeout") {
      const lateMs = (duration_ms ?? 0) - row.timeout_seconds * 1_000
      if (lateMs > stalledMs) {
        countDropped("stall")
        return "none"
      }
    }
    if (host === null) return "full"
    const nowMs = elapsedMs(clock)
    if (!isUnreached) {
      if (network.noteReached(host, nowMs)) {
        yield* Effect.logInfo(
          "this node can reach targets of monitors again: failed checks count again"
        )
      }
      return "full"
    }
    // The network is judged before this failure is recorded, so that only earlier failures count.
    const isInDoubt = network.isInDoubt(host, { beganMs: nowMs - (duration_ms ?? 0), nowMs })
    if (row.status === "up" && network.noteLost(host, nowMs)) {
      yield* Effect.logWarning(
        "this node can no longer reach any target of a monitor: checks without a response do not count until a target responds. Check the network of this machine"
      )
    }
    if (network.isCutOff) {
      countDropped("network")
      return "none"
    }
    const wouldBeDown = row.status !== "down" && row.failures + 1 >= row.confirm_after
    return wouldBeDown && isInDoubt ? "doubtful" : "full"
  })
})

interface Decided {
  readonly row: DueMonitorRow
  readonly decision: TargetStatusDecision
  readonly update: CheckUpdate
  readonly event: ReadonlyArray<MonitorEvent>
}

const decide = ({ isDoubtful, result, row }: Finished, at: Date): Decided => {
  const decision = isDoubtful
    ? decisionAfterDoubtfulCheck(row)
    : decideTargetStatus(row, row, result.error)
  const ms = at.getTime()
  const nextMs = decision.isToBeConfirmed
    ? ms + confirmationDelayMs
    : nextRegularCheckMs(row.id, row.interval_seconds, ms)
  const isRecorded =
    result.error !== null ||
    decision.status !== row.status ||
    row.recorded_at === null ||
    ms - row.recorded_at.getTime() >= recordEveryMs
  const { failures, status, successes } = decision
  return {
    row,
    decision: { ...decision, cause: withExpiry(decision.cause, result) },
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

/** Adds when the certificate expires to a cause that is about its expiry. */
const withExpiry = (
  cause: IncidentCause | null,
  { certificate_expires_at }: CheckResult
): IncidentCause | null =>
  cause?.code === "certificate_expiring" && certificate_expires_at !== null
    ? { ...cause, certificate_expires_at }
    : cause

/** Creates the function that writes status changes with their incidents and notifications. */
const makeRecord = Effect.gen(function* () {
  const outbox = yield* Outbox
  const statusChanges = yield* StatusChanges
  return Effect.fnUntraced(function* (decided: ReadonlyArray<Decided>, at: Date) {
    const changed = decided.filter(({ decision, row }) => decision.status !== row.status)
    for (const { decision, row } of changed) {
      // The former target's problem may still be open. It is dropped, so that a problem of the new
      // target is a separate one.
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
