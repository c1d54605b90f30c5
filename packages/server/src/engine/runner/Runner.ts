import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { Store } from "../../store/index.ts"
import type { AccessTokens } from "../secrets/AccessTokens.ts"
import type { CallSecrets } from "../secrets/CallSecrets.ts"
import type { SigningSecrets } from "../signing/SigningSecrets.ts"
import type { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import { makeAdmitter } from "./Admitter.ts"
import type { Completions } from "../completions/Completions.ts"
import type { CompletionUrls } from "../completions/CompletionUrls.ts"
import { makeCalls } from "./Calls.ts"
import { removeOldAbsences } from "../Absences.ts"
import { removeReplacedVersions } from "../chains/ChainVersions.ts"
import { handBack } from "../transitions/handBack.ts"
import { type EndSignals, Signals } from "../../events/index.ts"
import { makeEngineState } from "./EngineState.ts"
import { makeClaimer } from "./Claimer.ts"
import { loop, stuckRestartOptions, runAllInSequence, Waker } from "../../core/index.ts"
import { joinAsNode } from "./NodeMembership.ts"
import { removeDeadNodes } from "../Nodes.ts"
import { makeNodeWatch } from "./NodeWatch.ts"
import { deleteHistoryOfDeletedWorkspaces } from "../deleteHistoryOfDeletedWorkspaces.ts"
import { Partitions } from "../Partitions.ts"
import type { RunnerStats } from "./RunnerStats.ts"
import { makeSettler } from "./Settler.ts"
import { makeStopper } from "./Stopper.ts"

type Requirements =
  | SqlClient.SqlClient
  | PgClient.PgClient
  | Store
  | Signals
  | EndSignals
  | Partitions
  | OutgoingCalls
  | AccessTokens
  | CallSecrets
  | SigningSecrets
  | Completions
  | CompletionUrls

/**
 * The number of connections of the engine. It is enough for one statement of each loop that takes,
 * starts or settles runs, and for maintenance.
 */
const connections = 4

/**
 * The service's pool pipelines the statements of many requests over one connection. The statements
 * of the engine are few and take 10 ms each. In the same pipeline they would wait for each other,
 * and requests would wait for them (6,400 runs/s instead of 19,000). The engine therefore has its
 * own connections. The embedded store has only one connection.
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
 * One node of the run engine. Any number of nodes can share a database, without configuration. The
 * numbered steps below start a node. When the node stops, the scope undoes them in reverse order:
 * the node takes no new work, hands back the runs it holds, lets calls finish, writes the results
 * and signs off.
 */
export class Runner extends Context.Service<
  Runner,
  { readonly stats: Effect.Effect<RunnerStats> }
>()("@scheduling/server/engine/runner/Runner") {
  static readonly layer: Layer.Layer<Runner, SqlError.SqlError, Requirements> = Layer.effect(
    Runner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const partitions = yield* Partitions

      // Creates the parts. None of them does anything yet.
      const engine = yield* makeEngineState
      const { claimWaker, leasedRuns, options } = engine
      const stopWaker = new Waker()
      const calls = yield* makeCalls(engine)
      const settler = yield* makeSettler(engine, calls.begin)
      const takeRuns = yield* makeClaimer(engine, calls)
      const { admitSome, walk } = yield* makeAdmitter(engine)
      const clearStopped = yield* makeStopper(stopWaker)

      const forgetAll = Effect.gen(function* () {
        leasedRuns.dropAll()
        yield* calls.abandon
        settler.clear()
        leasedRuns.clear()
      })

      // 1. The node. If it is declared dead, it has lost all its runs and starts over.
      const membership = yield* joinAsNode(engine, forgetAll)
      const watchNodes = yield* makeNodeWatch(engine, membership, walk)

      // 2. Results. When the node stops, it waits until all are written.
      yield* Effect.forkScoped(loop("settling runs", settler.settleSome, stuckRestartOptions))
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(settler.flush, "2 seconds")))

      // 3. Calls. When the node stops, it lets calls finish and abandons those that take too long:
      //    other nodes repeat them.
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
            engine.node,
            leasedRuns.dropAll().map((run) => run.id)
          )
        ).pipe(Effect.timeout("1 second"), Effect.ignore)
      )

      // 4. The signals that wake the loops.
      yield* signals.listen({
        wake: Effect.sync(() => claimWaker.wake()),
        cancel: calls.cancel,
        stop: Effect.sync(() => stopWaker.wake()),
        admit: (queueIds) => Effect.sync(() => engine.queues.checkAt(queueIds, engine.clock.now()))
      })

      // 5. The loops.
      yield* Effect.forkScoped(loop("starting runs", calls.startDue, stuckRestartOptions))
      yield* Effect.forkScoped(loop("taking runs", takeRuns, stuckRestartOptions))
      yield* Effect.forkScoped(loop("admitting runs", admitSome, stuckRestartOptions))
      yield* Effect.forkScoped(loop("stopping runs", clearStopped, stuckRestartOptions))
      yield* Effect.forkScoped(loop("watching for dead nodes", watchNodes))
      yield* Effect.forkScoped(
        loop(
          "maintenance",
          Effect.gen(function* () {
            if (engine.clock.doubt !== undefined) return false
            const isDone = yield* Effect.exit(partitions.maintain(options.retentionDays))
            yield* runAllInSequence([
              isDone,
              deleteHistoryOfDeletedWorkspaces(sql),
              removeDeadNodes(sql),
              removeOldAbsences(sql),
              removeReplacedVersions(sql)
            ])
            return yield* isDone
          }),
          {
            between: (isDone) => Effect.sleep(isDone ? "1 hour" : "1 minute"),
            pauseAtMost: "1 minute"
          }
        )
      )

      // 6. Stopping begins here: from now on, slots of named queues go to other nodes.
      yield* Effect.addFinalizer(() => Effect.sync(() => engine.stop()))

      const stats = (): RunnerStats => ({
        ...engine.counts,
        node: engine.node,
        held: leasedRuns.held,
        running: leasedRuns.running,
        bytes: engine.budget.taken,
        settling: settler.pending()
      })
      engine.meters.show(stats, options)
      return Runner.of({ stats: Effect.sync(stats) })
    })
  ).pipe(Layer.provide(Layer.unwrap(Effect.map(Store, ownConnections))))
}
