import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { secret } from "../shared/secret.ts"
import { text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"

export const triggerSenders = ["standard_webhooks", "github", "stripe", "slack"] as const

const TriggerSender = oneOf(triggerSenders, {
  identifier: "TriggerSender",
  description: "The sender whose signature the requests to a trigger URL must have."
})
export type TriggerSender = typeof TriggerSender.Type

/** Matches `whsec_` followed by 24 to 64 bytes in base64. */
const standardWebhooksSecret =
  /^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?|(?:[A-Za-z0-9+/]{4}){21}[A-Za-z0-9+/]{2}==)$/

const StandardWebhooksSecret = Schema.String.check(
  Schema.isPattern(standardWebhooksSecret, {
    expected: "whsec_ followed by 24 to 64 bytes in base64"
  })
)

const StandardWebhooksSignature = Schema.Struct({
  sender: Schema.Literal("standard_webhooks").annotate({
    description: "Any sender that follows Standard Webhooks, such as another workspace."
  }),
  secret: secret(
    "secret",
    {
      description: "The secret with which the sender signs.",
      format: "password",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
    },
    StandardWebhooksSecret
  )
}).annotate({ identifier: "StandardWebhooksSignature" })

const ServiceSignature = Schema.Struct({
  sender: Schema.Literals(["github", "stripe", "slack"]).annotate({
    description: "The service that sends the requests."
  }),
  secret: secret(
    "secret",
    {
      description:
        "The secret of the webhook at GitHub, the signing secret of the endpoint at Stripe, or the signing " +
        "secret of the app at Slack.",
      format: "password",
      examples: ["8f742231b10e8888abcd99yyyzzz85a5"]
    },
    text({ min: 8, max: 255 })
  )
}).annotate({ identifier: "ServiceSignature" })

/** The sender that must have signed the requests, with the secret for verifying its signatures. */
export const TriggerSignature = Schema.Union([
  StandardWebhooksSignature,
  ServiceSignature
]).annotate({ identifier: "TriggerSignature" })
export type TriggerSignature = typeof TriggerSignature.Type

/** The body of a request that turns a trigger URL on. */
export const TriggerInput = Schema.Struct({
  signature: optionalWithDefault(
    "None",
    Schema.NullOr(TriggerSignature).annotate({
      description: "The signature that requests must have. Without it, the URL alone is enough."
    })
  )
}).annotate({ identifier: "TriggerInput" })
export type TriggerInput = typeof TriggerInput.Type

/** A cron task's or chain's trigger URL. */
export const Trigger = Schema.Struct({
  enabled: Schema.Boolean.annotate({ description: "Whether there is a trigger URL." }),
  url: Schema.NullOr(
    secret("trigger_url", {
      description: "The URL that runs the task.",
      examples: [
        "https://scheduling.example.com/trigger/mF3vXk1cQz9rT5wYb7nJ2hLdGs8PaUeKoViWxCzTyBM"
      ]
    })
  ).annotate({
    description:
      "Anybody who has it can run the task. Null if the trigger is off, and for readers who may not run the task."
  }),
  sender: Schema.NullOr(TriggerSender).annotate({
    description: "The sender whose signature requests must have. Null if none is needed."
  }),
  created_at: Schema.NullOr(Timestamp).annotate({
    description: "When the URL was created. Null if the trigger is off."
  })
}).annotate({
  identifier: "Trigger",
  description:
    "The trigger URL of a task. A request to it runs the task with the body of the request as `input`."
})
export type Trigger = typeof Trigger.Type
