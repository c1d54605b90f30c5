import { Schema } from "effect"
import { secret } from "../shared/secret.ts"

export const accessTokenSeconds = 900
export const refreshTokenSeconds = 30 * 24 * 60 * 60

/** A shortened, fictional JWT. */
const exampleToken = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImExIn0.eyJ0eXAiOiJhY2Nlc3MifQ.c2lnbmF0dXJl"

const refreshToken = {
  description:
    "The token for getting the next token pair. It works once and expires after 30 days.",
  examples: [exampleToken]
}

export const TokenPair = Schema.Struct({
  access_token: secret("access_token", {
    description: "The JWT to send as a bearer token.",
    examples: [exampleToken]
  }),
  refresh_token: secret("refresh_token", refreshToken),
  token_type: Schema.Literal("bearer").annotate({ description: "Always `bearer`." }),
  expires_in: Schema.Int.annotate({
    description: "The lifetime of the access token in seconds.",
    examples: [accessTokenSeconds]
  })
}).annotate({ identifier: "TokenPair" })
export type TokenPair = typeof TokenPair.Type

export const RefreshToken = secret(
  "refresh_token",
  refreshToken,
  Schema.String.check(Schema.isBetweenLength(1, 4096))
)
