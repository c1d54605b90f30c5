import type { ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"
import { newAccount, posted, somebodysEmail, type Watch } from "./senders.ts"
import { race } from "./Stopwatch.ts"

/** An attacker has ten failed logins per account in 15 minutes. */
const logins = 400

/** Each account is asked for at most ten times, because its throttle would begin there. */
const accounts = 50

export const raceLogins = async (server: ServerProcess, { take }: Watch) => {
  const known: Array<string> = []
  const unknown: Array<string> = []
  for (let index = 0; index < accounts; index++) {
    known.push((await newAccount(server)).email)
    unknown.push(somebodysEmail())
  }
  // Both are asked for equally often, so that their throttles have as much to do.
  const attempt = (emails: ReadonlyArray<string>) => (round: number) =>
    take(
      posted("/v1/auth/login", {
        email: emails[round % accounts],
        password: "wrong horse battery staple"
      })
    )
  return race(logins, { "wrong password": attempt(known), "unknown email": attempt(unknown) })
}
