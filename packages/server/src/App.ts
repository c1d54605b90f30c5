import { Api } from "@scheduling/domain/Api"
import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccountsLayer, BootstrapLayer } from "./accounts/index.ts"
import { BillingLayer } from "./billing/index.ts"
import { CoreLayer, NodeLayer } from "./core/index.ts"
import { withCompletionRoute, EngineLayer } from "./engine/index.ts"
import { DefinitionsLayer } from "./definitions/index.ts"
import { EventsLayer } from "./events/index.ts"
import {
  allowedMethods,
  acceptsDataWithoutCredential,
  HttpLayer,
  requireCanonicalUrl,
  serveRoutes,
  Shutdown,
  withRouter
} from "./http/index.ts"
import { IncidentsLayer } from "./incidents/index.ts"
import { LiveLayer } from "./live/index.ts"
import { MailLayer } from "./mail/index.ts"
import { MonitoringLayer, handlePingsOr } from "./monitoring/index.ts"
import { NotificationsLayer } from "./notifications/index.ts"
import { ControlSocketLayer, MetricsServerLayer, OperationsLayer } from "./operations/index.ts"
import { PanelLayer } from "./panel/index.ts"
import { PlansLayer } from "./plans/index.ts"
import { CheckedSecretsLayer, DatabaseClockLayer } from "./store/index.ts"
import { SearchLayer } from "./search/index.ts"
import { SecretsLayer } from "./secrets/index.ts"
import { StatusPagesLayer } from "./status-pages/index.ts"
import { TasksLayer } from "./tasks/index.ts"
import { withClaimRoute, WorkersLayer } from "./workers/index.ts"

/** The contract's routes. The modules provide their handlers. */
const ApiRoutes = HttpApiBuilder.layer(Api)

/**
 * All modules. A module may use only the modules below it, as `scripts/modules.ts` defines. The
 * first account is created when all modules have subscribed to changes of accounts.
 */
export const Modules = Layer.mergeAll(ApiRoutes, PanelLayer, BootstrapLayer).pipe(
  Layer.provideMerge(OperationsLayer),
  Layer.provideMerge([LiveLayer, SearchLayer, StatusPagesLayer]),
  Layer.provideMerge(DefinitionsLayer),
  Layer.provideMerge(BillingLayer),
  Layer.provideMerge(WorkersLayer),
  Layer.provideMerge(NotificationsLayer),
  Layer.provideMerge(MonitoringLayer),
  Layer.provideMerge(IncidentsLayer),
  Layer.provideMerge(TasksLayer),
  Layer.provideMerge(SecretsLayer),
  Layer.provideMerge(AccountsLayer),
  Layer.provideMerge(EngineLayer),
  Layer.provideMerge(MailLayer),
  Layer.provideMerge(PlansLayer),
  Layer.provideMerge(HttpLayer),
  Layer.provideMerge(EventsLayer),
  Layer.provideMerge([CheckedSecretsLayer, DatabaseClockLayer]),
  Layer.provideMerge(CoreLayer)
)

/** The modules, and the router in which they have registered their routes. */
const Application = withRouter(Modules)

/**
 * The service whose value is the function that handles requests. Pings, completions and claims
 * bypass the router, because they are frequent.
 */
class Answer extends Context.Service<Answer, Effect.Success<typeof makeAnswer>>()(
  "@scheduling/server/App/Answer"
) {}

const makeAnswer = Effect.map(HttpRouter.HttpRouter, (router) => router.asHttpEffect()).pipe(
  Effect.flatMap(handlePingsOr),
  Effect.flatMap(withCompletionRoute),
  Effect.flatMap(withClaimRoute)
)

const routeDetails = {
  allowedMethods: allowedMethods(Api),
  givesCredentials: acceptsDataWithoutCredential(Api)
}

/**
 * A node of the service. It requires a database, a configuration, a socket and logs. The server
 * receives only the finished `Answer` and not the modules' services, because every request carries
 * the server's context with it.
 */
export const AppLayer = Layer.unwrap(
  Effect.map(Answer, (answer) => serveRoutes(requireCanonicalUrl(answer), routeDetails))
).pipe(
  Layer.provide(Layer.effect(Answer, makeAnswer).pipe(Layer.provide(Application))),
  Layer.provide([Shutdown.layer, NodeLayer])
)

export const MetricsLayer = MetricsServerLayer.pipe(Layer.provide(Application))

/** Receives the operator's commands. Each process has one such layer. */
export const ControlLayer = ControlSocketLayer.pipe(Layer.provide(Application))
