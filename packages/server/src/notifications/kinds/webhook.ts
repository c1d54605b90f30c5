import { Effect, Schema } from "effect"
import { classify, type Kind } from "./Kind.ts"
import { secret, serverUrl } from "./fields.ts"
import type { Message } from "./Message.ts"

const config = Schema.Struct({
  url: serverUrl(
    "Where the message is POSTed to, signed with the `message_secret` of its origin.",
    "https://alerts.example.com/hook"
  ),
  authorization: Schema.optionalKey(
    secret("The Authorization header, if it needs one", "Bearer abcdef", /^[\x20-\x7e]+$/)
  )
})

/** A 410 is the only answer that says that the address is gone for good. */
export const webhook: Kind = {
  kind: "webhook",
  title: "Webhook",
  config,
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
      (result) => classify(result, { gone: ({ status }) => status === 410 })
    )
}

/** The JSON that webhooks and callbacks receive. */
export const webhookBody = (message: Message) => ({
  id: message.id,
  workspace_id: message.workspace.id,
  state: message.tone,
  title: message.title,
  events_count: message.count,
  events: message.events.map(({ at, event, execution_id, facts, name, reason, subject_id }) => ({
    event,
    subject_id,
    execution_id: execution_id ?? null,
    name,
    reason,
    at,
    facts
  })),
  created_at: message.created_at.toISOString()
})
