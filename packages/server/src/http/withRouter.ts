import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { routerConfig } from "./Routes.ts"

const routerLayer = HttpRouter.layer.pipe(
  Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig))
)

/**
 * Gives an application the router in which its layers register their routes. The server provides
 * what a route needs of each request, so the layer does not require it. The framework's own
 * `toHttpEffect` has these types too, but would build the application again for each use.
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
