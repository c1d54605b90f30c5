import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { Store } from "../platform/Sql.ts"
import type { SigningSecrets } from "../workspaces/SigningSecrets.ts"
import type { Call } from "./Call.ts"
import { type Calls, makeCalls } from "./Calls.ts"
import { removeReplaced } from "./ChainVersions.ts"
import { handBack } from "./Claim.ts"
import { Endings } from "./Endings.ts"
import { makeEngine, type RunnerCounts } from "./Engine.ts"
import { makeFeed } from "./Feed.ts"
import { Doorbell, loop } from "./Loop.ts"
import { join, type Membership } from "./Membership.ts"
import { judge, removeTombstones } from "./Nodes.ts"
import { Partitions, removeHistoryOfGoneWorkspaces } from "./Partitions.ts"
import { takeBack } from "./Reap.ts"
import { makeSettler } from "./Settler.ts"
import { Signals } from "./Signals.ts"
import { makeStopper } from "./Stopper.ts"

export interface RunnerStats extends Readonly<RunnerCounts> {
  readonly node: number
  /** Leased and not started. */
  readonly held: number
  readonly running: number
  /** Of the calls that run, as far as they are large. */
  readonly bytes: number
  /** Ended and not written yet. */
  readonly settling: number
}

type Requirements =
  | SqlClient.SqlClient
  | PgClient.PgClient
  | Store
  | Signals
  | Endings
  | Partitions
  | Call
  | SigningSecrets

/** Firing, claiming, starting and settling each have a statement under way, and there is maintenance. */
const connections = 4

/**
 * The pool of the service pipelines the statements of many requests over one connection. The
 * engine's are few and take 10 ms each: in one pipeline they would wait for each other, and requests
 * behind them (6,400 runs/s instead of 19,000). The embedded store has but one connection.
 */
const ownConnections = (
  store: Store["Service"]
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError, SqlClient.SqlClient | PgClient.PgClient> =>
  store.kind === "embedded"
    ? Layer.effect(SqlClient.SqlClient, SqlClient.SqlClient)
    : Layer.effect(
        SqlClient.SqlClient,
        Effect.flatMap(PgClient.PgClient, ({ config }) =>
          PgClient.make({
            ...config,
            applicationName: "scheduling-service runner",
            multiplex: false,
            maxConnections: connections
          })
        )
      ).pipe(Layer.provide(Reactivity.layer))

/**
 * One node of the run engine. Any number of them share a database, with nothing to configure. What
 * follows is in the order of starting; the scope ends it in the reverse order, which is how a node
 * stops: no new work, what is held goes back, calls end, results are written, the node leaves.
 */
export class Runner extends Context.Service<
  Runner,
  { readonly stats: Effect.Effect<RunnerStats> }
>()("@scheduling/server/runner/Runner") {
  static readonly layer: Layer.Layer<Runner, SqlError.SqlError, Requirements> = Layer.effect(
    Runner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* Store
      const signals = yield* Signals
      const endings = yield* Endings
      const partitions = yield* Partitions
      const engine = yield* makeEngine
      const { counts, feedBell, intake, options, startBell } = engine

      // 1. The node. If it was declared dead it has lost all its runs, and starts over.
      const membership: Membership = yield* join(
        Effect.suspend(() => {
          intake.dropAll()
          return Effect.andThen(
            calls.abandon,
            Effect.sync(() => {
              settler.clear()
              intake.clear()
            })
          )
        })
      )
      const node = membership.node

      // 2. Results. Stopping waits until they are written.
      const settler = yield* makeSettler(
        () => intake.isPressed,
        (settlements, settled) => {
          // Before their steps before them are forgotten. What they call is not known yet.
          const next = settled.next.flatMap(({ after, ...run }) => {
            const share = intake.shareOf(after)
            return share === undefined ? [] : [{ ...run, share, target: null }]
          })
          const written = new Set(settled.ids)
          for (const settlement of settlements) {
            intake.forget(settlement.id)
            if (written.has(settlement.id)) {
              counts[settlement.status ?? "retried"]++
            } else {
              counts.fenced++
              // Or an earlier try was written and its answer lost, with the next step of a chain.
              engine.unsure = true
            }
          }
          endings.tell(settled.ended)
          if (next.length > 0) {
            intake.add(next, engine.clock.now())
            startBell.ring()
          }
          if (settled.released || settlements.some((one) => one.status === null)) feedBell.ring()
        }
      )
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(settler.flush, "2 seconds")))

      // 3. Calls. Stopping lets them end, and gives up those that take too long: others repeat them.
      const calls: Calls = yield* makeCalls(engine, settler, node)
      yield* Effect.addFinalizer(() =>
        calls.ended.pipe(
          Effect.timeout(options.stopMs),
          Effect.catchTag("TimeoutError", () => calls.abandon)
        )
      )
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() =>
          handBack(
            sql,
            node(),
            intake.dropAll().map((run) => run.id)
          )
        ).pipe(Effect.timeout("1 second"), Effect.ignore)
      )

      // 4. What wakes the loops.
      const stopBell = new Doorbell()
      yield* signals.listen({
        wake: Effect.sync(() => feedBell.ring()),
        cancel: calls.cancel,
        stop: Effect.sync(() => stopBell.ring())
      })

      // 5. The loops.
      yield* Effect.forkScoped(loop("starting runs", calls.startDue))
      yield* Effect.forkScoped(loop("taking runs", yield* makeFeed(engine, calls, node)))
      yield* Effect.forkScoped(loop("stopping runs", yield* makeStopper(stopBell)))
      yield* Effect.forkScoped(
        loop(
          "looking after nodes",
          Effect.gen(function* () {
            yield* Effect.sleep(store.kind === "postgres" ? "1 second" : "5 seconds")
            if (!membership.mayJudge()) return
            const { released, to_take_back } = yield* judge(sql)
            if (to_take_back) {
              const lost = yield* takeBack(sql, "dead")
              yield* Effect.logWarning(`took back the runs of a dead node, ${lost} had started`)
            }
            if (to_take_back) engine.dueFrom.forget()
            if (released || to_take_back) feedBell.ring()
          })
        )
      )
      yield* Effect.forkScoped(
        loop(
          "maintenance",
          Effect.gen(function* () {
            const isDone = yield* partitions.maintain(options.retentionDays)
            yield* removeHistoryOfGoneWorkspaces(sql)
            yield* removeTombstones(sql)
            yield* removeReplaced(sql)
            return isDone
          }),
          {
            between: (isDone) => Effect.sleep(isDone ? "1 hour" : "1 minute"),
            pauseAtMost: "1 minute"
          }
        )
      )

      return Runner.of({
        stats: Effect.sync(() => ({
          ...counts,
          node: node(),
          held: intake.held,
          running: intake.running,
          bytes: engine.budget.taken,
          settling: settler.pending()
        }))
      })
    })
  ).pipe(Layer.provide(Layer.unwrap(Effect.map(Store, ownConnections))))
}
