import type { ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"
import { newAccount, postRequest, newEmail, type Stopwatch } from "./senders.ts"
import { measureResponseTimes } from "./Stopwatch.ts"

/** The number of logins. Each account allows only ten failed logins in 15 minutes. */
const logins = 400

/** The number of accounts. Each receives at most ten requests, which its throttle permits. */
const accounts = 50

export const compareLoginTimes = async (server: ServerProcess, { take }: Stopwatch) => {
  const known: Array<string> = []
  const unknown: Array<string> = []
  for (let index = 0; index < accounts; index++) {
    known.push((await newAccount(server)).email)
    unknown.push(newEmail())
  }
  // Both kinds of email addresses receive the same number of requests, so that throttling takes the
  // same time for both.
  const attempt = (emails: ReadonlyArray<string>) => (round: number) =>
    take(
      postRequest("/v1/auth/login", {
        email: emails[round % accounts],
        password: "wrong horse battery staple"
      })
    )
  return measureResponseTimes(logins, {
    "wrong password": attempt(known),
    "unknown email": attempt(unknown)
  })
}
