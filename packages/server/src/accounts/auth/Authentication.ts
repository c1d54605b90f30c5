import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import {
  InvalidApiKey,
  type InvalidToken,
  JwtOnly,
  type MissingCredentials
} from "@scheduling/domain/auth/AuthErrors"
import { CurrentWorkspace } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal, requesterOf } from "@scheduling/domain/auth/Principal"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { authorize } from "../access/authorize.ts"
import { Auth } from "./Auth.ts"
import { authorizationHeaders, recheckAccessAfterBody } from "../../http/index.ts"
import { parseBearer } from "./bearer.ts"
import { decideAccess, type AccessRefusal } from "./decideAccess.ts"
import { RequestRates } from "./RequestRates.ts"

/**
 * Checks the credential, its rate limit, its kind, the workspace and the scope, in this order,
 * before the body is read and the handler runs. If the body is not complete by then, or is long,
 * access is checked again once it has been read.
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
        // Every request runs this code. Neither it nor `Auth` uses a generator, which would make a
        // list request 5% slower.
        return Effect.flatMap(readCredential, (asked) => {
          const { ip, message, request, workspaceId } = asked
          return Effect.flatMap(
            auth.authenticate(asked.credential, workspaceId, ip),
            ({ principal }): Answer => {
              const limited = rates.take(message, requesterOf(principal))
              if (limited !== undefined) return Effect.fail(limited)
              const refusal = findRefusal(access, principal, workspaceId)
              if (refusal !== undefined) return Effect.fail(refusal)
              if (principal.kind === "api_key" && access.kind === "scope") {
                auth.noteUse(principal, access.scope)
              }
              return Effect.provideContext(
                recheckAccessAfterBody(request, answer, () => decide(auth, access, asked)),
                provideAccess(principal, workspaceId)
              )
            }
          )
        })
      })
    })
  )

export type Denial = MissingCredentials | InvalidToken | InvalidApiKey | AccessRefusal

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
 * Provides the principal and the path's workspace. The cast is safe even without a workspace,
 * because `inWorkspace` does not compile for an endpoint that has none.
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

/**
 * Creates an effect that checks whether the request still has access. It is used by long-lived
 * responses.
 */
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
