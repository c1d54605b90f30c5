import { Schema } from "effect"
import { secret } from "../shared/secret.ts"
import { CallUrl } from "../calls/CallUrl.ts"
import { SigningSecretId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"

const generation = {
  id: SigningSecretId,
  created_at: createdAt,
  expires_at: Schema.NullOr(Timestamp).annotate({
    description: "When the secret stops signing after a rotation. Null for the newest."
  })
}

/**
 * A generation of the workspace's secret, from which the secrets of all recipients are derived. The
 * secret itself is never shown.
 */
export const SigningSecretGeneration = Schema.Struct(generation).annotate({
  identifier: "SigningSecretGeneration",
  description: "A generation of the workspace's signing secret."
})
export type SigningSecretGeneration = typeof SigningSecretGeneration.Type

/** The secrets with which a recipient verifies signatures, according to Standard Webhooks. */
export const SigningSecret = Schema.Struct({
  ...generation,
  origin: Schema.String.annotate({
    description: "The scheme, host and port of the recipient.",
    examples: ["https://api.example.com"]
  }),
  call_secret: secret("signing_secret", {
    description: "Verifies the calls of tasks and of chain steps.",
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
  }),
  message_secret: secret("signing_secret", {
    description: "Verifies callbacks and the messages of webhook channels.",
    examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]
  })
}).annotate({
  identifier: "SigningSecret",
  description:
    "The secrets of one recipient: `whsec_` and the secret in base64. They verify only requests that the service " +
    "sends to this origin."
})
export type SigningSecret = typeof SigningSecret.Type

export const SigningSecretQuery = {
  url: CallUrl.annotate({
    description: "The URL of the recipient. Only its origin matters: the scheme, host and port."
  }),
  ...PageQuery
}
