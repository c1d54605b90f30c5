import { assert, layer } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Modules } from "../../src/App.ts"
import { AppConfig } from "../../src/core/config/Config.ts"
import { HttpServerLayer } from "../../src/http/HttpServer.ts"
import { allowedMethods } from "../../src/http/Routes.ts"
import { withRouter } from "../../src/http/withRouter.ts"
import { ask, statusAndError } from "../support/http.ts"
import { type Route, urlWithIds } from "../support/routes.ts"
import { testAppLayer, testConfig } from "../support/TestApp.ts"

/** Wraps the real router, and records the routes that are added to it. */
const noting = (added: Array<Route>) =>
  Layer.effect(
    HttpRouter.HttpRouter,
    Effect.map(HttpRouter.make, (router) => {
      const addAll: typeof router.addAll = (routes) => {
        added.push(...routes.map(({ method, path }) => ({ method, path })))
        return router.addAll(routes)
      }
      return HttpRouter.HttpRouter.of({
        ...router,
        addAll,
        add: (method, path, handler, options) =>
          addAll([HttpRouter.route(method, path, handler, options)])
      })
    })
  )

/** The route for the page that the panel shows at unknown URLs. */
const isLost = ({ path }: Route) => path === "/*"

layer(testAppLayer())("every route", (it) => {
  it.effect("is among the methods that its URL is said to support", () =>
    Effect.gen(function* () {
      const added: Array<Route> = []
      yield* Layer.build(
        withRouter(Modules, noting(added)).pipe(
          Layer.provide(Layer.fresh(HttpServerLayer)),
          Layer.provide(Layer.succeed(AppConfig, testConfig))
        )
      )
      assert.isAbove(added.length, 100)
      const allowed = allowedMethods(Api)
      const forgotten = added.filter(
        (route) => !isLost(route) && !allowed(urlWithIds(route.path)).includes(route.method)
      )
      assert.deepStrictEqual(forgotten, [])
    })
  )

  it.effect("of a link in a mail says what it supports", () =>
    Effect.gen(function* () {
      const answer = yield* ask("PUT", "/email/verify/a")
      assert.strictEqual(statusAndError(answer), "405 method_not_allowed")
      assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, POST")
    })
  )
})
