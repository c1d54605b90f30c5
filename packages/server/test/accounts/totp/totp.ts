import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { computeTotpCode, timeStepAt } from "../../../src/accounts/totp/totp.ts"
import { ask, type Member, password } from "../../support/http.ts"

/** Computes a code from the secret that was shown, as an authenticator app does. */
export const authenticatorCode = (secret: string, now: number) =>
  computeTotpCode(fromBase32(secret), timeStepAt(new Date(now)))

export const currentCode = (secret: string) =>
  Effect.map(Clock.currentTimeMillis, (now) => authenticatorCode(secret, now))

const fromBase32 = (text: string): Buffer => {
  const bits = [...text]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter))
    .map((five) => five.toString(2).padStart(5, "0"))
    .join("")
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => parseInt(byte, 2)) ?? [])
}

export const startTotp = Effect.fnUntraced(function* ({ access_token }: Member) {
  const started = yield* ask("POST", "/v1/auth/totp/start", {
    token: access_token,
    body: { current_password: password }
  })
  assert.strictEqual(started.status, 200, started.text)
  return String(started.body.secret)
})

/** Confirms the second factor. Returns the recovery codes. */
export const confirmTotp = Effect.fnUntraced(function* ({ access_token }: Member, secret: string) {
  const confirmed = yield* ask("POST", "/v1/auth/totp/confirm", {
    token: access_token,
    body: { code: yield* currentCode(secret) }
  })
  assert.strictEqual(confirmed.status, 200, confirmed.text)
  return confirmed.body.recovery_codes as ReadonlyArray<string>
})
