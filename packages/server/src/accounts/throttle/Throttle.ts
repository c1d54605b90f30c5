import { mailboxOf } from "@scheduling/domain/auth/emailAddress"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs, mac, Secrets } from "../../core/index.ts"
import { networkOf } from "../../http/index.ts"

/**
 * Limits password checks, especially failed ones, and other costly unauthenticated requests. The
 * counts are stored in the database, so that all nodes share them and a restart does not reset
 * them.
 */
export class Throttle extends Context.Service<
  Throttle,
  {
    /**
     * Runs a password check. It is counted as a failure beforehand, which is undone if the password
     * is right, so that all concurrent guesses count. A check that is rejected because the queue of
     * hashes is full does not count.
     */
    readonly guard: <A, E extends { readonly _tag: string }, R>(
      guess: Guess,
      check: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | RateLimited, R>
    readonly count: (what: ThrottledAction, ip: string | null) => Effect.Effect<void, RateLimited>
    /** Counts an email against the limit of the account that requests or receives it. */
    readonly countMail: (what: ThrottledMail, account: string) => Effect.Effect<void, RateLimited>
    /**
     * Counts an email to somebody who has not agreed to receive emails. All such emails to an
     * address also count against a daily limit, regardless of which accounts cause them.
     */
    readonly countMailTo: (what: MailToStranger, email: string) => Effect.Effect<void, RateLimited>
    /** Adds one to a daily count that plans limit, and returns the new count. */
    readonly countOfDay: (what: "confirmations by", account: string) => Effect.Effect<number>
  }
>()("@scheduling/server/accounts/throttle/Throttle") {
  static readonly layer: Layer.Layer<Throttle, never, SqlClient.SqlClient | Secrets> = Layer.effect(
    Throttle,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [key] = (yield* Secrets).keys("login-throttle")

      /**
       * Hashes the account name, because users sometimes type their password into the email field.
       */
      const accountOf = ({ account }: Guess) => mac(key, `account:${account}`)
      const addressOf = (ip: string | null, counted: "ip" | ThrottledAction) =>
        ip === null ? undefined : mac(key, `${counted}:${networkOf(ip)}`)

      const countAttempt = (subject: string, now: Date, lasts: number) => sql<{
        failures: number
        attempts: number
        window_ends_at: Date
      }>`
        INSERT INTO login_throttle (subject, failures, attempts, window_ends_at)
        VALUES (${subject}, 1, 1, ${new Date(now.getTime() + lasts)})
        ON CONFLICT (subject) DO UPDATE
        SET failures = CASE WHEN login_throttle.window_ends_at <= ${now} THEN 1 ELSE login_throttle.failures + 1 END,
            attempts = CASE WHEN login_throttle.window_ends_at <= ${now} THEN 1 ELSE login_throttle.attempts + 1 END,
            window_ends_at = CASE WHEN login_throttle.window_ends_at <= ${now} THEN EXCLUDED.window_ends_at
                                  ELSE login_throttle.window_ends_at END
        RETURNING failures, attempts, window_ends_at`

      const countSubject = Effect.fnUntraced(function* (
        subject: string,
        allowed: Allowance,
        refused?: (seconds: number) => string
      ) {
        const now = yield* DateTime.nowAsDate
        const [row] = yield* Effect.orDie(countAttempt(subject, now, allowed.windowMs ?? windowMs))
        if (
          row !== undefined &&
          (row.failures > allowed.failures || row.attempts > allowed.attempts)
        ) {
          const retry_after = secondsUntil(row.window_ends_at, now)
          const message = refused?.(retry_after)
          return yield* new RateLimited({
            retry_after,
            ...(message === undefined ? {} : { message })
          })
        }
      })

      const uncount = (subject: string) =>
        sql`
        UPDATE login_throttle
        SET failures = greatest(failures - 1, 0), attempts = greatest(attempts - 1, 0)
        WHERE subject = ${subject}`.pipe(Effect.orDie)

      const uncountFailure = (subject: string) =>
        sql`
        UPDATE login_throttle
        SET failures = failures - 1
        WHERE subject = ${subject} AND failures > 0`.pipe(Effect.orDie)

      const forgiveFailures = (subject: string) =>
        sql`
        UPDATE login_throttle
        SET failures = 0
        WHERE subject = ${subject}`.pipe(Effect.orDie)

      return Throttle.of({
        guard: Effect.fnUntraced(function* (guess, check) {
          const account = accountOf(guess)
          const address = addressOf(guess.ip, "ip")
          // The IP address is counted first, so that a client with a blocked IP address cannot
          // block accounts.
          if (address !== undefined) yield* countSubject(address, addressAllowance)
          yield* countSubject(account, accountAllowance)
          const result = yield* Effect.tapError(
            check,
            Effect.fnUntraced(function* ({ _tag }) {
              if (_tag !== "RateLimited") return
              yield* uncount(account)
              if (address !== undefined) yield* uncount(address)
            })
          )
          yield* forgiveFailures(account)
          if (address !== undefined) yield* uncountFailure(address)
          return result
        }),

        countMail: (what, account) => countSubject(mac(key, `${what}:${account}`), mails[what]),

        countMailTo: Effect.fnUntraced(function* (what, email) {
          const mailbox = mailboxOf(email)
          const count = (counted: string, allowed: Allowance) =>
            countSubject(mac(key, `${counted}:${mailbox}`), allowed, tooManyMails)
          yield* count(what, mailsToStrangers[what])
          yield* count("mails to", allMailsToStranger)
        }),

        countOfDay: Effect.fn("Throttle.countOfDay")(function* (what, account) {
          const now = yield* DateTime.nowAsDate
          const [row] = yield* countAttempt(mac(key, `${what}:${account}`), now, dayMs)
          return row?.attempts ?? 0
        }, Effect.orDie),

        count: (what, ip) => {
          const address = addressOf(ip, what)
          return address === undefined ? Effect.void : countSubject(address, allowed[what])
        }
      })
    })
  )
}

