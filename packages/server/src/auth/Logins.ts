import { InvalidCredentials, InvalidRefreshToken } from "@scheduling/domain/auth/AuthErrors"
import type { Session } from "@scheduling/domain/auth/Session"
import { refreshTokenSeconds, type TokenPair } from "@scheduling/domain/auth/TokenPair"
import { NotFound, RateLimited } from "@scheduling/domain/shared/Errors"
import { SessionId, UserId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Ids } from "../platform/Ids.ts"
import { pageRequest, toPage } from "../platform/Pages.ts"
import type { RequestOrigin } from "../platform/RequestOrigin.ts"
import { transactionOf } from "../platform/transaction.ts"
import { AuditLog } from "../workspaces/AuditLog.ts"
import type { Actor } from "./currentActor.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { Passwords } from "./Passwords.ts"
import { type SessionRow, SessionsRepo, toSession } from "./SessionsRepo.ts"
import { type RefreshClaims, Tokens } from "./Tokens.ts"
import { type UserRow, UsersRepo } from "./UsersRepo.ts"

/** Logging in, staying logged in, and logging out. */
export class Logins extends Context.Service<
  Logins,
  {
    readonly login: (
      credentials: { readonly email: string; readonly password: Redacted.Redacted },
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, InvalidCredentials | RateLimited>
    /** A new session for a user whose password was right, with the row that it was right for. */
    readonly start: (
      user: UserRow,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, PasswordReplaced>
    readonly refresh: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, InvalidRefreshToken>
    readonly list: (actor: Actor, query: PageQuery) => Effect.Effect<Page<Session>>
    readonly end: (actor: Actor, id: SessionId) => Effect.Effect<void, NotFound>
  }
>()("@scheduling/server/auth/Logins") {
  static readonly layer: Layer.Layer<
    Logins,
    never,
    | AuditLog
    | Ids
    | LoginThrottle
    | Passwords
    | SessionsRepo
    | SqlClient.SqlClient
    | Tokens
    | UsersRepo
  > = Layer.effect(
    Logins,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const ids = yield* Ids
      const throttle = yield* LoginThrottle
      const passwords = yield* Passwords
      const sessions = yield* SessionsRepo
      const tokens = yield* Tokens
      const users = yield* UsersRepo

      const rightPassword = Effect.fnUntraced(function* (
        email: string,
        password: Redacted.Redacted,
        ip: string | null
      ) {
        const row = Option.getOrUndefined(yield* users.findByEmail(email))
        const matches = yield* passwords.verify(password, row?.password_hash, ip)
        if (row === undefined || !matches) return yield* new InvalidCredentials()
        if (!passwords.isOutdated(row.password_hash)) return row
        const change = {
          id: row.id,
          from: row.password_hash,
          to: yield* passwords.hash(password, ip)
        }
        return (yield* users.updatePassword(change)) ? { ...row, password_hash: change.to } : row
      })

      /** A token from before the last rotation: a race or a lost answer within the grace, theft after it. */
      const reuse = Effect.fnUntraced(function* (
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
              target_id: session.id,
              origin
            })
          })
        )
        return yield* new InvalidRefreshToken()
      })

      const start = Effect.fnUntraced(function* (user: UserRow, origin: RequestOrigin) {
        const now = yield* DateTime.nowAsDate
        const session: SessionRow = {
          id: yield* ids.next,
          user_id: user.id,
          user_agent: origin.user_agent,
          ip: origin.ip,
          generation: 1,
          rotated_at: now,
          expires_at: refreshExpiry(now),
          created_at: now
        }
        // Else a login that is under way while the password changes would outlive the change.
        if (!(yield* users.claim(user.id, user.password_hash))) return yield* new PasswordReplaced()
        // The row is held: no other login of this user is between these two.
        yield* sessions.removeIdlest(user.id, maxSessions - 1)
        yield* sessions.insert(session)
        yield* audit.recordForAccount("session.started", user.id, {
          actor_id: UserId.make(user.id),
          target_id: session.id,
          origin
        })
        return yield* tokens.issue(toClaims(session))
      }, transaction)

      return Logins.of({
        login: Effect.fn("Logins.login")(function* ({ email, password }, origin) {
          if (!passwords.hasRoom(origin.ip)) return yield* new RateLimited({ retry_after: 1 })
          return yield* throttle
            .guard({ account: email, ip: origin.ip }, rightPassword(email, password, origin.ip))
            .pipe(
              Effect.flatMap((user) => start(user, origin)),
              // Another login may only have hashed the same password anew: look once more.
              Effect.retry({ times: 1, while: ({ _tag }) => _tag === "PasswordReplaced" }),
              Effect.catchTag("PasswordReplaced", () => Effect.fail(new InvalidCredentials()))
            )
        }),

        start,

        refresh: Effect.fn("Logins.refresh")(function* (token, origin) {
          const claims = yield* Effect.mapError(
            tokens.verifyRefresh(token),
            () => new InvalidRefreshToken()
          )
          const now = yield* DateTime.nowAsDate
          const rotated = yield* sessions.rotate({
            id: claims.session_id,
            generation: claims.generation,
            now,
            expires_at: refreshExpiry(now)
          })
          const session = Option.isSome(rotated) ? rotated.value : yield* reuse(claims, now, origin)
          return yield* tokens.issue(toClaims(session))
        }),

        list: Effect.fn("Logins.list")(function* (actor, query) {
          const page = pageRequest(query)
          const rows = yield* sessions.list(actor.user_id, yield* DateTime.nowAsDate, page)
          return toPage(rows, page, (row) => toSession(row, actor.session_id))
        }),

        end: Effect.fn("Logins.end")(function* (actor, id) {
          if (!(yield* sessions.remove(actor.user_id, id)))
            return yield* new NotFound({ resource: "session" })
          yield* audit.recordForAccount("session.ended", actor.user_id, {
            actor_id: actor.user_id,
            target_id: id,
            origin: actor.origin
          })
        }, transaction)
      })
    })
  )
}

/** Between the check of the password and the start of the session. */
export class PasswordReplaced extends Data.TaggedError("PasswordReplaced") {}

/** A login more ends the one that was unused for longest. */
const maxSessions = 200

/** Two tabs that refresh at once, or an answer lost on the way. */
const graceMs = 10_000

const refreshExpiry = (now: Date) => new Date(now.getTime() + refreshTokenSeconds * 1000)

const toClaims = ({ generation, id, rotated_at, user_id }: SessionRow) => ({
  session_id: SessionId.make(id),
  user_id: UserId.make(user_id),
  generation,
  rotated_at
})
