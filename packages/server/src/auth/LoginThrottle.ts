import type { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mac, Secrets } from "../platform/Secrets.ts"
import { networkOf } from "../platform/networkOf.ts"

/** Counts passwords, above all wrong ones, in the database, so that all nodes share one count and a restart keeps it. */
export class LoginThrottle extends Context.Service<
  LoginThrottle,
  {
    /**
     * Runs a check of somebody's password. A failure is counted before the check and taken back
     * after a right password: guesses sent all at once cannot slip through between check and count.
     * A check that found no place in the queue of hashes told nobody anything and counts for nothing.
     */
    readonly guard: <A, R>(
      guess: Guess,
      check: Effect.Effect<A, InvalidCredentials | RateLimited, R>
    ) => Effect.Effect<A, InvalidCredentials | RateLimited, R>
    /** Each new account costs a hash too: one address must not fill the queue that logins wait in. */
    readonly countRegistration: (ip: string | null) => Effect.Effect<void, RateLimited>
  }
>()("@scheduling/server/auth/LoginThrottle") {
  static readonly layer: Layer.Layer<LoginThrottle, never, SqlClient.SqlClient | Secrets> =
    Layer.effect(
      LoginThrottle,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [key] = (yield* Secrets).keys("login-throttle")

        /** Hashed: people type passwords into the email field too. */
        const accountOf = ({ account }: Guess) => mac(key, `account:${account}`)
        const addressOf = (ip: string | null, counted: "ip" | "registrations") =>
          ip === null ? undefined : mac(key, `${counted}:${networkOf(ip)}`)

        const countAttempt = (subject: string, now: Date) => sql<{
          failures: number
          attempts: number
          window_ends_at: Date
        }>`
        INSERT INTO login_throttle (subject, failures, attempts, window_ends_at)
        VALUES (${subject}, 1, 1, ${windowEnd(now)})
        ON CONFLICT (subject) DO UPDATE
        SET failures = CASE WHEN login_throttle.window_ends_at <= ${now} THEN 1 ELSE login_throttle.failures + 1 END,
            attempts = CASE WHEN login_throttle.window_ends_at <= ${now} THEN 1 ELSE login_throttle.attempts + 1 END,
            window_ends_at = CASE WHEN login_throttle.window_ends_at <= ${now} THEN EXCLUDED.window_ends_at
                                  ELSE login_throttle.window_ends_at END
        RETURNING failures, attempts, window_ends_at`

        const count = Effect.fnUntraced(function* (subject: string, allowed: Allowance) {
          const now = yield* DateTime.nowAsDate
          const [row] = yield* Effect.orDie(countAttempt(subject, now))
          if (
            row !== undefined &&
            (row.failures > allowed.failures || row.attempts > allowed.attempts)
          ) {
            return yield* new RateLimited({ retry_after: secondsUntil(row.window_ends_at, now) })
          }
        })

        const takeBack = (subject: string) =>
          sql`
        UPDATE login_throttle
        SET failures = greatest(failures - 1, 0), attempts = greatest(attempts - 1, 0)
        WHERE subject = ${subject}`.pipe(Effect.orDie)

        const takeBackFailure = (subject: string) =>
          sql`
        UPDATE login_throttle
        SET failures = failures - 1
        WHERE subject = ${subject} AND failures > 0`.pipe(Effect.orDie)

        const forgiveFailures = (subject: string) =>
          sql`
        UPDATE login_throttle
        SET failures = 0
        WHERE subject = ${subject}`.pipe(Effect.orDie)

        return LoginThrottle.of({
          guard: Effect.fnUntraced(function* (guess, check) {
            const account = accountOf(guess)
            const address = addressOf(guess.ip, "ip")
            // The address first: one that is shut out cannot go on to shut people out of accounts.
            if (address !== undefined) yield* count(address, ofAddress)
            yield* count(account, ofAccount)
            const result = yield* Effect.tapErrorTag(
              check,
              "RateLimited",
              Effect.fnUntraced(function* () {
                yield* takeBack(account)
                if (address !== undefined) yield* takeBack(address)
              })
            )
            yield* forgiveFailures(account)
            if (address !== undefined) yield* takeBackFailure(address)
            return result
          }),

          countRegistration: (ip) => {
            const address = addressOf(ip, "registrations")
            return address === undefined ? Effect.void : count(address, ofRegistrations)
          }
        })
      })
    )
}

interface Guess {
  readonly account: string
  readonly ip: string | null
}

/** How much of each there may be in a window. */
interface Allowance {
  readonly failures: number
  /** Right or wrong: each costs a hash. */
  readonly attempts: number
}

const ofAccount: Allowance = { failures: 10, attempts: 100 }
const ofAddress: Allowance = { failures: 50, attempts: 500 }
const ofRegistrations: Allowance = { failures: 50, attempts: 50 }
const windowMs = 15 * 60 * 1000

const windowEnd = (now: Date) => new Date(now.getTime() + windowMs)

const secondsUntil = (end: Date, now: Date) =>
  Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000))