const perWindow = (times: number): Allowance => ({ failures: times, attempts: times })
const perDay = (times: number): Allowance => ({ ...perWindow(times), windowMs: dayMs })

const allowed = {
  // This limit keeps one address from filling the queue of hashes, in which logins wait too.
  registrations: perWindow(50),
  "leaked keys": perWindow(100),
  "password resets": perWindow(20),
  "provider sign-ins": perWindow(200),
  "passkey sign-ins": perWindow(200),
  "sign-in links": perWindow(50),
  "email links": perWindow(50),
  "invitation previews": perWindow(100)
} satisfies Record<string, Allowance>

export type ThrottledAction = keyof typeof allowed

const mails = {
  "password resets of": perWindow(5),
  "email links of": perWindow(5),
  "invitations by": perWindow(50)
} satisfies Record<string, Allowance>

export type ThrottledMail = keyof typeof mails

const mailsToStrangers = {
  "confirmations to": perDay(5),
  "email links to": perWindow(5),
  "invitations to": perWindow(5),
  "password resets to": perWindow(5)
} satisfies Record<string, Allowance>

export type MailToStranger = keyof typeof mailsToStrangers

const allMailsToStranger = perDay(10)

const tooManyMails = (seconds: number) =>
  `Too many mails have been sent to this address. Try again in ${seconds} s.`

interface Guess {
  readonly account: string
  readonly ip: string | null
}

interface Allowance {
  readonly failures: number
  /** The maximum number of attempts, including successful ones. */
  readonly attempts: number
  /** The window's length. Defaults to 15 minutes. */
  readonly windowMs?: number
}

const accountAllowance: Allowance = { failures: 10, attempts: 100 }
const addressAllowance: Allowance = { failures: 50, attempts: 500 }
const windowMs = 15 * 60 * 1000

const secondsUntil = (end: Date, now: Date) =>
  Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000))
