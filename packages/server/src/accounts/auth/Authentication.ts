import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import {
  InvalidApiKey,
  type InvalidToken,
  JwtOnly,
  type MissingCredentials
} from "@scheduling/domain/auth/AuthErrors"
import { CurrentWorkspace } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { authorize } from "../access/authorize.ts"
import { Auth } from "./Auth.ts"
import { authorizationHeaders, recheckIfLate } from "../../http/index.ts"
import { parseBearer } from "./bearer.ts"
import { decideAccess, type Refusal } from "./decideAccess.ts"
import { RequestRates } from "./RequestRates.ts"

/**
 * Checks the credential, its rate limit, its kind, the workspace and the scope, in this order. The
 * body and the handler follow. If the body arrives late, access is checked again.
 */
export const AuthenticationLayer: Layer.Layer<Authentication, never, Auth | RequestRates> =
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const auth = yield* Auth
      const rates = yield* RequestRates
      return Authentication.of((answer, { endpoint }) => {
        type Answer = Effect.Effect<
          Effect.Success<typeof answer>,
          Effect.Error<typeof answer> | Denial | RateLimited
        >
        const access = Context.getUnsafe(endpoint.annotations, Access)
        // Every request runs this code, so neither it nor `Auth` uses a generator, which would add
        // 5% to a list request.
        return Effect.flatMap(readCredential, (asked) => {
          const { ip, message, request, workspaceId } = asked
          return Effect.flatMap(
            auth.authenticate(asked.credential, workspaceId, ip),
            ({ principal }): Answer => {
              const limited = rates.take(message, principal)
              if (limited !== undefined) return Effect.fail(limited)
              const refusal = findRefusal(access, principal, workspaceId)
              if (refusal !== undefined) return Effect.fail(refusal)
              if (principal.kind === "api_key" && access.kind === "scope") {
                auth.noteUse(principal, access.scope)
              }
              return Effect.provideContext(
                recheckIfLate(request, answer, () => decide(auth, access, asked)),
                provideAccess(principal, workspaceId)
              )
            }
          )
        })
      })
    })
  )

export type Denial = MissingCredentials | InvalidToken | InvalidApiKey | Refusal

const findRefusal = (
  access: AccessRule,
  principal: Principal["Service"],
  workspaceId: string | undefined
) =>
  decideAccess(
    access,
    principal,
    workspaceId === undefined
      ? undefined
      : { id: workspaceId, role: principal.kind === "jwt" ? principal.role : null }
  )

/**
 * Provides the principal and the workspace of the path. The cast is safe without a workspace,
 * because `inWorkspace` does not compile for such an endpoint.
 */
const provideAccess = (
  principal: Principal["Service"],
  workspaceId: string | undefined
): Context.Context<Principal | CurrentWorkspace> => {
  const known = Context.make(Principal, principal)
  return workspaceId === undefined
    ? (known as Context.Context<Principal | CurrentWorkspace>)
    : Context.add(known, CurrentWorkspace, authorize(workspaceId))
}

const readCredential = Effect.withFiber(({ context }) => {
  const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  return Effect.succeed({
    request,
    message: NodeHttpServerRequest.toIncomingMessage(request),
    credential: parseBearer(authorizationHeaders(request)),
    ip: Option.getOrNull(request.remoteAddress),
    workspaceId: Context.getUnsafe(context, HttpRouter.RouteContext).params["workspace_id"]
  })
})

const decide = (
  auth: Auth["Service"],
  access: AccessRule,
  { credential, ip, workspaceId }: Effect.Success<typeof readCredential>
): Effect.Effect<void, Denial> =>
  Effect.flatMap(auth.authenticate(credential, workspaceId, ip), ({ principal }) => {
    const refusal = findRefusal(access, principal, workspaceId)
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  })

/** Returns an effect that checks whether the request still has access, for long-lived responses. */
export const makeAccessCheck = (
  auth: Auth["Service"],
  { annotations }: HttpApiEndpoint.Top
): Effect.Effect<Effect.Effect<void, Denial>> =>
  Effect.map(readCredential, (asked) => decide(auth, Context.getUnsafe(annotations, Access), asked))

export const ApiKeysRefusedLayer: Layer.Layer<ApiKeysRefused, never, Auth> = Layer.effect(
  ApiKeysRefused,
  Effect.map(Auth, (auth) =>
    ApiKeysRefused.of(
      Effect.fnUntraced(function* (answer) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const credential = parseBearer(authorizationHeaders(request))
        if (credential.kind === "api_key") {
          yield* auth.authenticateKey(credential.key, Option.getOrNull(request.remoteAddress))
          return yield* new JwtOnly()
        }
        if (credential.kind === "malformed" && credential.isKey) return yield* new InvalidApiKey()
        return yield* answer
      })
    )
  )
)
