import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { OutboxBell } from "../../outbox/OutboxBell.ts"
import { LiveChanges } from "../../signals/Changes.ts"
import { Endings } from "../../signals/Endings.ts"
import { Signals } from "../../signals/Signals.ts"
import { againAfterCollision } from "../../sql/transaction.ts"
import type { Settlement } from "../Run.ts"
import { tellSettled } from "../tellChanges.ts"
import { settle } from "./Settle.ts"

/** Settles runs that no node has in its memory, and tells whoever has to know. */
export class Settling extends Context.Service<
  Settling,
  {
    /** Returns the ids of the runs about which something was written. */
    readonly settle: (
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<ReadonlySet<string>, SqlError.SqlError>
  }
>()("@scheduling/server/queue/ending/Settling") {
  static readonly layer: Layer.Layer<Settling, never, Endings | Signals | SqlClient.SqlClient> =
    Layer.effect(
      Settling,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const changes = yield* LiveChanges
        const endings = yield* Endings
        const outboxBell = yield* OutboxBell
        const signals = yield* Signals

        return Settling.of({
          settle: Effect.fn("Settling.settle")(function* (settlements) {
            if (settlements.length === 0) return new Set()
            const settled = yield* againAfterCollision(settle(sql, settlements))
            endings.tell(settled.ended)
            tellSettled(changes, settlements, settled)
            if (settled.announced) outboxBell.ring()
            const isMoreDue =
              settled.released ||
              settled.next.length > 0 ||
              settlements.some(({ status }) => status === null)
            if (isMoreDue) yield* signals.wake
            if (settled.queues.length > 0) yield* signals.admit(settled.queues)
            return new Set(settled.ids)
          })
        })
      })
    )
}
