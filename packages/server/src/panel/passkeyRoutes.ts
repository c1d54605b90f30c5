import { Password } from "@scheduling/domain/auth/User"
import { uuidPattern } from "@scheduling/domain/shared/Ids"
import { label } from "@scheduling/domain/shared/Text"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Logins, Passkeys } from "../accounts/index.ts"
import { type panelPasskeyPaths, requestOrigin } from "../http/index.ts"
import {
  actorOfCookie,
  respondWithTokens,
  readJsonBodyAs,
  rejectOtherPages
} from "./pageRequests.ts"

/**
 * Routes for passkeys. Only the panel has them, because browsers offer its passkeys only to pages
 * at its address. Routes below the path of the session read its cookie, so an access token alone is
 * not enough to change passkeys.
 */
export const passkeyRoutesLayer: Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter | Logins | Passkeys
> = Layer.unwrap(
  Effect.gen(function* () {
    const logins = yield* Logins
    const passkeys = yield* Passkeys
    const actor = actorOfCookie(logins)

    return Layer.mergeAll(
      route(
        "/panel/passkey/options",
        Effect.gen(function* () {
          return answer(yield* passkeys.beginSignIn(yield* requestOrigin))
        })
      ),

      route(
        "/panel/passkey",
        Effect.gen(function* () {
          const tokens = yield* passkeys.signIn(yield* readJsonBodyAs(SignIn), yield* requestOrigin)
          return yield* respondWithTokens(tokens)
        })
      ),

      route(
        "/panel/session/passkeys/list",
        Effect.gen(function* () {
          return answer(yield* passkeys.list(yield* actor))
        })
      ),

      route(
        "/panel/session/passkeys/options",
        Effect.gen(function* () {
          const { current_password } = yield* readJsonBodyAs(Proof)
          return answer(yield* passkeys.beginAdding(yield* actor, current_password))
        })
      ),

      route(
        "/panel/session/passkeys/add",
        Effect.gen(function* () {
          const input = yield* readJsonBodyAs(Addition)
          return answer(yield* passkeys.add(yield* actor, input))
        })
      ),

      route(
        "/panel/session/passkeys/rename",
        Effect.gen(function* () {
          const { id, name } = yield* readJsonBodyAs(Renaming)
          yield* passkeys.rename(yield* actor, id, name)
          return answer({})
        })
      ),

      route(
        "/panel/session/passkeys/remove",
        Effect.gen(function* () {
          const { current_password, id } = yield* readJsonBodyAs(Removal)
          yield* passkeys.remove(yield* actor, id, current_password)
          return answer({})
        })
      )
    )
  })
)

/** The credential of a passkey, which has about 2 kB. The library verifies its parts. */
const Credential = Schema.Record(Schema.String, Schema.Unknown).check(
  Schema.makeFilter((credential) => JSON.stringify(credential).length <= 32 * 1024, {
    expected: "a credential of at most 32 KiB"
  })
)

const Name = label(100, { description: "The name of the passkey.", examples: ["Laptop"] })
const PasskeyId = Schema.String.check(Schema.isPattern(uuidPattern))

const SignIn = Schema.Struct({ challenge: Schema.String, response: Credential })
const Addition = Schema.Struct({ challenge: Schema.String, response: Credential, name: Name })
const Proof = Schema.Struct({ current_password: Schema.optionalKey(Password) })
const Renaming = Schema.Struct({ id: PasskeyId, name: Name })
const Removal = Schema.Struct({ id: PasskeyId, current_password: Schema.optionalKey(Password) })

const route = <E, R>(
  path: (typeof panelPasskeyPaths)[number],
  handle: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => HttpRouter.add("POST", path, rejectOtherPages(handle))

const answer = (body: object) =>
  HttpServerResponse.jsonUnsafe(body, { headers: { "cache-control": "no-store" } })
