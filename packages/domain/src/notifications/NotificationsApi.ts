import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import {
  Conflict,
  idempotencyErrors,
  NotFound,
  QuotaExceeded,
  RateLimited,
  Stale
} from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import {
  idInPath,
  NotificationChannelId,
  NotificationDeliveryId,
  WorkspaceId
} from "../shared/Ids.ts"
import { idOrKey, CallerChosenKey, upsertDocs } from "../shared/requests/CallerChosenKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import {
  ChannelQuery,
  NotificationChannel,
  NotificationChannelDefinition,
  NotificationChannelInput,
  NotificationChannelPage,
  NotificationChannelUpdate,
  NotificationKinds,
  TestDelivery
} from "./NotificationChannel.ts"
import {
  DeliveryFilters,
  NotificationDelivery,
  NotificationDeliveryDetail,
  NotificationDeliveryPage
} from "./NotificationDelivery.ts"
import { NotificationRecipients, RecipientsQuery } from "./NotificationRecipients.ts"
import { NotificationSettings, NotificationSettingsInput } from "./NotificationSettings.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const channel = {
  ...workspace,
  channel_id: idOrKey(NotificationChannelId, "notification_channel")
}
const delivery = { ...workspace, delivery_id: idInPath(NotificationDeliveryId) }

export class NotificationsApi extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("listChannels", "/channels", {
      params: workspace,
      query: ChannelQuery,
      success: NotificationChannelPage
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(docs("List channels", "The workspace's channels, newest first.")),

    HttpApiEndpoint.post("createChannel", "/channels", {
      params: workspace,
      headers: IdempotencyKey,
      payload: NotificationChannelInput,
      success: NotificationChannel.pipe(HttpApiSchema.status(201)),
      error: [Conflict, ...idempotencyErrors, QuotaExceeded, RateLimited]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Create a channel",
          "Nothing is sent to a channel until a rule in the settings names it. An email address that " +
            "belongs to no member must first be confirmed by a link in an email. " +
            planLimitSentence("channels", "notification_channels", 100)
        )
      ),

    HttpApiEndpoint.put("upsertChannel", "/channels/by-key/:key", {
      params: { ...workspace, key: CallerChosenKey },
      headers: IfMatch,
      payload: NotificationChannelDefinition,
      success: [NotificationChannel, NotificationChannel.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded, RateLimited, Stale]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        upsertDocs(
          "a channel",
          "Secrets are part of the definition. The kind cannot change; a definition with another kind is rejected with 409."
        )
      ),

    HttpApiEndpoint.get("getChannel", "/channels/:channel_id", {
      params: channel,
      success: NotificationChannel,
      error: NotFound
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(docs("Get a channel", "The channel, with its secrets masked.")),

    ...versionEndpoints({
      noun: "a channel",
      of: "Channel",
      path: "/channels/:channel_id",
      params: channel,
      record: NotificationChannel,
      read: Access.scope("notifications:read"),
      write: Access.scope("notifications:write")
    }),

    HttpApiEndpoint.patch("updateChannel", "/channels/:channel_id", {
      params: channel,
      headers: IfMatch,
      payload: NotificationChannelUpdate,
      success: NotificationChannel,
      error: [NotFound, Conflict, QuotaExceeded, RateLimited, Stale]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Change a channel",
          "Changes the given fields. Waiting messages are sent with the new settings."
        )
      ),

    HttpApiEndpoint.delete("deleteChannel", "/channels/:channel_id", {
      params: channel,
      headers: IfMatch,
      error: [Conflict, NotFound, Stale]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Delete a channel",
          "Removes the channel from all rules and cancels its waiting messages. Sent messages stay listed. A " +
            "channel that an escalation policy names cannot be deleted."
        )
      ),

    HttpApiEndpoint.post("test", "/channels/:channel_id/test", {
      params: channel,
      success: TestDelivery,
      error: [NotFound, Conflict, RateLimited]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Test a channel",
          "Sends a message now and returns its result within 15 seconds. If the address is not " +
            "confirmed, the response is 409. At most 6 per minute per channel."
        )
      ),

    HttpApiEndpoint.get("getSettings", "/settings", {
      params: workspace,
      success: NotificationSettings
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(docs("Get the settings", "The rules and timing of notifications.")),

    HttpApiEndpoint.put("replaceSettings", "/settings", {
      params: workspace,
      payload: NotificationSettingsInput,
      success: NotificationSettings,
      error: Stale
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Replace the settings",
          "Replaces all settings if `version` is current. Otherwise the response is 412 `stale`."
        )
      ),

    HttpApiEndpoint.get("getRecipients", "/recipients", {
      params: workspace,
      query: RecipientsQuery,
      success: NotificationRecipients
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(
        docs(
          "Preview the recipients of a notification",
          "Applies the rules of the settings to a hypothetical problem. Maintenance, dependencies, quiet hours and the failure threshold, which can delay or withhold messages, are not considered."
        )
      ),

    HttpApiEndpoint.get("listDeliveries", "/deliveries", {
      params: workspace,
      query: { ...PageQuery, ...DeliveryFilters },
      success: NotificationDeliveryPage
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(
        docs("List deliveries", "Messages that were sent or are waiting, newest first.")
      ),

    HttpApiEndpoint.get("getDelivery", "/deliveries/:delivery_id", {
      params: delivery,
      success: NotificationDeliveryDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(docs("Get a delivery", "The delivery with the result of each attempt.")),

    HttpApiEndpoint.post("resend", "/deliveries/:delivery_id/resend", {
      params: delivery,
      headers: IdempotencyKey,
      success: NotificationDelivery.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, ...idempotencyErrors]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Resend a delivery",
          "Queues the same message as a new delivery. If the delivery has not finished, or its " +
            "channel is deleted, paused or not confirmed, the response is 409. It is also 409 while 100 " +
            "deliveries are waiting for the channel. A confirmation email cannot be resent."
        )
      ),

    HttpApiEndpoint.get("listKinds", "/kinds", { params: workspace, success: NotificationKinds })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(
        docs(
          "List kinds of channels",
          "Each kind has a JSON schema, from which a form can be generated."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/notifications")
  .annotateMerge(
    OpenApi.annotations({
      title: "Notifications",
      description: "Which channels are notified of which failures and recoveries."
    })
  ) {}
