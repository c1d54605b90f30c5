import { Context, DateTime, Effect, Exit, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Incidents } from "../../../src/incidents/Incidents.ts"
import { IncidentSubscribers } from "../../../src/incidents/IncidentSubscribers.ts"
import { Maintenance } from "../../../src/incidents/maintenance/Maintenance.ts"
import { SubjectsRepo } from "../../../src/incidents/SubjectsRepo.ts"
import { TimelineRepo } from "../../../src/incidents/TimelineRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import { StatusChanges } from "../../../src/monitoring/StatusChanges.ts"
import { WithheldIncidents } from "../../../src/monitoring/WithheldIncidents.ts"
import { Router } from "../../../src/notifications/routing/Router.ts"
import { FollowIncidentsLayer } from "../../../src/notifications/sending/followIncidents.ts"
import { alertLimits, Sender } from "../../../src/notifications/sending/Sender.ts"
import type { Database } from "../../../src/store/Sql.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"
import { steppedNotifierLayer } from "../../notifications/support/nodes.ts"
import { makeKillableSql } from "./killableSql.ts"

const NodeLayer = Layer.mergeAll(
  Incidents.layer,
  Maintenance.layer.pipe(Layer.provide(SubjectsRepo.layer)),
  FollowIncidentsLayer,
  StatusChanges.layer,
  WithheldIncidents.layer
).pipe(
  Layer.provide([TimelineRepo.layer, MonitorEventsRepo.layer, MonitorsRepo.layer]),
  Layer.provide(IncidentSubscribers.layer),
  Layer.provideMerge(steppedNotifierLayer()),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate))
)

type NodeServices = Layer.Success<typeof NodeLayer> | SqlClient.SqlClient

/** Starts a node whose loops the test runs step by step. */
const startNode = Effect.gen(function* () {
  const { life, sql } = yield* makeKillableSql
  const services = yield* Layer.build(Layer.fresh(NodeLayer)).pipe(
    Effect.provideService(SqlClient.SqlClient, sql)
  )
  const context = Context.add(services, SqlClient.SqlClient, sql)
  return {
    life,
    /** Runs work on the node. Returns undefined if the node is killed. */
    run: <A, E>(work: Effect.Effect<A, E, NodeServices>): Effect.Effect<A | undefined, E> =>
      Effect.gen(function* () {
        if (life.isKilled) return undefined
        const exit = yield* Effect.exit(Effect.provide(work, context))
        if (life.isKilled) return undefined
        return yield* Exit.isSuccess(exit)
          ? Effect.succeed(exit.value)
          : Effect.failCause(exit.cause)
      })
  }
})

/** A node's background work, except sending messages. */
const steps: ReadonlyArray<Effect.Effect<unknown, never, Router | WithheldIncidents>> = [
  Effect.flatMap(WithheldIncidents, ({ release }) => release),
  Effect.flatMap(Router, ({ release }) => release),
  Effect.flatMap(Router, ({ remind }) => remind),
  Effect.flatMap(Router, ({ route }) => route)
]

/** Sends the messages that are due. Returns the number of messages sent. */
const sendSome = Effect.gen(function* () {
  const sender = yield* Sender
  const claimed = yield* sender.claim(alertLimits, [])
  yield* Effect.forEach(claimed, sender.send, { concurrency: 10 })
  return claimed.length
})

/**
 * Starts two nodes that work at the same time. The first can be killed between any two statements.
 * The second then continues, and a new node replaces the first.
 */
export const startTwoNodes = Effect.fnUntraced(function* (workspaceId: string) {
  const sql = yield* SqlClient.SqlClient
  const start = Effect.provide(startNode, yield* Effect.context<Database | Scope.Scope>())
  let first = yield* start
  const second = yield* start
  const unrecorded = new Map<string, number>()

  /**
   * Replaces the first node if it was killed, and ends its leases on the messages that it was
   * sending.
   */
  const replaceKilled = Effect.gen(function* () {
    if (!first.life.isKilled) return false
    const sending = yield* sql<{ readonly id: string }>`
      UPDATE notification_deliveries
      SET next_at = ${yield* DateTime.nowAsDate}
      WHERE workspace_id = ${workspaceId}
        AND status = 'sending'
      RETURNING id`
    for (const { id } of sending) unrecorded.set(id, (unrecorded.get(id) ?? 0) + 1)
    first = yield* start
    return true
  })

  const onBoth = <A>(work: Effect.Effect<A, never, NodeServices>) =>
    Effect.all([first.run(work), second.run(work)], { concurrency: 2 })

  const digest = Effect.map(
    sql<{ readonly digest: string }>`
      SELECT md5(concat_ws(
        ' ',
        (SELECT string_agg(outbox::text, ' ' ORDER BY ordinal) FROM outbox),
        (
          SELECT string_agg(problems::text, ' ' ORDER BY subject_id)
          FROM problems
          WHERE workspace_id = ${workspaceId}
        ),
        (
          SELECT string_agg(escalations::text, ' ' ORDER BY subject_id)
          FROM escalations
          WHERE workspace_id = ${workspaceId}
        ),
        (
          SELECT string_agg(incidents::text, ' ' ORDER BY id)
          FROM incidents
          WHERE workspace_id = ${workspaceId}
        )
      )) AS digest`,
    ([row]) => row?.digest
  )

  return {
    /**
     * For each delivery, the number of nodes that were killed between claiming it and recording the
     * result. The message can arrive that many additional times.
     */
    unrecorded,

    /**
     * Makes the first node handle a request. If that node is killed before the commit, the second
     * node handles it.
     */
    request: Effect.fnUntraced(function* <E>(
      work: Effect.Effect<unknown, E, NodeServices>,
      killAfter: number
    ) {
      const { life } = first
      life.statementsLeft = killAfter
      life.commits = 0
      yield* first.run(work)
      const isKilled = yield* replaceKilled
      if (isKilled && life.commits === 0) yield* second.run(work)
    }),

    /**
     * Does what the nodes do in the background until nothing is left to do. `kills` contains the
     * number of statements after which the first node, and then each replacement, is killed.
     */
    settle: Effect.fnUntraced(function* (kills: ReadonlyArray<number>) {
      const left = [...kills]
      const setNextKill = () => {
        first.life.statementsLeft = left.shift() ?? Number.POSITIVE_INFINITY
      }
      setNextKill()
      let before: string | undefined
      let after = yield* digest
      do {
        before = after
        for (const step of steps) {
          let [, result] = yield* onBoth(step)
          while (result === "busy") result = yield* second.run(step)
        }
        if (yield* replaceKilled) setNextKill()
        after = yield* digest
      } while (before !== after)
      for (;;) {
        const counts = yield* onBoth(sendSome)
        if (yield* replaceKilled) setNextKill()
        else if (counts.every((count) => count === 0)) return
      }
    })
  }
})
