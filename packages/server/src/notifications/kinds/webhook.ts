import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import type { EventNotice, WebhookEvent } from "@scheduling/domain/events/Event"
import { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { classifyProviderResponse, type ChannelKind } from "./ChannelKind.ts"
import { type Message, type MessageEvent, eventTitleOf } from "./Message.ts"

/** Sends events to a webhook. Only a 410 means that the URL is permanently gone. */
export const webhook: ChannelKind = {
  kind: "webhook",
  title: "Webhook",
  config: channelConfigs.webhook,
  secrets: ["authorization"],
  target: ["url"],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ authorization, url }, message, { signedHttp }) =>
    Effect.map(
      signedHttp({
        method: "POST",
        url,
        headers: authorization === undefined ? {} : { authorization },
        body: webhookBody(message)
      }),
      (result) => classifyProviderResponse(result, { isGone: ({ status }) => status === 410 })
    )
}

/** Returns the JSON that webhooks and callbacks receive: one event, or a digest of several. */
export const webhookBody = (message: Message): WebhookEvent => {
  const { count, created_at, events, id, title, workspace } = message
  const [only] = events
  if (count === 1 && only !== undefined) return singleEvent(message, id, only)
  return {
    id,
    type: "digest",
    created_at: created_at.toISOString(),
    workspace_id: WorkspaceId.make(workspace.id),
    data: {
      events_count: count,
      events: events.map((event, index) => singleEvent(message, `${id}-${index + 1}`, event)),
      notice: { title, name: workspace.name, reason: null, facts: [], is_reminder: false }
    }
  }
}

type SingleEvent = Exclude<WebhookEvent, { readonly type: "digest" }>

/**
 * Returns the body for one event. The cast is safe, because the delivery was stored with data that
 * matches its event type.
 */
const singleEvent = ({ workspace }: Message, id: string, event: MessageEvent) =>
  ({
    id,
    type: event.event,
    created_at: event.at,
    workspace_id: workspace.id,
    data: { ...event.data, notice: noticeOf(event) }
  }) as SingleEvent

const noticeOf = (event: MessageEvent): EventNotice => ({
  title: eventTitleOf(event),
  name: event.name,
  reason: event.reason,
  facts: event.facts,
  is_reminder: event.reminder === true
})
