import { Schema } from "effect"
import { secret } from "../shared/secret.ts"

export const accessTokenSeconds = 900
export const refreshTokenSeconds = 30 * 24 * 60 * 60

/** Shows what a JWT looks like. It is shortened and was never issued. */
const exampleToken = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImExIn0.eyJ0eXAiOiJhY2Nlc3MifQ.c2lnbmF0dXJl"

const refreshToken = {
  description: "Gives the next pair of tokens, once. It lives 30 days.",
  examples: [exampleToken]
}

export const TokenPair = Schema.Struct({
  access_token: secret("access_token", {
    description: "The bearer credential of requests: a JWT.",
    examples: [exampleToken]
  }),
  refresh_token: secret("refresh_token", refreshToken),
  token_type: Schema.Literal("bearer").annotate({ description: "Always `bearer`." }),
  expires_in: Schema.Int.annotate({
    description: "How many seconds the access token lives.",
    examples: [accessTokenSeconds]
  })
}).annotate({ identifier: "TokenPair" })
export type TokenPair = typeof TokenPair.Type

export const RefreshToken = secret(
  "refresh_token",
  refreshToken,
  Schema.String.check(Schema.isBetweenLength(1, 4096))
)
