import { Clock, Context, Effect, Exit, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs, reportFailures } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { type MonitorEvent, MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { makeIdAt } from "../makeIdAt.ts"
import { type StatusChange, StatusChanges } from "../StatusChanges.ts"
import { decideHeartbeat, type HeartbeatSignal, type HeartbeatState } from "./decideHeartbeat.ts"
import { PingBodyBudget, PingBodyLimits } from "./PingBodyBudget.ts"
import { MinuteQuota } from "../../http/index.ts"
import { type HeartbeatRow, heartbeatState } from "./HeartbeatRow.ts"
import { KeyedBatches } from "./KeyedBatches.ts"
import { type DecidedHeartbeat, HeartbeatsRepo, type PingedRow } from "./HeartbeatsRepo.ts"
import { toStatusChanges, toHeartbeatEvents, type PingDetails } from "./heartbeatEvents.ts"
import { PingUrls } from "./PingUrls.ts"

export interface Ping {
  readonly pingId: string
  readonly signal: Extract<HeartbeatSignal, { readonly rid: string | null }>
  readonly details: PingDetails
}

/**
 * Records pings in batches. One statement writes all of a batch's pings that need no decision. The
 * other pings take two statements: one reads their monitors, and one writes the decisions, unless
 * another node has changed the monitor in between. While two batches are in progress, further pings
 * wait for the next batch, so the cost per ping falls as the number of pings grows. A ping is
 * answered once it is on disk. `Capacity` limits how many pings wait.
 */
export class Pings extends Context.Service<
  Pings,
  {
    /** Returns false if no monitor has the ping URL. */
    readonly receive: (ping: Ping) => Effect.Effect<boolean>
  }
>()("@scheduling/server/monitoring/heartbeat/Pings") {
  static readonly layer: Layer.Layer<
    Pings,
    never,
    HeartbeatsRepo | MonitorEventsRepo | PingUrls | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Pings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const clock = yield* Clock.Clock
      const events = yield* MonitorEventsRepo
      const repo = yield* HeartbeatsRepo
      const statusChanges = yield* StatusChanges
      const urls = yield* PingUrls
      const quota = new MinuteQuota()
      const budget = new PingBodyBudget(yield* PingBodyLimits)
      const apart = yield* Semaphore.make(waitingApart)
      const runFork = Effect.runForkWith(yield* Effect.context<never>())

      /** Returns a ping's arrival time by the clock of the store. */
      const timeOf = ({ arrivedMs }: Waiting, at: Date) =>
        at.getTime() - Math.max(0, Math.round(elapsedMs(clock) - arrivedMs))

      const decide = (row: Pinged, pings: ReadonlyArray<Waiting>, at: Date): PingDecision => {
        let state = heartbeatState(row)
        const changes: Array<StatusChange> = []
        const recorded: Array<MonitorEvent> = []
        for (const waiting of pings) {
          const { signal } = waiting.ping
          const time = notBefore(row, state, timeOf(waiting, at))
          const decision = decideHeartbeat(row, state, signal, time)
          state = decision.state
          changes.push(...toStatusChanges(row, decision.changes))
          // Each ping counts against the quota only once, even if `recordLocked` repeats the
          // decision.
          waiting.isListed ??= quota.take(waiting.ping.pingId, time)
          waiting.kept ??= waiting.isListed
            ? budget.keep(row, waiting.ping.details, waiting.arrivedMs)
            : waiting.ping.details
          const all = toHeartbeatEvents(row, decision.records, waiting.kept)
          recorded.push(...(waiting.isListed ? all : all.slice(0, -1)))
        }
        return { row, state, changes, events: recorded, pings }
      }

      const write = (outcomes: ReadonlyArray<PingDecision>) => {
        const writeAll = repo.updateUnlessChanged(
          outcomes,
          outcomes.flatMap((outcome) => outcome.events)
        )
        if (outcomes.every(({ changes }) => changes.length === 0)) return writeAll
        return transaction(
          Effect.tap(writeAll, (written) =>
            statusChanges.record(
              outcomes.flatMap(({ changes, row }) => (written.has(row.monitor_id) ? changes : []))
            )
          )
        )
      }

      /**
       * Records pings for a monitor that another transaction has changed or locked. They wait for
       * the lock separately, so that the batch's other pings do not wait.
       */
      const recordLocked = ({ pings, row }: PingDecision) =>
        Effect.gen(function* () {
          const locked = yield* repo.findForUpdate(row.workspace_id, row.monitor_id)
          if (locked._tag === "None") return false
          const outcome = decide({ ...locked.value, lane: row.lane }, pings, yield* now)
          yield* repo.updateLocked([outcome])
          yield* events.insert(outcome.events)
          yield* statusChanges.record(outcome.changes)
          return true
        }).pipe(
          transaction,
          apart.withPermit,
          Effect.onExit((exit) => Effect.sync(() => answer(pings, exit)))
        )

      /**
       * Writes the pings that need no decision and responds to them. Returns the remaining pings.
       */
      const recordOrdinary = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>, at: Date) {
        const ordinary = batch
          .filter(isOrdinary)
          .filter(isAloneOf(batch))
          .map((waiting) => ({
            waiting,
            ms: timeOf(waiting, at)
          }))
        if (ordinary.length === 0) return batch
        const bodiless = budget.overdrawn(elapsedMs(clock))
        const received = yield* repo.updateByOrdinaryPings(
          ordinary.map(({ ms, waiting: { hashes, ping } }, ordinal) => ({
            ping_hash: hashes[0],
            at: new Date(ms),
            event: quota.isLeft(ping.pingId, ms)
              ? { id: makeIdAt(ms, ordinal), details: ping.details }
              : undefined
          })),
          [...bodiless]
        )
        const isReceived = ({ hashes }: Waiting) => received.has(hashes[0])
        for (const { ms, waiting } of ordinary) {
          const owner = received.get(waiting.hashes[0])
          if (owner === undefined || !quota.take(waiting.ping.pingId, ms)) continue
          if (bodiless.has(owner.workspace_id)) continue
          budget.charge(owner, waiting.ping.details, waiting.arrivedMs)
        }
        answer(batch.filter(isReceived), Exit.succeed(true))
        return batch.filter((waiting) => !isReceived(waiting))
      })

      const recordDecided = Effect.fnUntraced(function* (pings: ReadonlyArray<Waiting>, at: Date) {
        if (pings.length === 0) return
        const rows = yield* repo.findByPing([...new Set(pings.flatMap(({ hashes }) => hashes))])
        const byHash = new Map(rows.map((row) => [row.ping_hash, row]))
        const rowOf = ({ hashes }: Waiting) =>
          hashes.map((hash) => byHash.get(hash)).find((row) => row !== undefined)
        const known = Map.groupBy(pings, rowOf)
        answer(known.get(undefined) ?? [], Exit.succeed(false))
        known.delete(undefined)
        const outcomes = [...known].flatMap(([row, ofRow]) =>
          row === undefined ? [] : [decide(row, ofRow, at)]
        )
        if (outcomes.length === 0) return
        const written = yield* write(outcomes)
        for (const outcome of outcomes) {
          if (written.has(outcome.row.monitor_id)) answer(outcome.pings, Exit.succeed(true))
          else runFork(recordLocked(outcome))
        }
        const renewed = [...known].flatMap(([row, [first]]) =>
          row === undefined || first === undefined || row.ping_hash === first.hashes[0]
            ? []
            : [urls.renew(row, first.ping.pingId)]
        )
        if (renewed.length > 0) {
          // These pings were already answered, so a failure is only reported. The next ping renews
          // the URL.
          yield* reportFailures(
            "renewing ping URLs",
            Effect.forEach(renewed, repo.updatePingUrl, { discard: true })
          ).pipe(Effect.ignoreCause)
        }
      })

      const recordBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
        const at = yield* now
        yield* recordDecided(yield* recordOrdinary(batch, at), at)
      })

      const waitingPings = new KeyedBatches<Waiting>(({ ping }) => ping.pingId, maxBatch)
      let batches = 0

      const begin = () => {
        if (batches === batchesAtOnce || !waitingPings.hasFree()) return
        batches++
        runFork(runBatch)
      }

      const runBatch: Effect.Effect<void> = Effect.gen(function* () {
        yield* Effect.yieldNow
        const batch = waitingPings.take()
        yield* recordBatch(batch).pipe(
          Effect.catchCause((cause) => Effect.sync(() => answer(batch, Exit.failCause(cause)))),
          Effect.ensuring(
            Effect.sync(() => {
              batches--
              waitingPings.release(batch)
              begin()
            })
          )
        )
      })

      return Pings.of({
        receive: (ping) =>
          Effect.callback((resume) => {
            const hashes = urls.hashesOf(ping.pingId)
            waitingPings.add({ ping, hashes, arrivedMs: elapsedMs(clock), resume })
            begin()
          })
      })
    })
  )
}

