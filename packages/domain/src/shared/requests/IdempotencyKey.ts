import { Schema } from "effect"

const Key = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/u, { expected: "1 to 255 visible ASCII characters" })
)

export const isIdempotencyKey = Schema.is(Key)

/**
 * The idempotency header of create requests. Within 24 hours, a repeated key with the same body
 * returns the first response again.
 */
export const IdempotencyKey = {
  "idempotency-key": Schema.optionalKey(Key.annotate({ examples: ["deploy-2026-01-31-1"] }))
}
