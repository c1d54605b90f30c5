import { InvalidCredentials, type InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import {
  Conflict,
  NotFound,
  type RateLimited,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse
} from "@simplewebauthn/server"
import { Context, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isIP } from "node:net"
import { AppConfig, Ids } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { timestampOf, transactionOf } from "../../store/index.ts"
import { type AccountAction, AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import { AccountChangeMails } from "../auth/AccountChangeMails.ts"
import { IdentitiesRepo } from "../oidc/IdentitiesRepo.ts"
import { makeOwnerCheck } from "../passwords/makeOwnerCheck.ts"
import { Passwords } from "../passwords/Passwords.ts"
import { Logins } from "../sessions/Logins.ts"
import { proxyIssuer } from "../proxy/proxyIssuer.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { findTokenUser } from "../users/findTokenUser.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"
import { Challenges } from "./Challenges.ts"
import { type PasskeyRow, PasskeysRepo } from "./PasskeysRepo.ts"

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly last_used_at: string | null
  readonly created_at: string
}

/**
 * The data that the browser needs to create or use a passkey (a WebAuthn ceremony). It sends
 * `challenge` back with its response.
 */
export interface Ceremony<Options> {
  readonly options: Options
  readonly challenge: string
}

export interface CeremonyResponse {
  readonly challenge: string
  /** The credential that the browser returned, as JSON. */
  readonly response: object
}

/**
 * Passkeys, with which people sign in to the control panel without a password. A passkey belongs to
 * the host name of the panel, so passkeys need `PUBLIC_URL`.
 */
export class Passkeys extends Context.Service<
  Passkeys,
  {
    readonly areAvailable: boolean
    readonly list: (actor: Actor) => Effect.Effect<
      {
        readonly data: ReadonlyArray<Passkey>
        /** True if adding or removing a passkey requires the password. */
        readonly has_password: boolean
      },
      InvalidToken
    >
    readonly beginAdding: (
      actor: Actor,
      password: Redacted.Redacted | undefined
    ) => Effect.Effect<
      Ceremony<PublicKeyCredentialCreationOptionsJSON>,
      Conflict | InvalidCredentials | InvalidToken | RateLimited | ValidationFailed
    >
    readonly add: (
      actor: Actor,
      input: CeremonyResponse & { readonly name: string }
    ) => Effect.Effect<Passkey, Conflict | InvalidCredentials | InvalidToken>
    readonly rename: (actor: Actor, id: string, name: string) => Effect.Effect<void, NotFound>
    readonly remove: (
      actor: Actor,
      id: string,
      password: Redacted.Redacted | undefined
    ) => Effect.Effect<
      void,
      Conflict | InvalidCredentials | InvalidToken | NotFound | RateLimited | ValidationFailed
    >
    readonly beginSignIn: (
      origin: RequestOrigin
    ) => Effect.Effect<Ceremony<PublicKeyCredentialRequestOptionsJSON>, Conflict | RateLimited>
    readonly signIn: (
      input: CeremonyResponse,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, Conflict | InvalidCredentials | RateLimited>
  }
>()("@scheduling/server/accounts/passkeys/Passkeys") {
  static readonly layer: Layer.Layer<
    Passkeys,
    never,
    | AppConfig
    | AuditLog
    | Challenges
    | AccountChangeMails
    | IdentitiesRepo
    | Ids
    | Logins
    | PasskeysRepo
    | Passwords
    | SessionsRepo
    | SqlClient.SqlClient
    | Throttle
    | UsersRepo
  > = Layer.effect(
    Passkeys,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const config = yield* AppConfig
      const { authProxyHeader, oidc, passwordLogin, publicUrl } = config
      const audit = yield* AuditLog
      const challenges = yield* Challenges
      const changeMails = yield* AccountChangeMails
      const identities = yield* IdentitiesRepo
      const ids = yield* Ids
      const logins = yield* Logins
      const repo = yield* PasskeysRepo
      const throttle = yield* Throttle
      const users = yield* UsersRepo
      const confirmOwner = makeOwnerCheck(throttle, yield* Passwords, yield* SessionsRepo, config)
      const hasPassword = (user: UserRow) => user.has_password && passwordLogin === "on"

      const party = partyOf(publicUrl)
      const relyingParty = Effect.suspend(() =>
        party === undefined
          ? Effect.fail(
              new Conflict({
                resource: "user",
                message: "Passkeys need a PUBLIC_URL with a host name instead of an IP address."
              })
            )
          : Effect.succeed(party)
      )

      const record = (action: AccountAction, { origin, user_id }: Actor, id: string) =>
        audit.recordForAccount(action, user_id, { actor_id: user_id, subject_id: id, origin })

      /** Fails if the account would be left without a way to sign in. */
      const requireOtherWay = Effect.fnUntraced(function* (user: UserRow, own: number) {
        if (own > 1 || hasPassword(user)) return
        const linked = yield* identities.list(user.id)
        const signsIn = ({ issuer }: { readonly issuer: string }) =>
          issuer === oidc?.issuer || (authProxyHeader !== undefined && issuer === proxyIssuer)
        if (linked.some(signsIn)) return
        return yield* new Conflict({
          resource: "user",
          message:
            "This passkey is the only way into your account. Add another passkey, or set a password first."
        })
      })

      const verifyUse = Effect.fnUntraced(function* (
        { challenge, response }: CeremonyResponse,
        passkey: PasskeyRow
      ) {
        const expectedChallenge = yield* challenges.read("sign in", challenge)
        if (expectedChallenge === undefined) return yield* unknownPasskey
        const expected = yield* relyingParty
        const { authenticationInfo, verified } = yield* Effect.tryPromise({
          try: () =>
            verifyAuthenticationResponse({
              ...expected,
              expectedChallenge,
              response: response as AuthenticationResponseJSON,
              credential: {
                id: passkey.credential_id,
                publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
                // The counter is checked when the use is recorded, so this check accepts any
                // counter.
                counter: 0
              },
              requireUserVerification: true
            }),
          catch: () => undefined
        }).pipe(Effect.catch(() => unknownPasskey))
        if (!verified || !(yield* challenges.use(expectedChallenge))) return yield* unknownPasskey
        return authenticationInfo.newCounter
      })

      const toNew = Effect.fnUntraced(function* (
        actor: Actor,
        { challenge, name, response }: CeremonyResponse & { readonly name: string }
      ) {
        const expectedChallenge = yield* challenges.read(`add to ${actor.user_id}`, challenge)
        if (expectedChallenge === undefined) return yield* expiredCeremony
        const expected = yield* relyingParty
        const { registrationInfo } = yield* Effect.tryPromise({
          try: () =>
            verifyRegistrationResponse({
              ...expected,
              expectedChallenge,
              response: response as RegistrationResponseJSON,
              requireUserVerification: true
            }),
          catch: () => undefined
        }).pipe(Effect.catch(() => expiredCeremony))
        if (registrationInfo === undefined || !(yield* challenges.use(expectedChallenge))) {
          return yield* expiredCeremony
        }
        const { counter, id, publicKey } = registrationInfo.credential
        return {
          id: yield* ids.next,
          user_id: actor.user_id,
          name,
          credential_id: id,
          public_key: Buffer.from(publicKey).toString("base64url"),
          counter: BigInt(counter),
          last_used_at: null,
          created_at: yield* DateTime.nowAsDate
        } satisfies PasskeyRow
      })

      return Passkeys.of({
        areAvailable: party !== undefined,

        list: Effect.fn("Passkeys.list")(function* (actor) {
          const user = yield* findTokenUser(users, actor.user_id)
          const data = (yield* repo.list(user.id)).map(toPasskey)
          return { data, has_password: hasPassword(user) }
        }),

        beginAdding: Effect.fn("Passkeys.beginAdding")(function* (actor, password) {
          const { expectedRPID } = yield* relyingParty
          const user = yield* findTokenUser(users, actor.user_id)
          yield* confirmOwner(user, password, actor)
          const known = yield* repo.list(user.id)
          if (known.length >= maxPasskeys) return yield* tooMany
          const { challenge, sealed } = yield* challenges.make(`add to ${user.id}`)
          const options = yield* Effect.promise(() =>
            generateRegistrationOptions({
              rpName: "Scheduling Service",
              rpID: expectedRPID,
              userName: user.email,
              userID: new Uint8Array(Buffer.from(user.id)),
              challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
              excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
              authenticatorSelection: { residentKey: "required", userVerification: "required" }
            })
          )
          return { options, challenge: sealed }
        }),

        add: Effect.fn("Passkeys.add")(function* (actor, input) {
          const passkey = yield* toNew(actor, input)
          return yield* transaction(
            Effect.gen(function* () {
              const user = yield* findTokenUser(users, actor.user_id)
              if (!(yield* users.lock(user.id, user.password_hash))) {
                return yield* expiredCeremony
              }
              if ((yield* repo.list(user.id)).length >= maxPasskeys) return yield* tooMany
              if (!(yield* repo.insert(passkey))) return yield* expiredCeremony
              yield* record("passkey.added", actor, passkey.id)
              yield* changeMails.send(user, "passkey added", actor.origin)
              return toPasskey(passkey)
            })
          )
        }),

        rename: Effect.fn("Passkeys.rename")(function* (actor, id, name) {
          if (!(yield* repo.updateName(actor.user_id, id, name))) return yield* noSuchPasskey
          yield* record("passkey.renamed", actor, id)
        }, transaction),

        remove: Effect.fn("Passkeys.remove")(function* (actor, id, password) {
          const user = yield* findTokenUser(users, actor.user_id)
          yield* confirmOwner(user, password, actor)
          yield* transaction(
            Effect.gen(function* () {
              // The account is locked, because otherwise two concurrent requests could remove its
              // last two passkeys.
              if (!(yield* users.lock(user.id, user.password_hash))) return yield* noSuchPasskey
              yield* requireOtherWay(user, (yield* repo.list(user.id)).length)
              if (!(yield* repo.remove(user.id, id))) return yield* noSuchPasskey
              yield* record("passkey.removed", actor, id)
              yield* changeMails.send(user, "passkey removed", actor.origin)
            })
          )
        }),

        beginSignIn: Effect.fn("Passkeys.beginSignIn")(function* (origin) {
          const { expectedRPID } = yield* relyingParty
          yield* throttle.count("passkey sign-ins", origin.ip)
          const { challenge, sealed } = yield* challenges.make("sign in")
          const options = yield* Effect.promise(() =>
            generateAuthenticationOptions({
              rpID: expectedRPID,
              challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
              userVerification: "required"
            })
          )
          return { options, challenge: sealed }
        }),

        signIn: Effect.fn("Passkeys.signIn")(function* (input, origin) {
          yield* throttle.count("passkey sign-ins", origin.ip)
          const found = yield* repo.findByCredential(String(Reflect.get(input.response, "id")))
          if (Option.isNone(found)) return yield* unknownPasskey
          const { passkey, user } = found.value
          const counter = yield* verifyUse(input, passkey)
          if (!(yield* repo.updateUsed(passkey.id, counter, yield* DateTime.nowAsDate))) {
            yield* audit.recordForAccount("passkey.clone_detected", user.id, {
              actor_id: null,
              subject_id: passkey.id,
              origin,
              details: { counter, last_counter: Number(passkey.counter) }
            })
            return yield* unknownPasskey
          }
          return yield* Effect.catchTag(
            logins.start(user, origin, { beganWith: "passkey" }),
            "PasswordReplaced",
            () => unknownPasskey
          )
        })
      })
    })
  )
}

