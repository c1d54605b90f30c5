import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { elapsedMs, loop } from "../../core/index.ts"
import { runOnConnection, Store } from "../../store/index.ts"
import { type EndSignals, listenForSignals, Signals } from "../../events/index.ts"
import {
  declareAllNodesDead,
  nodeLockKey,
  registerNode,
  renewLease,
  maxMsWithoutLock,
  unregisterNode
} from "../Nodes.ts"
import { recover } from "../transitions/recover.ts"
import type { EngineState } from "./EngineState.ts"
import { RunnerOptions } from "../RunnerOptions.ts"

/**
 * The maximum interval between renewals of the lease. The interval is shorter if the lease is
 * short: even if four of five renewals fail, the lease must not end.
 */
const maxRenewalMs = 2_000

/**
 * The delay before the node tries again to take its lock. The node's previous session holds the
 * lock until the server notices that the session is gone. While no session holds the lock, other
 * nodes suspect that this node is dead.
 */
const lockRetryMs = 200

/**
 * How long a node does not check other nodes after its session was restored, because they need time
 * to reconnect too.
 */
const graceMs = 3_000
const agentsGraceMs = 10_000

export interface NodeMembership {
  /** Returns whether this node has been healthy for long enough to check other nodes. */
  readonly mayCheckNodes: () => boolean
  /**
   * Returns whether this node has been healthy for long enough to check agents. Agents poll every
   * few seconds, and less often while no node responds.
   */
  readonly mayCheckAgents: () => boolean
  /**
   * Returns how long this node has been connected without interruption, and without a step of the
   * database clock. Negative if the node is not connected.
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
 * 4. `makeLeaseRenewal`: on that connection, the node repeatedly takes its advisory lock, renews
 *    its lease, and reads which runs were cancelled. If the node was declared dead and other nodes
 *    have its runs, `onLost` runs and the node enrolls again.
 * 5. A session that fails is reopened. When the scope closes, `signOff` hands back the runs that
 *    the node still holds and deletes its row.
 */
export const joinAsNode = Effect.fnUntraced(function* (
  engine: EngineState,
  onLost: Effect.Effect<void>
): Effect.fn.Return<
  NodeMembership,
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
  const enroll = Effect.suspend(() => {
    const untilMs = onPostgres ? engine.clock.elapsedMs + leaseMs : Number.POSITIVE_INFINITY
    return Effect.map(registerNode(sql, { holdsLock: onPostgres, leaseMs }), (node) =>
      engine.enroll(node, untilMs)
    )
  })

  if (!onPostgres) {
    yield* declareAllNodesDead(sql)
    yield* recover(sql, "dead", "gone")
  }
  yield* enroll
  let cameAtMs = onPostgres ? Number.POSITIVE_INFINITY : elapsedMs(clock)
  const checksAfterMs = onPostgres ? graceMs : 0

  yield* Effect.addFinalizer(() => signOff(sql, engine.node))

  const session = Effect.gen(function* () {
    const config = { ...pg.config, applicationName: "scheduling-service node", multiplex: false }
    const { connection, receive } = yield* listenForSignals(config, signals).pipe(
      Effect.timeout(leaseMs)
    )
    cameAtMs = elapsedMs(clock)
    const beat = yield* makeLeaseRenewal(engine, connection, Effect.andThen(onLost, enroll))
    yield* Effect.raceFirst(beat.pipe(Effect.timeout(leaseMs), Effect.forever), receive)
  }).pipe(
    Effect.scoped,
    Effect.ensuring(
      Effect.sync(() => {
        cameAtMs = Number.POSITIVE_INFINITY
        engine.endLeaseIn(maxMsWithoutLock)
      })
    )
  )

  if (onPostgres) yield* Effect.forkScoped(loop("the node's session", session))

  // Elapsed time is used, because a node whose clock was set back would otherwise not check others.
  const connectedForMs = () => Math.min(elapsedMs(clock) - cameAtMs, engine.clock.steadyForMs)
  return {
    mayCheckNodes: () => connectedForMs() >= checksAfterMs,
    mayCheckAgents: () => connectedForMs() >= checksAfterMs + agentsGraceMs,
    connectedForMs
  }
})

/** Renews the node's lease once, then sleeps until the next renewal is due. */
const makeLeaseRenewal = Effect.fnUntraced(function* (
  engine: EngineState,
  connection: Parameters<typeof runOnConnection>[0],
  startOver: Effect.Effect<void, SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Signals
  const { leaseMs } = yield* RunnerOptions
  const renewalMs = Math.min(maxRenewalMs, leaseMs / 5)
  const ask = runOnConnection(connection)
  let lockedAs: number | undefined

  return Effect.gen(function* () {
    const { node } = engine
    if (lockedAs !== node) {
      yield* ask(sql`SELECT pg_advisory_unlock_all()`)
      const [lock] = yield* ask(
        sql<{ readonly taken: boolean }>`
          SELECT pg_try_advisory_lock(${nodeLockKey}, ${node}) AS taken`
      )
      if (lock?.taken === true) lockedAs = node
    }
    const untilMs = engine.clock.elapsedMs + leaseMs
    const [pulse] = yield* ask(renewLease(sql, node, leaseMs))
    if (pulse?.alive !== true) {
      yield* Effect.logWarning(
        `node ${node} was declared dead, and its runs were reassigned to other nodes`
      )
      yield* startOver
      return
    }
    engine.renewLease(untilMs)
    yield* Effect.forEach(pulse.cancelled, (id) => signals.receive(`cancel ${id}`), {
      discard: true
    })
    yield* Effect.sleep(lockedAs === node ? renewalMs : Math.min(renewalMs, lockRetryMs))
  })
})

const signOff = (sql: SqlClient.SqlClient, node: number) =>
  recover(sql, node, "gone").pipe(
    Effect.andThen(unregisterNode(sql, node)),
    Effect.timeout("2 seconds"),
    Effect.catchCause(() =>
      Effect.logWarning(
        `node ${node} could not sign off; the other nodes take over its runs when its lease expires`
      )
    )
  )
