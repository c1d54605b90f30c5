import { UserId } from "@scheduling/domain/shared/Ids"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Data, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { RequestOrigin } from "../../http/index.ts"
import { transactionOf } from "../../store/index.ts"
import { Accounts } from "../Accounts.ts"
import { AccountReclaims } from "../AccountReclaims.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"

/**
 * Why somebody whom the provider has identified cannot sign in. The sign-in page explains each
 * reason.
 */
export type ProviderSignInProblem =
  | "not_configured"
  | "email_unverified"
  | "domain_not_allowed"
  | "registration_closed"
  | "linked_otherwise"
  | "account_disabled"

export class ProviderSignInRefused extends Data.TaggedError("ProviderSignInRefused")<{
  readonly problem: ProviderSignInProblem
}> {}

/** A person as identified by an issuer, which has verified the person's email. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  readonly name: string | undefined
}

/**
 * Finds the accounts of people whom an identity provider or an authenticating proxy has identified.
 */
export class LinkedAccounts extends Context.Service<
  LinkedAccounts,
  {
    /** Finds the account by its identity, links it by its email, or creates it. */
    readonly findOrCreate: (
      identity: Identity,
      rules: {
        readonly mayRegister: boolean
        /**
         * False if a new account needs no workspace, because the person becomes a member of an
         * existing one.
         */
        readonly hasWorkspace: boolean
      },
      origin: RequestOrigin
    ) => Effect.Effect<UserRow, ProviderSignInRefused | RateLimited>
  }
>()("@scheduling/server/accounts/oidc/LinkedAccounts") {
  static readonly layer: Layer.Layer<
    LinkedAccounts,
    never,
    | AccountReclaims
    | Accounts
    | AuditLog
    | IdentitiesRepo
    | SessionsRepo
    | SqlClient.SqlClient
    | UserLinksRepo
    | UsersRepo
  > = Layer.effect(
    LinkedAccounts,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const accounts = yield* Accounts
      const reclaims = yield* AccountReclaims
      const audit = yield* AuditLog
      const identities = yield* IdentitiesRepo
      const sessions = yield* SessionsRepo
      const links = yield* UserLinksRepo
      const users = yield* UsersRepo

      const link = Effect.fnUntraced(function* (
        user: UserRow,
        { issuer, subject }: Identity,
        origin: RequestOrigin
      ) {
        const created_at = yield* DateTime.nowAsDate
        if (!(yield* identities.insert({ issuer, subject, user_id: user.id, created_at }))) {
          return yield* new ProviderSignInRefused({ problem: "linked_otherwise" })
        }
        yield* audit.recordForAccount("identity.linked", user.id, {
          actor_id: UserId.make(user.id),
          origin,
          details: { issuer }
        })
      })

      /**
       * Links an existing account. If the account's email was never verified, a stranger may have
       * registered the account, so its password, sessions and keys are revoked.
       */
      const linkExisting = Effect.fnUntraced(function* (
        user: UserRow,
        identity: Identity,
        origin: RequestOrigin
      ) {
        const isVerified = user.email_verified_at !== null
        const to = isVerified ? user.password_hash : yield* accounts.unknownPassword(origin)
        return yield* transaction(
          Effect.gen(function* () {
            if (!isVerified) {
              const change = { id: user.id, from: user.password_hash, to }
              if (!(yield* users.removePassword(change))) {
                return yield* new ProviderSignInRefused({ problem: "linked_otherwise" })
              }
              yield* sessions.removeAll(user.id)
              yield* links.removeRequested(user.id)
              yield* reclaims.reclaim(user, origin)
            }
            yield* link(user, identity, origin)
            return { ...user, password_hash: to }
          })
        )
      })

      return LinkedAccounts.of({
        findOrCreate: Effect.fn("LinkedAccounts.findOrCreate")(function* (
          identity,
          { hasWorkspace, mayRegister },
          origin
        ) {
          const { email, issuer, name, subject } = identity
          const known = yield* identities.findUser(issuer, subject)
          if (Option.isSome(known)) return known.value
          if (email === undefined) {
            return yield* new ProviderSignInRefused({ problem: "email_unverified" })
          }
          const existing = yield* users.findByEmail(email)
          if (Option.isSome(existing)) return yield* linkExisting(existing.value, identity, origin)
          if (!mayRegister) {
            return yield* new ProviderSignInRefused({ problem: "registration_closed" })
          }
          const password_hash = yield* accounts.unknownPassword(origin)
          return yield* transaction(
            Effect.gen(function* () {
              const user = yield* accounts.createVerified(
                { email, name, password_hash, hasWorkspace },
                origin
              )
              yield* link(user, identity, origin)
              return user
            })
          ).pipe(
            Effect.catchTag("EmailTaken", () =>
              Effect.fail(new ProviderSignInRefused({ problem: "linked_otherwise" }))
            )
          )
        })
      })
    })
  )
}
