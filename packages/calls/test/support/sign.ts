import {
  type WebhookMessage,
  parseSigningSecret,
  computeSignature,
  signedContent
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { Effect } from "effect"

/**
 * Computes the `webhook-signature` header with the published library, with one signature per
 * secret.
 */
export const sign = (
  message: WebhookMessage,
  secrets: ReadonlyArray<string>
): Effect.Effect<string> =>
  Effect.promise(async () => {
    const keys = secrets.map(parseSigningSecret).filter((key) => key !== undefined)
    const made = await Promise.all(keys.map((key) => computeSignature(signedContent(message), key)))
    return made.join(" ")
  })
