import { Schema } from "effect"
import { SigningSecretId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** Signs the service's calls as Standard Webhooks describes. */
export const SigningSecret = Schema.Struct({
  id: SigningSecretId,
  secret: Schema.RedactedFromValue(Schema.String, { label: "signing_secret" }),
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "SigningSecret",
  description: "`whsec_` and the secret in base64. `expires_at` is null for the newest one."
})
export type SigningSecret = typeof SigningSecret.Type