/** The maximum number of passkeys per account. */
const maxPasskeys = 20

/**
 * Returns the relying party for passkeys. It must be a host name, because browsers do not allow an
 * IP address.
 */
const partyOf = (publicUrl: string | undefined) => {
  if (publicUrl === undefined) return undefined
  const { hostname, origin } = new URL(publicUrl)
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0
    ? { expectedOrigin: origin, expectedRPID: hostname }
    : undefined
}

const toPasskey = ({ created_at, id, last_used_at, name }: PasskeyRow): Passkey => ({
  id,
  name,
  last_used_at: last_used_at && timestampOf(last_used_at),
  created_at: timestampOf(created_at)
})

const unknownPasskey = Effect.suspend(() =>
  Effect.fail(
    new InvalidCredentials({
      message:
        "This passkey is unknown or was removed, or the sign-in took too long. Try again, or sign in another way."
    })
  )
)

const expiredCeremony = Effect.suspend(() =>
  Effect.fail(
    new InvalidCredentials({
      message:
        "The passkey was not added: it already exists, or adding it took too long. Start again."
    })
  )
)

const tooMany = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "user",
      message: `Your account has ${maxPasskeys} passkeys. Remove one first.`
    })
  )
)

const noSuchPasskey = Effect.suspend(() =>
  Effect.fail(new NotFound({ resource: "user", message: "Your account has no such passkey." }))
)
