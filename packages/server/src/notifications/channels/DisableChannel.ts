import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../accounts/index.ts"
import { Outbox } from "../../events/index.ts"
import { kinds } from "../kinds/kinds.ts"
import { DeliveriesRepo } from "../sending/DeliveriesRepo.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"

/**
 * Disables a channel whose address or credential is gone, and announces that to the other channels. A
 * channel that is disabled already stays as it is. Call it in a transaction.
 */
export class DisableChannel extends Context.Service<DisableChannel>()(
  "@scheduling/server/notifications/channels/DisableChannel",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const deliveries = yield* DeliveriesRepo
      const outbox = yield* Outbox

      return Effect.fn("DisableChannel")(function* (
        channel: Pick<ChannelRow, "id" | "workspace_id" | "name" | "kind">,
        reason: string,
        /** The id of the delivery or of the request that found it out. */
        foundBy: string,
        now: Date
      ) {
        const { id, kind, name, workspace_id } = channel
        const disabled = yield* sql`
          UPDATE notification_channels
          SET enabled = false, disabled_reason = ${reason}, updated_at = ${now}
          WHERE id = ${id}
            AND workspace_id = ${workspace_id}
            AND enabled
          RETURNING id`
        if (disabled.length === 0) return
        yield* deliveries.cancel(workspace_id, id, "all", now)
        yield* outbox.announce({
          workspace_id,
          event: "channel.paused",
          subject_id: id,
          at: now,
          data: {
            name,
            reason,
            facts: [{ name: "Kind", value: kinds[kind].title }],
            about: { channel: { id: NotificationChannelId.make(id) } }
          }
        })
        yield* audit.recordInWorkspace("notification_channel.disabled", workspace_id, {
          actor_id: null,
          target_id: id,
          origin: { ip: null, user_agent: null, request_id: foundBy },
          details: { reason }
        })
      }, Effect.orDie)
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
