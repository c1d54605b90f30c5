import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../core/index.ts"
import { EndSignals } from "../../events/index.ts"
import { transactionOf } from "../../store/index.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { IdentitiesRepo } from "../oidc/IdentitiesRepo.ts"
import { operatorOrigin } from "../operatorOrigin.ts"
import { PasskeysRepo } from "../passkeys/PasskeysRepo.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { SecondFactors } from "../totp/SecondFactors.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { AccountChangeMails } from "./AccountChangeMails.ts"

/** The ways in which an account's owner can sign in, for the operator's commands. */
export class SignInMethodsOfAccount extends Context.Service<
  SignInMethodsOfAccount,
  {
    /** Describes each way to sign in with a line of text. */
    readonly list: (user: UserRow) => Effect.Effect<ReadonlyArray<string>>
    /**
     * Removes the account's identities and ends its sessions. Returns how many identities were
     * removed.
     */
    readonly unlink: (user: UserRow) => Effect.Effect<number>
    /**
     * Removes the account's passkeys and ends its sessions. Returns how many passkeys were removed.
     */
    readonly removePasskeys: (user: UserRow) => Effect.Effect<number>
  }
>()("@scheduling/server/accounts/auth/SignInMethodsOfAccount") {
  static readonly layer: Layer.Layer<
    SignInMethodsOfAccount,
    never,
    | AppConfig
    | AuditLog
    | AccountChangeMails
    | EndSignals
    | IdentitiesRepo
    | PasskeysRepo
    | SecondFactors
    | SessionsRepo
    | SqlClient.SqlClient
  > = Layer.effect(
    SignInMethodsOfAccount,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const { passwordLogin } = yield* AppConfig
      const audit = yield* AuditLog
      const changeMails = yield* AccountChangeMails
      const endSignals = yield* EndSignals
      const factors = yield* SecondFactors
      const identities = yield* IdentitiesRepo
      const passkeys = yield* PasskeysRepo
      const sessions = yield* SessionsRepo

      const endSessions = Effect.fnUntraced(function* ({ id }: UserRow) {
        yield* sessions.removeAll(id)
        yield* Effect.orDie(sql.afterCommit(Effect.sync(() => endSignals.send([id]))))
      })

      const byOperator = { actor_id: null, origin: operatorOrigin }

      return SignInMethodsOfAccount.of({
        list: Effect.fn("SignInMethodsOfAccount.list")(function* (user) {
          const factor = yield* factors.get(user.id)
          const off = passwordLogin === "off" ? " (PASSWORD_LOGIN=off)" : ""
          const password = factor.enabled ? "password with a second factor" : "password"
          return [
            ...(user.has_password ? [`${password}${off}`] : []),
            ...(yield* passkeys.list(user.id)).map(({ name }) => `passkey "${name}"`),
            ...(yield* identities.list(user.id)).map(
              ({ issuer, subject }) => `identity "${subject}" at ${issuer}`
            )
          ]
        }),

        unlink: Effect.fn("SignInMethodsOfAccount.unlink")(function* (user) {
          const linked = yield* identities.list(user.id)
          if (linked.length === 0) return 0
          yield* identities.removeAll(user.id)
          yield* endSessions(user)
          yield* audit.recordForAccount("identity.unlinked", user.id, {
            ...byOperator,
            details: { issuers: linked.map(({ issuer }) => issuer) }
          })
          return linked.length
        }, transaction),

        removePasskeys: Effect.fn("SignInMethodsOfAccount.removePasskeys")(function* (user) {
          const removed = yield* passkeys.removeAll(user.id)
          if (removed === 0) return 0
          yield* endSessions(user)
          yield* audit.recordForAccount("passkey.removed", user.id, {
            ...byOperator,
            details: { removed }
          })
          yield* changeMails.send(user, "passkey removed", operatorOrigin)
          return removed
        }, transaction)
      })
    })
  )
}
