import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { InvalidApiKey, JwtOnly } from "@scheduling/domain/auth/AuthErrors"
import { Caller } from "@scheduling/domain/auth/Caller"
import { Access } from "@scheduling/domain/shared/Access"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Auth } from "./Auth.ts"
import { authorizationHeaders, parseBearer } from "./bearer.ts"
import { decideAccess, type Refusal } from "./decideAccess.ts"

/** Credential, then kind, workspace and scope; the handler and the body come after. */
export const AuthenticationLayer: Layer.Layer<Authentication, never, Auth> = Layer.effect(
  Authentication,
  Effect.map(Auth, (auth) =>
    Authentication.of((answer, { endpoint }) => {
      type Answer = Effect.Effect<
        Effect.Success<typeof answer>,
        Effect.Error<typeof answer> | Refusal
      >
      const access = Context.getUnsafe(endpoint.annotations, Access)
      // Every request comes by: a generator here and one in `Auth` would be a twentieth of a list.
      return Effect.flatMap(credentialOfRequest, ({ credential, workspaceId }) =>
        Effect.flatMap(auth.authenticate(credential, workspaceId), (known): Answer => {
          const refusal = decideAccess(
            access,
            known.caller,
            workspaceId === undefined
              ? undefined
              : { id: workspaceId, is_member: "isMember" in known && known.isMember }
          )
          return refusal === undefined
            ? Effect.provideService(answer, Caller, known.caller)
            : Effect.fail(refusal)
        })
      )
    })
  )
)

const credentialOfRequest = Effect.withFiber(({ context }) =>
  Effect.succeed({
    credential: parseBearer(
      authorizationHeaders(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest))
    ),
    workspaceId: Context.getUnsafe(context, HttpRouter.RouteContext).params["workspace_id"]
  })
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
