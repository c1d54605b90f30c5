import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { routerConfig } from "./Routes.ts"

const routerLayer = HttpRouter.layer.pipe(
  Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig))
)

/**
 * Provides an application with the router in which its layers register their routes. The server
 * provides the per-request services of a route, so the layer does not require them. The framework's
 * own `toHttpEffect` has the same types, but would build the application again for each use.
 */
export const withRouter = <A, E, R>(
  application: Layer.Layer<A, E, R>,
  router: Layer.Layer<HttpRouter.HttpRouter> = routerLayer
) =>
  Layer.provideMerge(application, router) as Layer.Layer<
    A | HttpRouter.HttpRouter,
    HttpRouter.Request.Without<E>,
    Exclude<HttpRouter.Request.Without<R>, HttpRouter.HttpRouter>
  >
