import { sendJson, type ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"
import { authenticatorCode } from "../../packages/server/test/accounts/totp/totp.ts"
import { newAccount, password, postRequest, type Stopwatch } from "./senders.ts"
import { measureResponseTimes } from "./Stopwatch.ts"

/**
 * The number of accounts. A single account is not enough, because each account allows only ten
 * wrong codes in 15 minutes.
 */
const accounts = 60
const guesses = 480

/** Creates an account with a second factor. Returns the account and one of its recovery codes. */
const newProtectedAccount = async (server: ServerProcess) => {
  const { email, token } = await newAccount(server)
  const started = await sendJson(server, "POST", "/v1/auth/totp/start", {
    token,
    body: { current_password: password }
  })
  const confirmed = await sendJson(server, "POST", "/v1/auth/totp/confirm", {
    token,
    body: { code: authenticatorCode(String(started.body.secret), Date.now()) }
  })
  return { email, code: String(confirmed.body.recovery_codes?.[0]) }
}

/** Replaces the last character of a code with a different valid character. */
const replaceLastCodeCharacter = (code: string) =>
  code.slice(0, -1) + (code.endsWith("2") ? "3" : "2")

export const compareCodeTimes = async (server: ServerProcess, { take }: Stopwatch) => {
  const ofNobody = await newProtectedAccount(server)
  const protectedAccounts: Array<typeof ofNobody> = []
  for (let index = 0; index < accounts; index++) {
    protectedAccounts.push(await newProtectedAccount(server))
  }
  const half = accounts / 2
  const attempt = (first: number, totpOf: (code: string) => string) => (round: number) => {
    const { code, email } = protectedAccounts[first + (round % half)] ?? ofNobody
    return take(postRequest("/v1/auth/login", { email, password, totp: totpOf(code) }))
  }
  return measureResponseTimes(guesses / 2, {
    "nearly a recovery code": attempt(0, replaceLastCodeCharacter),
    "no recovery code": attempt(half, () => ofNobody.code)
  })
}
