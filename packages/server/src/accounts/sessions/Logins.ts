import {
  type InvalidCode,
  InvalidCredentials,
  InvalidRefreshToken,
  type PasswordLoginOff,
  type TotpRequired
} from "@scheduling/domain/auth/AuthErrors"
import type { Session, SignInMethod } from "@scheduling/domain/auth/Session"
import { refreshTokenSeconds, type TokenPair } from "@scheduling/domain/auth/TokenPair"
import { NotFound, RateLimited } from "@scheduling/domain/shared/Errors"
import { SessionId, UserId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { AppConfig, Ids } from "../../core/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { passwordLoginCheck } from "../passwords/passwordLoginCheck.ts"
import { Passwords } from "../passwords/Passwords.ts"
import { IdentitiesRepo } from "../oidc/IdentitiesRepo.ts"
import { ProviderSessions } from "../oidc/ProviderSessions.ts"
import { proxiedEmail } from "../proxy/proxiedEmail.ts"
import { proxyIssuer } from "../proxy/proxyIssuer.ts"
import { SecondFactors } from "../totp/SecondFactors.ts"
import { type SessionRow, SessionsRepo, toSession } from "./SessionsRepo.ts"
import type { TotpRow } from "../totp/TotpRepo.ts"
import { type RefreshClaims, Tokens } from "./Tokens.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"

export class Logins extends Context.Service<
  Logins,
  {
    readonly login: (
      credentials: {
        readonly email: string
        readonly password: Redacted.Redacted
        readonly totp?: Redacted.Redacted
      },
      origin: RequestOrigin
    ) => Effect.Effect<
      TokenPair,
      InvalidCredentials | InvalidCode | PasswordLoginOff | TotpRequired | RateLimited
    >
    /** Starts a session. `user` is the row whose password was checked. */
    readonly start: (
      user: UserRow,
      origin: RequestOrigin,
      how?: SessionStart
    ) => Effect.Effect<TokenPair, PasswordReplaced>
    readonly refresh: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, InvalidRefreshToken, HttpServerRequest.HttpServerRequest>
    /** Returns the user that a refresh token belongs to, without changing the token. */
    readonly findActor: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<Actor, InvalidRefreshToken>
    readonly list: (actor: Actor, query: PageQuery) => Effect.Effect<Page<Session>>
    readonly end: (actor: Actor, id: SessionId) => Effect.Effect<void, NotFound>
  }
>()("@scheduling/server/accounts/sessions/Logins") {
  static readonly layer: Layer.Layer<
    Logins,
    never,
    | AppConfig
    | AuditLog
    | IdentitiesRepo
    | Ids
    | Throttle
    | Passwords
    | ProviderSessions
    | SecondFactors
    | SessionsRepo
    | SqlClient.SqlClient
    | Tokens
    | UsersRepo
  > = Layer.effect(
    Logins,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const audit = yield* AuditLog
      const config = yield* AppConfig
      const factors = yield* SecondFactors
      const identities = yield* IdentitiesRepo
      const ids = yield* Ids
      const throttle = yield* Throttle
      const passwords = yield* Passwords
      const providerSessions = yield* ProviderSessions
      const requirePasswordLogin = yield* passwordLoginCheck
      const scope = yield* Effect.scope
      const sessions = yield* SessionsRepo
      const tokens = yield* Tokens
      const users = yield* UsersRepo

      const checkPassword = Effect.fnUntraced(function* (
        email: string,
        password: Redacted.Redacted,
        checkCode: (
          factor: Option.Option<TotpRow>
        ) => Effect.Effect<void, TotpRequired | InvalidCode>,
        ip: string | null
      ) {
        const row = Option.getOrUndefined(yield* users.findByEmail(email))
        const factor = yield* factors.find(row?.id)
        const matches = yield* passwords.verify(password, row?.password_hash, ip)
        if (row === undefined || !matches) return yield* new InvalidCredentials()
        yield* checkCode(factor)
        if (!passwords.isOutdated(row.password_hash)) return row
        const change = {
          id: row.id,
          from: row.password_hash,
          to: yield* passwords.hash(password, ip)
        }
        return (yield* users.updatePassword(change)) ? { ...row, password_hash: change.to } : row
      })

      /**
       * Creates a check of a code. If the login is retried, the check runs twice, but only the
       * first run consumes the code.
       */
      const makeCodeCheck = (code: Redacted.Redacted | undefined) => {
        let isChecked = false
        return (factor: Option.Option<TotpRow>) =>
          isChecked
            ? Effect.void
            : Effect.map(factors.check(factor, code), (wasUsed) => {
                isChecked = wasUsed
              })
      }

      /**
       * Handles a refresh token that a rotation has replaced. Within the grace period, two requests
       * may have used the token at the same time, or a response may have been lost. After the grace
       * period, the token was probably stolen, so the session ends.
       */
      const handleReuse = Effect.fnUntraced(function* (
        claims: RefreshClaims,
        now: Date,
        origin: RequestOrigin
      ) {
        const session = Option.getOrUndefined(yield* sessions.find(claims.session_id))
        if (session === undefined || session.expires_at <= now)
          return yield* new InvalidRefreshToken()
        const isPrevious = claims.generation === session.generation - 1
        const isRecent = now.getTime() - session.rotated_at.getTime() <= graceMs
        if (isPrevious && isRecent) return session
        yield* transaction(
          Effect.gen(function* () {
            if (!(yield* sessions.remove(session.user_id, session.id))) return
            yield* audit.recordForAccount("session.reuse_detected", session.user_id, {
              actor_id: null,
              subject_id: session.id,
              origin
            })
          })
        )
        return yield* new InvalidRefreshToken()
      })

      const readClaims = (token: Redacted.Redacted) =>
        Effect.mapError(tokens.verifyRefresh(token), () => new InvalidRefreshToken())

      const insertSession = Effect.fnUntraced(function* (
        user: UserRow,
        origin: RequestOrigin,
        { beganWith = "password", onStarted }: SessionStart
      ) {
        const now = yield* DateTime.nowAsDate
        const session: SessionRow = {
          id: yield* ids.next,
          user_id: user.id,
          user_agent: origin.user_agent,
          ip: origin.ip,
          began_with: beganWith,
          generation: 1,
          rotated_at: now,
          expires_at: refreshExpiry(now),
          created_at: now
        }
        const { password_hash } = user
        const isInserted = yield* sessions.insert(session, { password_hash, keep: maxSessions })
        if (!isInserted) return yield* new PasswordReplaced()
        if (onStarted !== undefined) yield* onStarted(session.id)
        yield* audit.recordForAccount("session.started", user.id, {
          actor_id: UserId.make(user.id),
          subject_id: session.id,
          origin,
          ...(beganWith !== "password" && { details: { began_with: beganWith } })
        })
        return session
      }, transaction)

      const start = Effect.fnUntraced(function* (
        user: UserRow,
        origin: RequestOrigin,
        how: SessionStart = {}
      ) {
        // Signing takes time, so it happens after the commit.
        return yield* tokens.issue(toClaims(yield* insertSession(user, origin, how)))
      })

      /** Returns whether the proxy still names the person who started the session. */
      const isNamedByProxy = Effect.fnUntraced(function* ({ user_id }: SessionRow) {
        const email = yield* proxiedEmail(config)
        if (email === undefined) return false
        const user = yield* identities.findUser(proxyIssuer, email)
        return Option.exists(user, ({ id }) => id === user_id)
      })

      const endUnlessVouchedFor = Effect.fnUntraced(function* (
        session: SessionRow,
        origin: RequestOrigin
      ) {
        const { began_with } = session
        if (began_with !== "provider" && began_with !== "proxy") return
        const check =
          began_with === "proxy" ? isNamedByProxy(session) : providerSessions.check(session, origin)
        if (yield* check) return
        yield* transaction(
          Effect.gen(function* () {
            if (!(yield* sessions.remove(session.user_id, session.id))) return
            yield* audit.recordForAccount("session.ended", session.user_id, {
              actor_id: null,
              subject_id: session.id,
              origin,
              details: { ended_by: began_with === "proxy" ? "proxy" : "identity provider" }
            })
          })
        )
        return yield* new InvalidRefreshToken()
      })

      return Logins.of({
        login: Effect.fn("Logins.login")(function* ({ email, password, totp }, origin) {
          yield* requirePasswordLogin
          if (!passwords.hasRoom(origin.ip)) return yield* new RateLimited({ retry_after: 1 })
          const checkCode = makeCodeCheck(totp)
          return yield* throttle
            .guard(
              { account: email, ip: origin.ip },
              checkPassword(email, password, checkCode, origin.ip)
            )
            .pipe(
              Effect.flatMap((user) => start(user, origin)),
              // Another login may have rehashed the same password after this login read the hash,
              // so this login is retried once.
              Effect.retry({ times: 1, while: ({ _tag }) => _tag === "PasswordReplaced" }),
              Effect.catchTag("PasswordReplaced", () => Effect.fail(new InvalidCredentials()))
            )
        }),

        start,

        refresh: Effect.fn("Logins.refresh")(function* (token, origin) {
          const claims = yield* readClaims(token)
          const now = yield* DateTime.nowAsDate
          const rotated = yield* sessions.rotate({
            id: claims.session_id,
            generation: claims.generation,
            now,
            expires_at: refreshExpiry(now)
          })
          const session = Option.isSome(rotated)
            ? rotated.value
            : yield* handleReuse(claims, now, origin)
          if (Option.isSome(rotated)) yield* endUnlessVouchedFor(session, origin)
          return yield* tokens.issue(toClaims(session))
        }),

        findActor: Effect.fn("Logins.findActor")(function* (token, origin) {
          const { generation, session_id, user_id } = yield* readClaims(token)
          const session = Option.getOrUndefined(yield* sessions.find(session_id))
          const now = yield* DateTime.nowAsDate
          if (session === undefined || session.expires_at <= now) {
            return yield* new InvalidRefreshToken()
          }
          if (session.generation !== generation)
            yield* handleReuse({ generation, session_id, user_id }, now, origin)
          return { kind: "jwt" as const, user_id, session_id, origin }
        }),

        list: Effect.fn("Logins.list")(function* (actor, query) {
          const page = pageRequest(query)
          const rows = yield* sessions.list(actor.user_id, yield* DateTime.nowAsDate, page)
          return toPage(rows, page, (row) => toSession(row, actor.session_id))
        }),

        end: Effect.fn("Logins.end")(function* (actor, id) {
          const revoke = yield* providerSessions.prepareRevocation(id)
          if (!(yield* sessions.remove(actor.user_id, id)))
            return yield* new NotFound({ resource: "session" })
          yield* audit.recordForAccount("session.ended", actor.user_id, {
            actor_id: actor.user_id,
            subject_id: id,
            origin: actor.origin
          })
          // A slow provider must not delay the response.
          yield* Effect.orDie(sql.afterCommit(Effect.forkIn(revoke, scope)))
        }, transaction)
      })
    })
  )
}

/** How a session starts. */
export interface SessionStart {
  /** Defaults to the password. */
  readonly beganWith?: SignInMethod
  /** Runs in the transaction that inserts the session. */
  readonly onStarted?: (sessionId: string) => Effect.Effect<void>
}

/** The password was changed after it was verified and before the session started. */
export class PasswordReplaced extends Data.TaggedError("PasswordReplaced") {}

/**
 * Maximum number of sessions per user. A further login ends the session that was not used for the
 * longest time.
 */
const maxSessions = 200

/**
 * How long an old refresh token is accepted, in case two tabs refresh at the same time or a
 * response is lost.
 */
const graceMs = 10_000

const refreshExpiry = (now: Date) => new Date(now.getTime() + refreshTokenSeconds * 1000)

const toClaims = ({ generation, id, rotated_at, user_id }: SessionRow) => ({
  session_id: SessionId.make(id),
  user_id: UserId.make(user_id),
  generation,
  rotated_at
})
