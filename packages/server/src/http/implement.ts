import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Context, Effect, Layer, Record, Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { withLocation } from "./answers/location.ts"
import { resolveKeys } from "./request/idOfKey.ts"
import { unknownInputCheck } from "./request/unknownInputCheck.ts"

/**
 * Like `HttpApiBuilder.group`, but its handlers reject unknown input, resolve keys in paths and set
 * `Location`. The context of the handlers contains only the middleware, because the framework
 * merges it into the context of each request. If it contained all services, every request would
 * copy two maps of sixty entries.
 */
export const implement: typeof HttpApiBuilder.group = (api, name, build) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<never>) => {
      const rules = rulesOf(api, name)
      const resolving = resolveKeys(Context.getUnsafe(services, SqlClient.SqlClient))
      const buildOnServices = (handlers: Parameters<typeof build>[0]) => {
        const built: unknown = build(withRules(handlers, rules, resolving))
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
  readonly params?: Readonly<Record<string, string>>
}) => Effect.Effect<unknown, unknown, unknown>

interface Handlers {
  readonly handleAll: (handlers: Readonly<Record<string, Handler>>) => unknown
}

interface Rules {
  readonly check: ReturnType<typeof unknownInputCheck>
  readonly locate: ReturnType<typeof withLocation>
}

const rulesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  name: string
): ReadonlyMap<string, Rules> => {
  const rules = new Map<string, Rules>()
  HttpApi.reflect(api, {
    // Otherwise each group would describe the endpoints of all groups.
    predicate: ({ group }) => group.identifier === name,
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      rules.set(endpoint.identifier, {
        check: unknownInputCheck(endpoint),
        locate: withLocation(endpoint)
      })
    }
  })
  return rules
}

/** Returns the same handlers, but `handleAll` wraps each in the rules of its endpoint. */
const withRules = <All>(
  handlers: All,
  rules: ReadonlyMap<string, Rules>,
  resolving: (handler: Handler) => Handler
): All =>
  Object.create(handlers as object, {
    handleAll: {
      value: (all: Readonly<Record<string, Handler>>) =>
        (handlers as Handlers).handleAll(
          Record.map(all, (handler, name) =>
            withInputCheck(resolving(withLocationHeader(handler, rules.get(name))), rules.get(name))
          )
        )
    }
  })

const withLocationHeader = (handler: Handler, rules: Rules | undefined): Handler => {
  const locate = rules?.locate
  return locate === undefined
    ? handler
    : (request) => locate(request.params ?? {}, handler(request))
}

const withInputCheck = (handler: Handler, rules: Rules | undefined): Handler => {
  const check = rules?.check
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
}

/**
 * Reduces the context to the middleware. The cast hides missing services: a handler that requests a
 * service during a request would not find it.
 */
const onlyMiddleware = <All, Needed>(services: Context.Context<All>) =>
  middleware(services) as Context.Context<unknown> as Context.Context<Needed>

const middleware = Context.pick(Authentication, ApiKeysRefused, ErrorShape, Scope.Scope)
