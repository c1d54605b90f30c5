import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Context, Effect, Layer, Scope } from "effect"
import { HttpApiBuilder } from "effect/http-api"

/**
 * `HttpApiBuilder.group` with handlers that are built in a context of the middleware only. The
 * framework merges that context into the context of each request. With all services in it, every
 * request copied two tables of sixty entries.
 */
export const implement: typeof HttpApiBuilder.group = (api, name, build) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<never>) => {
      const buildOnServices = (handlers: Parameters<typeof build>[0]) => {
        const built: unknown = build(handlers)
        const provided = Effect.isEffect(built) ? Effect.provideContext(built, services) : built
        return provided as ReturnType<typeof build>
      }
      return Layer.build(HttpApiBuilder.group(api, name, buildOnServices)).pipe(
        Effect.updateContext(onlyMiddleware)
      )
    })
  )

/**
 * The cast hides that services are missing: a handler that asks for one during a request would not
 * find it.
 */
const onlyMiddleware = <All, Needed>(services: Context.Context<All>) =>
  middleware(services) as Context.Context<unknown> as Context.Context<Needed>

const middleware = Context.pick(Authentication, ApiKeysRefused, ErrorShape, Scope.Scope)
