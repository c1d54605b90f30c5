import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { elapsedMs } from "../platform/elapsed.ts"
import { Store } from "../platform/Sql.ts"
import type { Endings } from "./Endings.ts"
import { listenOn } from "./Listening.ts"
import { loop } from "./Loop.ts"
import { bury, nodeLocks, register, renew, unregister } from "./Nodes.ts"
import { takeBack } from "./Reap.ts"
import { RunnerOptions } from "./RunnerOptions.ts"
import { Signals } from "./Signals.ts"

/** The lease is renewed this often, or oftener where it is short: of five beats one must get through. */
const longestBeatMs = 2_000

/** After a session came back: the others had to come back too before they can be judged. */
const graceMs = 3_000

export interface Membership {
  /** This node's id. It changes when the node was declared dead and lives all the same. */
  readonly node: () => number
  /** Whether this node has been well for long enough to say that others are not. */
  readonly mayJudge: () => boolean
}

/**
 * Makes this process a node: a row, and on PostgreSQL a session of its own that holds the node's
 * advisory lock, renews the lease and listens. The session reconnects by itself. `onLost` runs when
 * the node finds that it was declared dead and that others run what it had.
 */
export const join = Effect.fnUntraced(function* (
  onLost: Effect.Effect<void>
): Effect.fn.Return<
  Membership,
  SqlError.SqlError,
  Scope.Scope | SqlClient.SqlClient | PgClient.PgClient | Store | Signals | Endings
> {
  const sql = yield* SqlClient.SqlClient
  const pg = yield* PgClient.PgClient
  const store = yield* Store
  const signals = yield* Signals
  const clock = yield* Clock.Clock
  const { leaseMs } = yield* RunnerOptions
  const beatMs = Math.min(longestBeatMs, leaseMs / 5)
  const onPostgres = store.kind === "postgres"
  const enroll = register(sql, { holdsLock: onPostgres, leaseMs })

  if (!onPostgres) {
    yield* bury(sql)
    yield* takeBack(sql, "dead")
  }
  let node = yield* enroll
  let judgesFromMs = onPostgres ? Number.POSITIVE_INFINITY : 0

  yield* Effect.addFinalizer(() =>
    takeBack(sql, node).pipe(
      Effect.andThen(unregister(sql, node)),
      Effect.timeout("2 seconds"),
      Effect.catchCause(() =>
        Effect.logWarning(`node ${node} left without a word; others will notice`)
      )
    )
  )

  const session = Effect.gen(function* () {
    const config = { ...pg.config, applicationName: "scheduling-service node", multiplex: false }
    const own = yield* PgClient.makeClient(config)
    // Who listens hears nothing for hours: whether there is a network, the beat finds out.
    const receive = yield* listenOn({ ...config, stream: undefined }, signals).pipe(
      Effect.timeout(leaseMs)
    )
    judgesFromMs = elapsedMs(clock) + graceMs

    let lockedAs: number | undefined
    const beat = Effect.gen(function* () {
      if (lockedAs !== node) {
        yield* own`SELECT pg_advisory_unlock_all()`
        yield* own`SELECT pg_try_advisory_lock(${nodeLocks}, ${node})`
        lockedAs = node
      }
      const pulse = yield* renew(own, node, leaseMs)
      if (!pulse.alive) {
        yield* Effect.logWarning(`node ${node} was declared dead, its runs went to others`)
        yield* onLost
        node = yield* enroll
        return
      }
      yield* Effect.forEach(pulse.cancelled, (id) => signals.receive(`cancel ${id}`), {
        discard: true
      })
      yield* Effect.sleep(beatMs)
    }).pipe(Effect.timeout(leaseMs), Effect.forever)

    yield* Effect.raceFirst(beat, receive)
  }).pipe(
    Effect.scoped,
    Effect.ensuring(
      Effect.sync(() => {
        judgesFromMs = Number.POSITIVE_INFINITY
      })
    ),
    Effect.provide(Reactivity.layer)
  )

  if (onPostgres) yield* Effect.forkScoped(loop("the node's session", session))

  return {
    node: () => node,
    // By the time of day, while that was set back, a node left the dead alone.
    mayJudge: () => elapsedMs(clock) >= judgesFromMs
  }
})
