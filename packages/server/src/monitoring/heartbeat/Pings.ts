import { Clock, Context, Effect, Exit, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { elapsedMs, reportFailures } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { type MonitorEvent, MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { idAt } from "../idAt.ts"
import { type StatusChange, StatusChanges } from "../StatusChanges.ts"
import { decideHeartbeat, type HeartbeatSignal, type HeartbeatState } from "./decideHeartbeat.ts"
import { BodyBudget, BodyLimits } from "./BodyBudget.ts"
import { EventQuota } from "../../http/index.ts"
import { type HeartbeatRow, heartbeatState } from "./HeartbeatRow.ts"
import { Gathered } from "./Gathered.ts"
import { type Decided, HeartbeatsRepo, type PingedRow } from "./HeartbeatsRepo.ts"
import { changesOf, eventsOf, type PingDetails } from "./outcome.ts"
import { PingUrls } from "./PingUrls.ts"

export interface Ping {
  readonly pingId: string
  readonly signal: Extract<HeartbeatSignal, { readonly rid: string | null }>
  readonly details: PingDetails
}

/**
 * Records pings in batches. One statement writes all pings of a batch that need no decision. The
 * others take two: one reads their monitors, and one writes what was decided, unless another node has
 * written meanwhile. While two batches are in progress, further pings gather, so each costs less the
 * more there are. A ping is answered when it is on disk. `Capacity` bounds how many wait.
 */
export class Pings extends Context.Service<
  Pings,
  {
    /** False if there is no such URL. */
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
      const quota = new EventQuota()
      const budget = new BodyBudget(yield* BodyLimits)
      const apart = yield* Semaphore.make(waitingApart)
      const runFork = Effect.runForkWith(yield* Effect.context<never>())

      /** When the ping arrived by the clock of the store, without the time that it waited here. */
      const timeOf = ({ arrivedMs }: Waiting, at: Date) =>
        at.getTime() - Math.max(0, Math.round(elapsedMs(clock) - arrivedMs))

      const decide = (row: Pinged, pings: ReadonlyArray<Waiting>, at: Date): Outcome => {
        let state = heartbeatState(row)
        const changes: Array<StatusChange> = []
        const recorded: Array<MonitorEvent> = []
        for (const waiting of pings) {
          const { signal } = waiting.ping
          const time = notBefore(row, state, timeOf(waiting, at))
          const decision = decideHeartbeat(row, state, signal, time)
          state = decision.state
          changes.push(...changesOf(row, decision.changes))
          // Counted once for each ping, although it may be decided about again.
          waiting.isListed ??= quota.take(waiting.ping.pingId, time)
          waiting.kept ??= waiting.isListed
            ? budget.keep(row, waiting.ping.details, waiting.arrivedMs)
            : waiting.ping.details
          const all = eventsOf(row, decision.records, waiting.kept)
          recorded.push(...(waiting.isListed ? all : all.slice(0, -1)))
        }
        return { row, state, changes, events: recorded, pings }
      }

      const write = (outcomes: ReadonlyArray<Outcome>) => {
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

      /** Waits for the row of a monitor that is locked elsewhere. Other pings do not wait for it. */
      const hearApart = ({ pings, row }: Outcome) =>
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

      /** Writes and answers the pings that need no decision, and returns the others. */
      const hearOrdinary = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>, at: Date) {
        const ordinary = batch
          .filter(isOrdinary)
          .filter(isAloneOf(batch))
          .map((waiting) => ({
            waiting,
            ms: timeOf(waiting, at)
          }))
        if (ordinary.length === 0) return batch
        const bodiless = budget.overdrawn(elapsedMs(clock))
        const received = yield* repo.updateByOrdinary(
          ordinary.map(({ ms, waiting: { hashes, ping } }, ordinal) => ({
            ping_hash: hashes[0],
            at: new Date(ms),
            event: quota.isLeft(ping.pingId, ms)
              ? { id: idAt(ms, ordinal), details: ping.details }
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

      const hearByDeciding = Effect.fnUntraced(function* (pings: ReadonlyArray<Waiting>, at: Date) {
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
          else runFork(hearApart(outcome))
        }
        const renewed = [...known].flatMap(([row, [first]]) =>
          row === undefined || first === undefined || row.ping_hash === first.hashes[0]
            ? []
            : [urls.renew(row, first.ping.pingId)]
        )
        if (renewed.length > 0) {
          // These pings are answered already. If this fails, the next ping tries again.
          yield* reportFailures(
            "renewing ping URLs",
            Effect.forEach(renewed, repo.updatePingUrl, { discard: true })
          ).pipe(Effect.ignoreCause)
        }
      })

      const hearAll = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
        const at = yield* now
        yield* hearByDeciding(yield* hearOrdinary(batch, at), at)
      })

      const gathered = new Gathered<Waiting>(({ ping }) => ping.pingId, maxBatch)
      let batches = 0

      const begin = () => {
        if (batches === batchesAtOnce || !gathered.hasFree()) return
        batches++
        runFork(hearBatch)
      }

      const hearBatch: Effect.Effect<void> = Effect.gen(function* () {
        // Pings that arrive in this round of the event loop join the batch.
        yield* Effect.yieldNow
        const batch = gathered.take()
        yield* hearAll(batch).pipe(
          Effect.catchCause((cause) => Effect.sync(() => answer(batch, Exit.failCause(cause)))),
          Effect.ensuring(
            Effect.sync(() => {
              batches--
              gathered.release(batch)
              begin()
            })
          )
        )
      })

      return Pings.of({
        receive: (ping) =>
          Effect.callback((resume) => {
            const hashes = urls.hashesOf(ping.pingId)
            gathered.add({ ping, hashes, arrivedMs: elapsedMs(clock), resume })
            begin()
          })
      })
    })
  )
}

// ---------------------------------------------------------------------------

/** With so many, one statement takes about 10 ms. */
const maxBatch = 500

/** More batches would be smaller, and cost more for each ping. */
const batchesAtOnce = 2

/** Each holds a connection while it waits for its row. */
const waitingApart = 2

interface Waiting {
  readonly ping: Ping
  readonly hashes: ReturnType<PingUrls["Service"]["hashesOf"]>
  readonly arrivedMs: number
  readonly resume: (answer: Exit.Exit<boolean>) => void
  /** Whether the ping is listed as an event, of which a monitor has a limited number per minute. */
  isListed?: boolean
  /** What is stored of the ping. It is charged once, although it may be decided about again. */
  kept?: PingDetails
}

type Pinged = HeartbeatRow & Pick<PingedRow, "lane">

interface Outcome extends Decided {
  readonly row: Pinged
  readonly changes: ReadonlyArray<StatusChange>
  readonly events: ReadonlyArray<MonitorEvent>
  readonly pings: ReadonlyArray<Waiting>
}

/** Whether the ping may be written without a decision. That also depends on its monitor. */
const isOrdinary = ({ ping: { signal } }: Waiting): boolean =>
  signal.type === "success" && signal.rid === null

/** Whether the batch has no other ping of the same monitor. */
const isAloneOf = (batch: ReadonlyArray<Waiting>) => {
  const byUrl = Map.groupBy(batch, ({ ping }) => ping.pingId)
  return ({ ping }: Waiting): boolean => byUrl.get(ping.pingId)?.length === 1
}

/** Answering twice does nothing. */
const answer = (pings: ReadonlyArray<Waiting>, exit: Exit.Exit<boolean>): void => {
  for (const { resume } of pings) resume(exit)
}

/** Nodes may write pings in another order than they arrived. Their times never go back. */
const notBefore = (row: HeartbeatRow, { began_at, last_ping_at }: HeartbeatState, ms: number) =>
  Math.max(ms, row.changed_at.getTime(), began_at ?? 0, last_ping_at ?? 0)
