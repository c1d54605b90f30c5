import { Effect, Schema } from "effect"
import { judge, type Kind } from "../Kind.ts"
import { secret, serverUrl } from "../kindFields.ts"

const config = Schema.Struct({
  url: serverUrl(
    "Where the message is POSTed to, signed with the `message_secret` of its origin.",
    "https://alerts.example.com/hook"
  ),
  authorization: Schema.optionalKey(
    secret("The Authorization header, if it needs one", "Bearer abcdef", /^[\x20-\x7e]+$/)
  )
})

/** A 410 says that the address is gone for good: nothing else does. */
export const webhook: Kind = {
  kind: "webhook",
  title: "Webhook",
  config,
  secrets: ["authorization"],
  target: ["url"],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ authorization, url }, message, { signedHttp }) =>
    signedHttp({
      method: "POST",
      url,
      headers: authorization === undefined ? {} : { authorization },
      body: {
        id: message.id,
        workspace_id: message.workspace.id,
        state: message.tone,
        title: message.title,
        events_count: message.count,
        events: message.events.map(
          ({ at, event, execution_id, facts, name, reason, subject_id }) => ({
            event,
            subject_id,
            execution_id: execution_id ?? null,
            name,
            reason,
            at,
            facts
          })
        ),
        created_at: message.created_at.toISOString()
      }
    }).pipe(Effect.map((result) => judge(result, { gone: ({ status }) => status === 410 })))
}
