import {
  accessTokenSeconds,
  refreshTokenSeconds,
  type TokenPair
} from "@scheduling/domain/auth/TokenPair"
import { SessionId, UserId } from "@scheduling/domain/shared/Ids"
import { Context, Data, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { type JWTHeaderParameters, jwtVerify, SignJWT } from "jose"
import { Ids, type KeyRing, Secrets } from "../../core/index.ts"

export interface SessionClaims {
  readonly user_id: UserId
  readonly session_id: SessionId
}

export interface RefreshClaims extends SessionClaims {
  readonly generation: number
}

export class TokenRejected extends Data.TaggedError("TokenRejected") {}

/** Signs and verifies JWTs. Callers check that the session still exists. */
export class Tokens extends Context.Service<
  Tokens,
  {
    /**
     * Signs a pair of tokens. The refresh token depends only on the session, its generation and the
     * rotation's time, so that two concurrent requests for one rotation receive the same token.
     */
    readonly issue: (
      session: RefreshClaims & { readonly rotated_at: Date }
    ) => Effect.Effect<TokenPair>
    /** Signs an access token that expires after `seconds`, without a refresh token. */
    readonly issueAccess: (
      session: SessionClaims,
      seconds: number
    ) => Effect.Effect<Redacted.Redacted>
    readonly verifyAccess: (token: string) => Effect.Effect<SessionClaims, TokenRejected>
    readonly verifyRefresh: (
      token: Redacted.Redacted
    ) => Effect.Effect<RefreshClaims, TokenRejected>
  }
>()("@scheduling/server/accounts/sessions/Tokens") {
  static readonly layer: Layer.Layer<Tokens, never, Secrets | Ids> = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const ring = (yield* Secrets).keys("jwt")
      const ids = yield* Ids
      const [current] = ring
      const keys = yield* importKeys(ring)

      const sign = (claims: SessionClaims, token: TokenDescription) =>
        Effect.promise(() =>
          new SignJWT({ sid: claims.session_id, typ: token.typ, ...token.extra })
            .setProtectedHeader({ alg: "HS256", typ: "JWT", kid: current.id })
            .setIssuer(issuer)
            .setAudience(issuer)
            .setSubject(claims.user_id)
            .setJti(token.jti)
            .setIssuedAt(token.issuedAt)
            .setExpirationTime(token.issuedAt + token.seconds)
            .sign(keyOf({ kid: current.id }))
        )

      const keyOf = ({ kid }: Pick<JWTHeaderParameters, "kid">) => {
        const key = kid === undefined ? undefined : keys.get(kid)
        if (key === undefined) throw new Error("the signing key is unknown")
        return key
      }

      const verify = <A>(token: string, decode: (claims: unknown) => Effect.Effect<A, unknown>) =>
        Effect.flatMap(DateTime.nowAsDate, (currentDate) =>
          Effect.tryPromise(async () => {
            if (!strictSignature.test(token))
              throw new Error("the signature is not in strict base64url")
            return jwtVerify(token, keyOf, {
              algorithms: ["HS256"],
              issuer,
              audience: issuer,
              requiredClaims: ["iat", "exp", "jti"],
              currentDate
            })
          })
        ).pipe(
          Effect.flatMap(({ payload }) => decode(payload)),
          Effect.mapError(() => new TokenRejected())
        )

      const verifiedTokens = new Map<string, VerifiedToken>()
      const rememberToken = (token: string, verified: VerifiedToken) => {
        const oldest = verifiedTokens.keys().next()
        if (verifiedTokens.size >= maxVerifiedTokens && !oldest.done)
          verifiedTokens.delete(oldest.value)
        verifiedTokens.set(token, verified)
      }

      const issueAccess = Effect.fn("Tokens.issueAccess")(function* (
        session: SessionClaims,
        lifetime: number
      ) {
        const token = yield* sign(session, {
          typ: "access",
          jti: yield* ids.next,
          issuedAt: seconds(yield* DateTime.nowAsDate),
          seconds: lifetime
        })
        return Redacted.make(token, { label: "access_token" })
      })

      return Tokens.of({
        issueAccess,

        issue: Effect.fn("Tokens.issue")(function* (session) {
          const access_token = yield* issueAccess(session, accessTokenSeconds)
          const refresh_token = yield* sign(session, {
            typ: "refresh",
            jti: `${session.session_id}.${session.generation}`,
            extra: { gen: session.generation },
            issuedAt: seconds(session.rotated_at),
            seconds: refreshTokenSeconds
          })
          return {
            access_token,
            refresh_token: Redacted.make(refresh_token, { label: "refresh_token" }),
            token_type: "bearer",
            expires_in: accessTokenSeconds
          }
        }),

        verifyAccess: Effect.fnUntraced(function* (token) {
          const known = verifiedTokens.get(token)
          if (known === undefined) {
            const { exp, sid, sub } = yield* verify(token, decodeAccess)
            const claims = { user_id: sub, session_id: sid }
            rememberToken(token, { claims, expiresAt: exp })
            return claims
          }
          if (seconds(yield* DateTime.nowAsDate) >= known.expiresAt) {
            return yield* new TokenRejected()
          }
          return known.claims
        }),

        verifyRefresh: (token) =>
          Effect.map(verify(Redacted.value(token), decodeRefresh), ({ gen, sid, sub }) => ({
            user_id: sub,
            session_id: sid,
            generation: gen
          }))
      })
    })
  )
}

const issuer = "scheduling-service"

/**
 * Matches the only strict base64url encoding of a 32-byte signature. Lenient decoders also accept
 * padding and other trailing bits.
 */
const strictSignature = /\.[\w-]{42}[AEIMQUYcgkosw048]$/

/**
 * A cached access token whose signature was verified. The signature stays valid, so only the expiry
 * is checked again, which saves a third of a request's time. An entry takes about 700 bytes.
 */
interface VerifiedToken {
  readonly claims: SessionClaims
  readonly expiresAt: number
}

const maxVerifiedTokens = 10_000

/**
 * Imports the keys once at startup, because a verification takes 12 µs with an imported key, but 20
 * µs with the raw bytes.
 */
const importKeys = (ring: KeyRing): Effect.Effect<ReadonlyMap<string, CryptoKey>> =>
  Effect.promise(async () => {
    const hs256 = { name: "HMAC", hash: "SHA-256" }
    const entries = ring.map(async ({ id, secret }) => {
      const key = await crypto.subtle.importKey(
        "raw",
        new Uint8Array(secret.export()),
        hs256,
        false,
        ["sign", "verify"]
      )
      return [id, key] as const
    })
    return new Map(await Promise.all(entries))
  })

interface TokenDescription {
  readonly typ: "access" | "refresh"
  readonly jti: string
  readonly extra?: Readonly<Record<string, unknown>>
  readonly issuedAt: number
  readonly seconds: number
}

const decodeAccess = Schema.decodeUnknownEffect(
  Schema.Struct({
    typ: Schema.Literal("access"),
    sub: UserId,
    sid: SessionId,
    exp: Schema.Number
  })
)

const decodeRefresh = Schema.decodeUnknownEffect(
  Schema.Struct({ typ: Schema.Literal("refresh"), sub: UserId, sid: SessionId, gen: Schema.Int })
)

const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