/** The maximum number of pings per batch. One statement for this many takes about 10 ms. */
const maxBatch = 500

/** The number of concurrent batches. With more, batches would be smaller and cost more per ping. */
const batchesAtOnce = 2

/**
 * The maximum number of transactions that wait for a locked row. Each of them holds a database
 * connection.
 */
const waitingApart = 2

interface Waiting {
  readonly ping: Ping
  readonly hashes: ReturnType<PingUrls["Service"]["hashesOf"]>
  readonly arrivedMs: number
  readonly resume: (answer: Exit.Exit<boolean>) => void
  /**
   * True if the ping is listed as an event. The number of listed pings per minute per monitor is
   * limited.
   */
  isListed?: boolean
  /** The ping's stored details. They are remembered, so that the body is charged only once. */
  kept?: PingDetails
}

type Pinged = HeartbeatRow & Pick<PingedRow, "lane">

interface PingDecision extends DecidedHeartbeat {
  readonly row: Pinged
  readonly changes: ReadonlyArray<StatusChange>
  readonly events: ReadonlyArray<MonitorEvent>
  readonly pings: ReadonlyArray<Waiting>
}

/**
 * Returns whether the ping can be written without a decision. The SQL statement also checks the
 * monitor.
 */
const isOrdinary = ({ ping: { signal } }: Waiting): boolean =>
  signal.type === "success" && signal.rid === null

/** Returns a function that tells whether a ping is its monitor's only ping in the batch. */
const isAloneOf = (batch: ReadonlyArray<Waiting>) => {
  const byUrl = Map.groupBy(batch, ({ ping }) => ping.pingId)
  return ({ ping }: Waiting): boolean => byUrl.get(ping.pingId)?.length === 1
}

/** Responds to the pings. Each ping is answered only once, so a second call has no effect. */
const answer = (pings: ReadonlyArray<Waiting>, exit: Exit.Exit<boolean>): void => {
  for (const { resume } of pings) resume(exit)
}

/**
 * Returns a ping's time, or the latest time that is already written, whichever is later. Nodes can
 * write pings in a different order than they arrived, but a monitor's times never go backwards.
 */
const notBefore = (row: HeartbeatRow, { began_at, last_ping_at }: HeartbeatState, ms: number) =>
  Math.max(ms, row.changed_at.getTime(), began_at ?? 0, last_ping_at ?? 0)
