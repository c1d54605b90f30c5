import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Context, Effect, Layer, Record, Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { unknownInputCheck } from "./request/refuseUnknownInput.ts"

/**
 * `HttpApiBuilder.group` with handlers that refuse unknown input, and that are built in a context
 * of the middleware only. The framework merges that context into the context of each request. With
 * all services in it, every request would copy two tables of sixty entries.
 */
export const implement: typeof HttpApiBuilder.group = (api, name, build) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<never>) => {
      const checks = checksOf(api, name)
      const buildOnServices = (handlers: Parameters<typeof build>[0]) => {
        const built: unknown = build(checking(handlers, checks))
        const provided = Effect.isEffect(built) ? Effect.provideContext(built, services) : built
        return provided as ReturnType<typeof build>
      }
      return Layer.build(HttpApiBuilder.group(api, name, buildOnServices)).pipe(
        Effect.updateContext(onlyMiddleware)
      )
    })
  )

type Handler = (request: {
  readonly request: HttpServerRequest.HttpServerRequest
}) => Effect.Effect<unknown, unknown, unknown>

interface Handlers {
  readonly handleAll: (handlers: Readonly<Record<string, Handler>>) => unknown
}

type Checks = ReadonlyMap<string, ReturnType<typeof unknownInputCheck>>

const checksOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  name: string
): Checks => {
  const checks = new Map<string, ReturnType<typeof unknownInputCheck>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (group.identifier === name) checks.set(endpoint.identifier, unknownInputCheck(endpoint))
    }
  })
  return checks
}

/** The same handlers, whose `handleAll` puts the check of its endpoint before each. */
const checking = <All>(handlers: All, checks: Checks): All =>
  Object.create(handlers as object, {
    handleAll: {
      value: (all: Readonly<Record<string, Handler>>) =>
        (handlers as Handlers).handleAll(
          Record.map(all, (handler, name): Handler => {
            const check = checks.get(name)
            if (check === undefined) return handler
            return (request) => {
              const refused = check(request.request)
              return refused === undefined
                ? handler(request)
                : Effect.andThen(
                    refused,
                    Effect.suspend(() => handler(request))
                  )
            }
          })
        )
    }
  })

/**
 * The cast hides missing services: a handler that asks for a service during a request would not
 * find it.
 */
const onlyMiddleware = <All, Needed>(services: Context.Context<All>) =>
  middleware(services) as Context.Context<unknown> as Context.Context<Needed>

const middleware = Context.pick(Authentication, ApiKeysRefused, ErrorShape, Scope.Scope)
