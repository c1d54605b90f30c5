import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { routerConfig } from "./Routes.ts"

const routerLayer = HttpRouter.layer.pipe(
  Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig))
)

/**
 * Gives an application the router in which its layers register their routes. What a route needs of
 * each request comes from the server, so it is no requirement of the layer. The framework's own
 * `toHttpEffect` says so in its types too, but it would build the application once more for each use.
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
