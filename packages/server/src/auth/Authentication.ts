import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { InvalidApiKey, JwtOnly } from "@scheduling/domain/auth/AuthErrors"
import { Caller } from "@scheduling/domain/auth/Caller"
import { Access } from "@scheduling/domain/shared/Access"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Auth } from "./Auth.ts"
import { authorizationHeaders, parseBearer } from "./bearer.ts"
import { decideAccess } from "./decideAccess.ts"

/** Credential, then kind, workspace and scope; the handler and the body come after. */
export const AuthenticationLayer: Layer.Layer<Authentication, never, Auth> = Layer.effect(
  Authentication,
  Effect.map(Auth, (auth) =>
    Authentication.of(
      Effect.fnUntraced(function* (answer, { endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { params } = yield* HttpRouter.RouteContext
        const workspaceId = params["workspace_id"]
        const known = yield* auth.authenticate(
          parseBearer(authorizationHeaders(request)),
          workspaceId
        )
        const refusal = decideAccess(
          Context.getUnsafe(endpoint.annotations, Access),
          known.caller,
          workspaceId === undefined
            ? undefined
            : { id: workspaceId, is_member: "isMember" in known && known.isMember }
        )
        if (refusal !== undefined) return yield* refusal
        return yield* Effect.provideService(answer, Caller, known.caller)
      })
    )
  )
)

export const ApiKeysRefusedLayer: Layer.Layer<ApiKeysRefused, never, Auth> = Layer.effect(
  ApiKeysRefused,
  Effect.map(Auth, (auth) =>
    ApiKeysRefused.of(
      Effect.fnUntraced(function* (answer) {
        const credential = parseBearer(
          authorizationHeaders(yield* HttpServerRequest.HttpServerRequest)
        )
        if (credential.kind === "api_key") {
          yield* auth.authenticateKey(credential.key)
          return yield* new JwtOnly()
        }
        if (credential.kind === "malformed" && credential.isKey) return yield* new InvalidApiKey()
        return yield* answer
      })
    )
  )
)
