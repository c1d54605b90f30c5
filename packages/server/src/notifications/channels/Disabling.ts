import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../accounts/index.ts"
import { Outbox } from "../../events/index.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import { DeliveriesRepo } from "../deliveries/DeliveriesRepo.ts"
import { kinds } from "../kinds.ts"

/** Gives a channel up that takes nothing any more. Call it in a transaction. */
export class Disabling extends Context.Service<
  Disabling,
  {
    /** Once: what is disabled already stays as it is. The other channels hear of it. */
    readonly disable: (
      channel: Pick<ChannelRow, "id" | "workspace_id" | "name" | "kind">,
      reason: string,
      /** The delivery, or the request, by which it was found out. */
      foundBy: string,
      now: Date
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/Disabling") {
  static readonly layer: Layer.Layer<
    Disabling,
    never,
    AuditLog | DeliveriesRepo | Outbox | SqlClient.SqlClient
  > = Layer.effect(
    Disabling,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const deliveries = yield* DeliveriesRepo
      const outbox = yield* Outbox

      return Disabling.of({
        disable: Effect.fn("Disabling.disable")(function* (channel, reason, foundBy, now) {
          const disabled = yield* sql`
            UPDATE notification_channels
            SET enabled = false, disabled_reason = ${reason}, next_at = NULL, updated_at = ${now}
            WHERE id = ${channel.id}
              AND workspace_id = ${channel.workspace_id}
              AND enabled
            RETURNING id`
          if (disabled.length === 0) return
          yield* deliveries.updateToCancelled(channel.workspace_id, channel.id, now)
          yield* outbox.announce({
            workspace_id: channel.workspace_id,
            event: "channel.disabled",
            subject_id: channel.id,
            at: now,
            data: {
              name: channel.name,
              reason,
              facts: [{ name: "Kind", value: kinds[channel.kind].title }]
            }
          })
          yield* audit.recordInWorkspace("notification_channel.disabled", channel.workspace_id, {
            actor_id: null,
            target_id: channel.id,
            origin: { ip: null, user_agent: null, request_id: foundBy },
            details: { reason }
          })
        }, Effect.orDie)
      })
    })
  )
}
