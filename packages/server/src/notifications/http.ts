import { Api } from "@scheduling/domain/Api"
import { NotificationChannel } from "@scheduling/domain/notifications/NotificationChannel"
import { NotificationDelivery } from "@scheduling/domain/notifications/NotificationDelivery"
import type { NotificationChannelDefinition } from "@scheduling/domain/notifications/NotificationChannel"
import type { NotificationSettingsInput } from "@scheduling/domain/notifications/NotificationSettings"
import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { currentAuthor } from "../accounts/index.ts"
import {
  createdIfNew,
  DefinedKinds,
  expecting,
  Idempotency,
  implement,
  inWorkspace,
  versionIn,
  withETag
} from "../http/index.ts"
import { Channels } from "./channels/Channels.ts"
import { Deliveries } from "./sending/Deliveries.ts"
import { Settings } from "./settings/Settings.ts"

export const NotificationsHandlers = implement(
  Api,
  "notifications",
  Effect.fnUntraced(function* (handlers) {
    const channels = yield* Channels
    const deliveries = yield* Deliveries
    const idempotency = yield* Idempotency
    const settings = yield* Settings
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "notification_channel",
      upsert: (workspaceId, key, definition: NotificationChannelDefinition) =>
        Effect.flatMap(currentAuthor, (author) =>
          channels.upsert(workspaceId, key, definition, author)
        ),
      get: (workspaceId, id) => channels.get(workspaceId, NotificationChannelId.make(id)),
      remove: (workspaceId, id) =>
        Effect.flatMap(currentAuthor, (author) =>
          channels.remove(workspaceId, NotificationChannelId.make(id), author)
        )
    })
    yield* kinds.add({
      kind: "notification_settings",
      upsert: (workspaceId, _, definition: Omit<NotificationSettingsInput, "version">) =>
        Effect.flatMap(currentAuthor, (author) => settings.define(workspaceId, definition, author)),
      get: settings.get,
      remove: () => Effect.void
    })
    return handlers.handleAll({
      listChannels: inWorkspace((workspaceId, { query }) => channels.list(workspaceId, query)),

      createChannel: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { headers, payload }) {
          return yield* channels.create(workspaceId, payload, yield* currentAuthor).pipe(
            idempotency.once({
              key: headers["idempotency-key"],
              workspaceId,
              operation: "notifications.createChannel",
              payload,
              answer: NotificationChannel
            })
          )
        })
      ),

      upsertChannel: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { headers, params, payload }) {
          const author = yield* currentAuthor
          const definition = expecting(headers, payload)
          return yield* createdIfNew(channels.upsert(workspaceId, params.key, definition, author))
        })
      ),

      getChannel: inWorkspace((workspaceId, { params }) =>
        withETag(channels.get(workspaceId, params.channel_id))
      ),

      updateChannel: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { headers, params, payload }) {
          const author = yield* currentAuthor
          const changes = expecting(headers, payload)
          return yield* channels.update(workspaceId, params.channel_id, changes, author)
        })
      ),

      deleteChannel: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { headers, params }) {
          const author = yield* currentAuthor
          yield* channels.remove(workspaceId, params.channel_id, author, versionIn(headers))
        })
      ),

      test: inWorkspace((workspaceId, { params }) =>
        deliveries.test(workspaceId, params.channel_id)
      ),

      getSettings: inWorkspace((workspaceId) => settings.get(workspaceId)),

      replaceSettings: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          return yield* settings.replace(workspaceId, payload, yield* currentAuthor)
        })
      ),

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
