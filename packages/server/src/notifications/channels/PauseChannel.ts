import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../accounts/index.ts"
import { Outbox } from "../../events/index.ts"
import { kinds } from "../kinds/kinds.ts"
import { DeliveriesRepo } from "../sending/DeliveriesRepo.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"

/**
 * Pauses a channel whose address or credential is gone, and announces that to the other channels. A
 * channel that is paused already stays as it is. Call it in a transaction.
 */
export class PauseChannel extends Context.Service<PauseChannel>()(
  "@scheduling/server/notifications/channels/PauseChannel",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const deliveries = yield* DeliveriesRepo
      const outbox = yield* Outbox

      return Effect.fn("PauseChannel")(function* (
        channel: Pick<ChannelRow, "id" | "workspace_id" | "name" | "kind">,
        reason: string,
        /** The id of the delivery or of the request that found it out. */
        foundBy: string,
        now: Date
      ) {
        const { id, kind, name, workspace_id } = channel
        const paused = yield* sql`
          UPDATE notification_channels
          SET
            paused = true,
            paused_reason = ${reason},
            version = version + 1,
            updated_at = ${now}
          WHERE id = ${id}
            AND workspace_id = ${workspace_id}
            AND NOT paused
          RETURNING id`
        if (paused.length === 0) return
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
        yield* audit.recordInWorkspace("notification_channel.paused", workspace_id, {
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
