import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  withServiceAuthor,
  ChangeLog,
  currentAuthor,
  type RecordedDefinition
} from "../../accounts/index.ts"
import { Outbox } from "../../events/index.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import { DeliveriesRepo } from "../sending/DeliveriesRepo.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"

/**
 * Pauses a channel whose address or credential is permanently invalid, and notifies the workspace's
 * other channels. Does nothing if the channel is already paused. Call it in a transaction.
 */
export class PauseChannel extends Context.Service<PauseChannel>()(
  "@scheduling/server/notifications/channels/PauseChannel",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const changeLog = yield* ChangeLog
      const deliveries = yield* DeliveriesRepo
      const outbox = yield* Outbox

      const pause = Effect.fn("PauseChannel")(function* (
        channel: Pick<ChannelRow, "id" | "workspace_id" | "name" | "kind">,
        reason: string,
        now: Date
      ) {
        const { id, kind, name, workspace_id } = channel
        const updated_by = (yield* currentAuthor).actor
        const [before] = yield* sql<
          Pick<RecordedDefinition, "updated_at" | "updated_by" | "version">
        >`
          SELECT version, updated_at, coalesce(updated_by, created_by) AS updated_by
          FROM notification_channels
          WHERE id = ${id}
            AND workspace_id = ${workspace_id}
            AND NOT paused
          FOR NO KEY UPDATE`
        if (before === undefined) return
        const version = before.version + 1
        yield* sql`
          UPDATE notification_channels
          SET
            paused = true,
            paused_reason = ${reason},
            version = ${version},
            updated_by = ${JSON.stringify(updated_by)}::jsonb,
            updated_at = ${now}
          WHERE id = ${id}`
        yield* deliveries.cancel(workspace_id, id, "all", now)
        yield* outbox.announce({
          workspace_id,
          event: "channel.paused",
          subject_id: id,
          at: now,
          data: {
            name,
            reason,
            facts: [{ name: "Kind", value: channelKinds[kind].title }],
            about: { channel: { id: NotificationChannelId.make(id) } }
          }
        })
        const definitionOf = (isPaused: boolean) => {
          const fields = { name, paused: isPaused }
          return { shown: fields, stored: fields }
        }
        yield* changeLog.record({
          kind: "notification_channel",
          workspace_id,
          id,
          before: { ...before, ...definitionOf(false) },
          after: { version, updated_at: now, updated_by, ...definitionOf(true) },
          details: { reason }
        })
      }, Effect.orDie)

      return (
        channel: Parameters<typeof pause>[0],
        reason: string,
        /** The id of the delivery or request that found the problem. */
        foundBy: string,
        now: Date
      ) => pause(channel, reason, now).pipe(withServiceAuthor("system", foundBy))
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
