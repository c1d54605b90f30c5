import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { elapsedMs, loop } from "../../core/index.ts"
import { onConnection, Store } from "../../store/index.ts"
import { type EndSignals, listenOn, Signals } from "../../events/index.ts"
import { declareAllDead, nodeLocks, register, renewLease, unregister } from "../Nodes.ts"
import { recover } from "../transitions/recover.ts"
import type { Engine } from "./Engine.ts"
import { RunnerOptions } from "../RunnerOptions.ts"

/**
 * Maximum interval between renewals of the lease. It is shorter for a short lease: one of five
 * renewals must succeed.
 */
const maxRenewalMs = 2_000

/**
 * How long to retry the lock. Until the server notices that the node's previous session is gone,
 * that session still holds the lock. While no session holds it, other nodes suspect this node.
 */
const lockRetryMs = 200

/**
 * How long a node does not check other nodes after its session was restored, because they need time
 * to reconnect too.
 */
const graceMs = 3_000
const agentsGraceMs = 10_000

export interface Membership {
  /** Whether this node has been healthy for long enough to check other nodes. */
  readonly mayCheckNodes: () => boolean
  /**
   * Whether this node has been healthy for long enough to check agents, which poll every few
   * seconds, and less often while no node responds.
   */
  readonly mayCheckAgents: () => boolean
  /**
   * How long this node has been connected without interruption, and without a step of the database
   * clock. Negative if the node is not connected.
   */
  readonly connectedForMs: () => number
}

/**
 * Makes this process a node.
 *
 * 1. On the embedded store, this process is the only node: it declares all earlier nodes dead and
 *    recovers their runs.
 * 2. `enroll` inserts the row of the node.
 * 3. On PostgreSQL, the loop runs `session`: a dedicated connection that listens for signals.
 * 4. `makeLeaseRenewal`: on that connection, the node repeatedly takes its advisory lock, renews its lease
 *    and learns which runs were cancelled. If the node was declared dead and others have its runs,
 *    `onLost` runs and the node enrolls again.
 * 5. A session that fails is reopened. When the scope closes, `signOff` hands back the runs that
 *    the node still holds and deletes its row.
 */
export const join = Effect.fnUntraced(function* (
  engine: Engine,
  onLost: Effect.Effect<void>
): Effect.fn.Return<
  Membership,
  SqlError.SqlError,
  Scope.Scope | SqlClient.SqlClient | PgClient.PgClient | Store | Signals | EndSignals
> {
  const sql = yield* SqlClient.SqlClient
  const pg = yield* PgClient.PgClient
  const store = yield* Store
  const signals = yield* Signals
  const clock = yield* Clock.Clock
  const { leaseMs } = yield* RunnerOptions
  const onPostgres = store.kind === "postgres"
  const enroll = Effect.map(register(sql, { holdsLock: onPostgres, leaseMs }), (node) =>
    engine.enroll(node)
  )

  if (!onPostgres) {
    yield* declareAllDead(sql)
    yield* recover(sql, "dead", "gone")
  }
  yield* enroll
  let cameAtMs = onPostgres ? Number.POSITIVE_INFINITY : elapsedMs(clock)
  const checksAfterMs = onPostgres ? graceMs : 0

  yield* Effect.addFinalizer(() => signOff(sql, engine.node))

  const session = Effect.gen(function* () {
    const config = { ...pg.config, applicationName: "scheduling-service node", multiplex: false }
    const { connection, receive } = yield* listenOn(config, signals).pipe(Effect.timeout(leaseMs))
    cameAtMs = elapsedMs(clock)
    const beat = yield* makeLeaseRenewal(engine, connection, Effect.andThen(onLost, enroll))
    yield* Effect.raceFirst(beat.pipe(Effect.timeout(leaseMs), Effect.forever), receive)
  }).pipe(
    Effect.scoped,
    Effect.ensuring(
      Effect.sync(() => {
        cameAtMs = Number.POSITIVE_INFINITY
      })
    )
  )

  if (onPostgres) yield* Effect.forkScoped(loop("the node's session", session))

  // Uses elapsed time. With the time of day, a node whose clock was set back would not check
  // others.
  const connectedForMs = () => Math.min(elapsedMs(clock) - cameAtMs, engine.clock.steadyForMs)
  return {
    mayCheckNodes: () => connectedForMs() >= checksAfterMs,
    mayCheckAgents: () => connectedForMs() >= checksAfterMs + agentsGraceMs,
    connectedForMs
  }
})

/** Renews the node's lease once, then sleeps until the next renewal is due. */
const makeLeaseRenewal = Effect.fnUntraced(function* (
  engine: Engine,
  connection: Parameters<typeof onConnection>[0],
  startOver: Effect.Effect<void, SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Signals
  const { leaseMs } = yield* RunnerOptions
  const renewalMs = Math.min(maxRenewalMs, leaseMs / 5)
  const ask = onConnection(connection)
  let lockedAs: number | undefined

  return Effect.gen(function* () {
    const { node } = engine
    if (lockedAs !== node) {
      yield* ask(sql`SELECT pg_advisory_unlock_all()`)
      const [lock] = yield* ask(
        sql<{ readonly taken: boolean }>`
          SELECT pg_try_advisory_lock(${nodeLocks}, ${node}) AS taken`
      )
      if (lock?.taken === true) lockedAs = node
    }
    const [pulse] = yield* ask(renewLease(sql, node, leaseMs))
    if (pulse?.alive !== true) {
      yield* Effect.logWarning(`node ${node} was declared dead and its runs went to others`)
      yield* startOver
      return
    }
    yield* Effect.forEach(pulse.cancelled, (id) => signals.receive(`cancel ${id}`), {
      discard: true
    })
    yield* Effect.sleep(lockedAs === node ? renewalMs : Math.min(renewalMs, lockRetryMs))
  })
})

const signOff = (sql: SqlClient.SqlClient, node: number) =>
  recover(sql, node, "gone").pipe(
    Effect.andThen(unregister(sql, node)),
    Effect.timeout("2 seconds"),
    Effect.catchCause(() =>
      Effect.logWarning(
        `node ${node} could not sign off; the other nodes will notice that it is gone`
      )
    )
  )
