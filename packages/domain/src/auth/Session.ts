import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { SessionId } from "../shared/Ids.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"

/** The ways in which a session can begin. */
export const SignInMethod = oneOf(["password", "provider", "passkey", "proxy", "link"], {
  identifier: "SignInMethod",
  description:
    "How the user signed in. `provider`: at the identity provider (OpenID Connect). `proxy`: at an authenticating proxy. `link`: with a link from the operator.",
  examples: ["password"]
})
export type SignInMethod = typeof SignInMethod.Type

export const Session = Schema.Struct({
  id: SessionId,
  user_agent: Schema.NullOr(Schema.String).annotate({
    description: "The `User-Agent` of the login. Null if there was none.",
    examples: ["Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"]
  }),
  ip: Schema.NullOr(Schema.String).annotate({
    description: "The IP address of the login. Null if unknown.",
    examples: ["203.0.113.7"]
  }),
  began_with: SignInMethod,
  created_at: createdAt,
  last_used_at: Timestamp.annotate({ description: "When the session was last refreshed." }),
  current: Schema.Boolean.annotate({ description: "True for the session of this request." })
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type
