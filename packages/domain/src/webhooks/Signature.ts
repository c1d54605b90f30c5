import { Effect, Option, Result, Schema } from "effect"
import * as StandardWebhooks from "./StandardWebhooks.ts"

export {
  defaultToleranceSeconds,
  equalInConstantTime,
  header,
  type Message,
  type Received,
  signedContent,
  signedPrefix
} from "./StandardWebhooks.ts"

/** The key behind `whsec_...`, or none where the text is not a secret of 24 to 64 bytes. */
export const secretBytes = (secret: string): Option.Option<Uint8Array<ArrayBuffer>> =>
  Option.fromUndefinedOr(StandardWebhooks.parseSecret(secret))

export const SigningSecret = Schema.String.check(
  Schema.makeFilter((secret) => Option.isSome(secretBytes(secret)), {
    expected: "whsec_ and 24 to 64 bytes in base64"
  })
).pipe(Schema.brand("SigningSecret"))
export type SigningSecret = typeof SigningSecret.Type

const failures = [
  "malformed_secret",
  "malformed_timestamp",
  "timestamp_too_old",
  "timestamp_too_new",
  "no_matching_signature"
] as const satisfies ReadonlyArray<StandardWebhooks.Problem>

export class SignatureError extends Schema.TaggedError<SignatureError>()("SignatureError", {
  reason: Schema.Literals(failures)
}) {
  override get message() {
    return `The webhook signature does not hold: ${this.reason.replaceAll("_", " ")}`
  }
}

/** The `webhook-signature` header: one signature a secret, so receivers rotate in their time. */
export const sign = Effect.fnUntraced(function* (
  message: StandardWebhooks.Message,
  secrets: ReadonlyArray<string>
) {
  const content = StandardWebhooks.signedContent(message)
  const signatures = yield* Effect.forEach(secrets, (secret) =>
    Effect.fromOption(
      secretBytes(secret),
      () => new SignatureError({ reason: "malformed_secret" })
    ).pipe(Effect.flatMap((key) => Effect.promise(() => StandardWebhooks.signature(content, key))))
  )
  return signatures.join(" ")
})

/** Reads `webhook-timestamp` and refuses what a replay would carry. */
export const checkTimestamp = (
  text: string,
  nowSeconds: number,
  toleranceSeconds?: number
): Result.Result<number, SignatureError> => {
  const read = StandardWebhooks.readTimestamp(text, nowSeconds, toleranceSeconds)
  return typeof read === "number"
    ? Result.succeed(read)
    : Result.fail(new SignatureError({ reason: read }))
}

/** Succeeds when one signature of the header was made with one of the secrets, lately. */
export const verify = Effect.fnUntraced(function* (
  received: StandardWebhooks.Received,
  secrets: ReadonlyArray<string>,
  options: { readonly nowSeconds: number; readonly toleranceSeconds?: number | undefined }
) {
  const reason = yield* Effect.promise(() =>
    StandardWebhooks.findProblem(received, secrets, options)
  )
  if (reason !== undefined) return yield* new SignatureError({ reason })
})
