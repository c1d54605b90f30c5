import { Schema } from "effect"

export const accessTokenSeconds = 900
export const refreshTokenSeconds = 30 * 24 * 60 * 60

/** Shows what a JWT looks like. It is shortened and was never issued. */
const exampleToken = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImExIn0.eyJ0eXAiOiJhY2Nlc3MifQ.c2lnbmF0dXJl"

const Token = (label: string) =>
  Schema.RedactedFromValue(Schema.String, { label }).pipe(
    Schema.annotateEncoded({ examples: [exampleToken] })
  )

export const TokenPair = Schema.Struct({
  access_token: Token("access_token"),
  refresh_token: Token("refresh_token"),
  token_type: Schema.Literal("bearer"),
  expires_in: Schema.Int.annotate({ examples: [accessTokenSeconds] })
}).annotate({
  identifier: "TokenPair",
  description: "`expires_in` is the lifetime of the access token in seconds."
})
export type TokenPair = typeof TokenPair.Type

export const RefreshToken = Schema.RedactedFromValue(
  Schema.String.check(Schema.isBetweenLength(1, 4096)),
  { label: "refresh_token" }
).pipe(Schema.annotateEncoded({ examples: [exampleToken] }))
