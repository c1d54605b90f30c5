import { maxNamedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, Ids, Meters } from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import type { ToldEvent } from "../Message.ts"
import { describe } from "../sorting/describe.ts"
import type { Sorted } from "../sorting/Sorter.ts"
import { SorterRepo } from "../sorting/SorterRepo.ts"
import { CallbackOutboxRepo, type CallbackRow } from "./CallbackOutboxRepo.ts"

/**
 * Turns ended runs into deliveries to the call-backs of their tasks. So many of a workspace may
 * wait as its plan allows. The others are dropped and counted, so that a receiver that is slower
 * than the runs fills no disk.
 */
export class CallbackSorter extends Context.Service<
  CallbackSorter,
  { readonly sort: Effect.Effect<Sorted> }
>()("@scheduling/server/notifications/callbacks/CallbackSorter") {
  static readonly layer: Layer.Layer<
    CallbackSorter,
    never,
    AppConfig | CallbackOutboxRepo | Ids | Limits | SorterRepo | SqlClient.SqlClient
  > = Layer.effect(
    CallbackSorter,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const { plans } = yield* AppConfig
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* CallbackOutboxRepo
      const sorterRepo = yield* SorterRepo
      const counted = (yield* Meters).counts(
        "scheduling_callbacks_total",
        "Call-backs of tasks: `accepted`, or `dropped` because too many waited already.",
        "outcome",
        ["accepted", "dropped"]
      )
      /** Below it, no plan needs to be asked. */
      const leastLimit = Math.min(
        ...[...plans.plans.values()].map((plan) => plan.limits.waiting_callbacks)
      )

      const sort = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const listed = yield* repo.list(batch)
        if (listed.length === 0) return "all"
        const workspaceIds = [...new Set(listed.map(({ workspace_id }) => workspace_id))]
        const there = yield* sorterRepo.findWorkspaces(workspaceIds)
        const now = yield* clock
        const waiting = yield* repo.countWaiting(workspaceIds)
        const byWorkspace = Map.groupBy(
          listed.filter(({ workspace_id }) => there.has(workspace_id)),
          ({ workspace_id }) => workspace_id
        )
        const accepted: Array<CallbackRow> = []
        const refused: Array<{ readonly rows: ReadonlyArray<CallbackRow>; readonly most: number }> =
          []
        for (const [workspaceId, rows] of byWorkspace) {
          const before = waiting.get(workspaceId) ?? 0
          const most =
            before + rows.length <= leastLimit
              ? before + rows.length
              : (yield* limits.planOf(workspaceId)).limits.waiting_callbacks
          const room = Math.max(0, most - before)
          accepted.push(...rows.slice(0, room))
          if (rows.length > room) refused.push({ rows: rows.slice(room), most })
        }
        const newIds = yield* Effect.replicateEffect(ids.next, accepted.length + refused.length)
        let used = 0
        const nextId = () => newIds[used++] ?? ""
        yield* repo.insert(
          accepted.map((row) => ({
            id: nextId(),
            workspace_id: row.workspace_id,
            target: row.url,
            begun: row.event.endsWith("failed") ? 1 : 0,
            ended: row.event.endsWith("failed") ? 0 : 1,
            shown: [eventOf(row)],
            subjects: [row.task_id]
          })),
          now
        )
        yield* repo.insertDropped(
          refused.map(({ most, rows }) => ({
            id: nextId(),
            workspace_id: rows[0]?.workspace_id ?? "",
            count: rows.length,
            shown: rows.slice(0, maxNamedEvents).map(eventOf),
            error: `${most} call-backs were waiting already, as many as the plan allows`
          })),
          now
        )
        yield* repo.remove(listed.map(({ ordinal }) => ordinal))
        yield* sql.afterCommit(
          Effect.sync(() => {
            counted("accepted", accepted.length)
            for (const { rows } of refused) counted("dropped", rows.length)
          })
        )
        return listed.length === batch ? "more" : "all"
      })

      return CallbackSorter.of({
        sort: transactionOf(sql)(sort).pipe(Effect.withSpan("CallbackSorter.sort"))
      })
    })
  )
}

/** A transaction is over in a moment, however much there is. */
const batch = 1_000

const eventOf = ({ at, data, event, task_id }: CallbackRow): ToldEvent =>
  describe({ event, subject_id: task_id, at, data }, undefined, undefined)
