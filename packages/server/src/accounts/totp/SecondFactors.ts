import { InvalidCode, TotpRequired } from "@scheduling/domain/auth/AuthErrors"
import { recoveryCodeCount, type TotpSecret, type TotpStatus } from "@scheduling/domain/auth/Totp"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { mac, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import {
  normalizeCode,
  encodeBase32,
  makeRecoveryCode,
  makeTotpSecret,
  findTimeStep,
  totpUri
} from "./totp.ts"
import { TotpRepo, type TotpRow } from "./TotpRepo.ts"

const noPendingFactor =
  "No second factor is waiting to be confirmed. Start with POST /v1/auth/totp/start."

export class SecondFactors extends Context.Service<
  SecondFactors,
  {
    readonly get: (userId: string) => Effect.Effect<TotpStatus>
    readonly start: (user: UserRow) => Effect.Effect<TotpSecret, Conflict>
    /**
     * Enables the second factor, deletes password reset links, and returns the recovery codes. Call
     * it in a transaction.
     */
    readonly confirm: (
      user: UserRow,
      code: Redacted.Redacted
    ) => Effect.Effect<ReadonlyArray<Redacted.Redacted>, InvalidCode | Conflict>
    /**
     * Finds the second factor for a login. Call it before the password is checked, even if there is
     * no account, so that the response time does not reveal which users have a second factor.
     */
    readonly find: (userId: string | undefined) => Effect.Effect<Option.Option<TotpRow>>
    /** Checks a code and consumes it. Returns false if there is no second factor. */
    readonly check: (
      factor: Option.Option<TotpRow>,
      code: Redacted.Redacted | undefined
    ) => Effect.Effect<boolean, TotpRequired | InvalidCode>
    /** Removes the second factor and deletes password reset links. Call it in a transaction. */
    readonly remove: (userId: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/totp/SecondFactors") {
  static readonly layer: Layer.Layer<SecondFactors, never, Secrets | TotpRepo | UserLinksRepo> =
    Layer.effect(
      SecondFactors,
      Effect.gen(function* () {
        const links = yield* UserLinksRepo
        const repo = yield* TotpRepo
        const secrets = yield* Secrets
        const totpKeys = secrets.keys("totp")
        const codeKeys = secrets.keys("recovery-code")

        /**
         * Decrypts the secret. Returns undefined if the encryption key is no longer configured.
         * Recovery codes work even then.
         */
        const openSecret = (row: TotpRow) => {
          const secret = unsealIfKnown(totpKeys, row.user_id, row.sealed_secret)
          return secret === undefined ? undefined : Buffer.from(secret, "base64url")
        }

        const hashesOf = (userId: string, code: string) =>
          codeKeys.map((key) => mac(key, `${userId}:${normalizeCode(code)}`))

        const useStep = Effect.fnUntraced(function* (row: TotpRow, code: string) {
          const secret = openSecret(row)
          if (secret === undefined) {
            yield* Effect.logWarning(
              "cannot check a second factor: it was encrypted with an APP_SECRET that is not configured (APP_SECRET_PREVIOUS)"
            )
            return false
          }
          const step = findTimeStep(secret, normalizeCode(code), yield* DateTime.nowAsDate)
          return step !== undefined && (yield* repo.updateStep(row.user_id, step))
        })

        return SecondFactors.of({
          get: Effect.fn("SecondFactors.get")(function* (userId) {
            const row = Option.getOrUndefined(yield* repo.find(userId))
            const enabled = row !== undefined && row.confirmed_at !== null
            return { enabled, recovery_codes_left: enabled ? yield* repo.countCodes(userId) : 0 }
          }),

          start: Effect.fn("SecondFactors.start")(function* ({ email, id }) {
            const secret = makeTotpSecret()
            const sealed = seal(totpKeys, id, secret.toString("base64url"))
            if (!(yield* repo.insert(id, sealed, yield* DateTime.nowAsDate))) {
              return yield* new Conflict({
                resource: "user",
                message: "Your account already has a second factor. Remove it first."
              })
            }
            const toRedacted = (text: string) => Redacted.make(text, { label: "totp" })
            return {
              secret: toRedacted(encodeBase32(secret)),
              uri: toRedacted(totpUri(secret, email))
            }
          }),

          confirm: Effect.fn("SecondFactors.confirm")(function* ({ id }, code) {
            const row = Option.getOrUndefined(yield* repo.find(id))
            if (row === undefined || row.confirmed_at !== null) {
              return yield* new Conflict({ resource: "user", message: noPendingFactor })
            }
            if (!(yield* useStep(row, Redacted.value(code)))) return yield* new InvalidCode()
            if (!(yield* repo.updateConfirmed(id, yield* DateTime.nowAsDate))) {
              return yield* new Conflict({ resource: "user", message: noPendingFactor })
            }
            yield* links.removeAny(id, "password reset")
            const codes = Array.from({ length: recoveryCodeCount }, makeRecoveryCode)
            yield* repo.insertCodes(
              id,
              codes.flatMap((text) => hashesOf(id, text).slice(0, 1))
            )
            return codes.map((text) => Redacted.make(text, { label: "code" }))
          }),

          find: (userId) => repo.find(userId ?? nobody),

          check: Effect.fn("SecondFactors.check")(function* (factor, code) {
            const row = Option.getOrUndefined(factor)
            if (row === undefined || row.confirmed_at === null) return false
            if (code === undefined) return yield* new TotpRequired()
            const text = Redacted.value(code)
            if (yield* useStep(row, text)) return true
            if (yield* repo.removeCode(row.user_id, hashesOf(row.user_id, text))) return true
            return yield* new InvalidCode()
          }),

          remove: Effect.fn("SecondFactors.remove")(function* (userId) {
            yield* links.removeAny(userId, "password reset")
            return yield* repo.remove(userId)
          })
        })
      })
    )
}

const nobody = "00000000-0000-0000-0000-000000000000"
