import { Api } from "@scheduling/domain/Api"
import { NotificationChannel } from "@scheduling/domain/notifications/NotificationChannel"
import { NotificationDelivery } from "@scheduling/domain/notifications/NotificationDelivery"
import type { NotificationSettingsInput } from "@scheduling/domain/notifications/NotificationSettings"
import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { versionHandlers } from "../accounts/index.ts"
import {
  upsertResponse,
  DefinedKinds,
  withExpectedVersion,
  Idempotency,
  implement,
  inWorkspace,
  ifMatchVersion,
  withETag
} from "../http/index.ts"
import { Channels } from "./channels/Channels.ts"
import { Recipients } from "./routing/Recipients.ts"
import { Deliveries } from "./sending/Deliveries.ts"
import { Settings } from "./settings/Settings.ts"

export const NotificationsHandlers = implement(
  Api,
  "notifications",
  Effect.fnUntraced(function* (handlers) {
    const channels = yield* Channels
    const deliveries = yield* Deliveries
    const idempotency = yield* Idempotency
    const recipients = yield* Recipients
    const settings = yield* Settings
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "notification_channel",
      upsert: channels.upsert,
      get: (workspaceId, { id }) => channels.get(workspaceId, NotificationChannelId.make(id)),
      remove: (workspaceId, { id }) => channels.remove(workspaceId, NotificationChannelId.make(id))
    })
    yield* kinds.add({
      kind: "notification_settings",
      upsert: (workspaceId, _, definition: Omit<NotificationSettingsInput, "version">) =>
        settings.define(workspaceId, definition),
      get: settings.get,
      remove: () => Effect.void
    })
    const versions = versionHandlers(
      ({ channel_id }: { readonly channel_id: string }) => channel_id,
      channels
    )
    return handlers.handleAll({
      listChannels: inWorkspace((workspaceId, { query }) => channels.list(workspaceId, query)),

      createChannel: inWorkspace((workspaceId, { headers, payload }) =>
        channels.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "notifications.createChannel",
            payload,
            answer: NotificationChannel
          })
        )
      ),

      upsertChannel: inWorkspace((workspaceId, { headers, params, payload }) =>
        upsertResponse(
          channels.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
        )
      ),

      getChannel: inWorkspace((workspaceId, { params }) =>
        withETag(channels.get(workspaceId, params.channel_id))
      ),

      listChannelVersions: versions.listVersions,

      getChannelVersion: versions.getVersion,

      restoreChannelVersion: versions.restoreVersion,

      updateChannel: inWorkspace((workspaceId, { headers, params, payload }) =>
        channels.update(workspaceId, params.channel_id, withExpectedVersion(headers, payload))
      ),

      deleteChannel: inWorkspace((workspaceId, { headers, params }) =>
        channels.remove(workspaceId, params.channel_id, ifMatchVersion(headers))
      ),

      test: inWorkspace((workspaceId, { params }) =>
        deliveries.test(workspaceId, params.channel_id)
      ),

      getSettings: inWorkspace((workspaceId) => settings.get(workspaceId)),

      replaceSettings: inWorkspace((workspaceId, { payload }) =>
        settings.replace(workspaceId, payload)
      ),

      getRecipients: inWorkspace((workspaceId, { query }) => recipients.find(workspaceId, query)),

      listDeliveries: inWorkspace((workspaceId, { query }) => deliveries.list(workspaceId, query)),

      getDelivery: inWorkspace((workspaceId, { params }) =>
        deliveries.get(workspaceId, params.delivery_id)
      ),

      resend: inWorkspace((workspaceId, { headers, params }) =>
        deliveries.resend(workspaceId, params.delivery_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `notifications.resend ${params.delivery_id}`,
            payload: null,
            answer: NotificationDelivery
          })
        )
      ),

      listKinds: inWorkspace(() => Effect.succeed(channels.kinds))
    })
  })
)
