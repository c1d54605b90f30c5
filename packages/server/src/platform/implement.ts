import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Context, Effect, Layer, Scope } from "effect"
import { HttpApiBuilder } from "effect/http-api"

/**
 * `HttpApiBuilder.group`, whose handlers are made in a context of the middleware and nothing else.
 * The framework merges that context into the one of each request: with all services in it, that
 * copied two tables of sixty for every request.
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

/** The types say less than there is: what a handler asks for at a request would be missing then. */
const onlyMiddleware = <All, Needed>(services: Context.Context<All>) =>
  middleware(services) as Context.Context<unknown> as Context.Context<Needed>

const middleware = Context.pick(Authentication, ApiKeysRefused, ErrorShape, Scope.Scope)
