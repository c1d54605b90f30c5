import { Schema } from "effect"
import { CallUrl } from "../calls/CallUrl.ts"
import { SigningSecretId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { Timestamp } from "../shared/Timestamp.ts"

const generation = {
  id: SigningSecretId,
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp)
}

/** The secret of a workspace, from which those of all receivers derive. It is never shown itself. */
export const SigningSecretGeneration = Schema.Struct(generation).annotate({
  identifier: "SigningSecretGeneration",
  description: "Which secret of the workspace signs. `expires_at` is null for the newest one."
})
export type SigningSecretGeneration = typeof SigningSecretGeneration.Type

const secret = Schema.RedactedFromValue(Schema.String, { label: "signing_secret" })

/** The secrets with which one receiver verifies signatures, as Standard Webhooks describes. */
export const SigningSecret = Schema.Struct({
  ...generation,
  origin: Schema.String,
  call_secret: secret,
  message_secret: secret
}).annotate({
  identifier: "SigningSecret",
  description:
    "The secrets of one receiver: `whsec_` and the secret in base64. They verify what the service " +
    "sends to this origin, and nothing that it sends to another one."
})
export type SigningSecret = typeof SigningSecret.Type

export const SigningSecretQuery = {
  url: CallUrl.annotate({
    description:
      "The URL of the receiver. Only its origin matters: the scheme, the host and the port."
  }),
  ...PageQuery
}
