import { NodeHttpServer } from "@effect/platform-node"
import { Api } from "@scheduling/domain/Api"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeyRepo } from "./api-keys/ApiKeyRepo.ts"
import { ApiKeys } from "./api-keys/ApiKeys.ts"
import { ApiKeysHandlers } from "./api-keys/http.ts"
import { LastUsed } from "./api-keys/LastUsed.ts"
import { Accounts } from "./auth/Accounts.ts"
import { Auth } from "./auth/Auth.ts"
import { ApiKeysRefusedLayer, AuthenticationLayer } from "./auth/Authentication.ts"
import { AuthHandlers } from "./auth/http.ts"
import { Logins } from "./auth/Logins.ts"
import { LoginThrottle } from "./auth/LoginThrottle.ts"
import { Passwords } from "./auth/Passwords.ts"
import { SessionsRepo } from "./auth/SessionsRepo.ts"
import { Tokens } from "./auth/Tokens.ts"
import { UsersRepo } from "./auth/UsersRepo.ts"
import { ChainRunsRepo } from "./chains/ChainRunsRepo.ts"
import { Chains } from "./chains/Chains.ts"
import { ChainsRepo } from "./chains/ChainsRepo.ts"
import { ChainsHandlers } from "./chains/http.ts"
import { CronTasks } from "./cron/CronTasks.ts"
import { CronTasksRepo } from "./cron/CronTasksRepo.ts"
import { CronHandlers } from "./cron/http.ts"
import { DelayedTasks } from "./delayed/DelayedTasks.ts"
import { DelayedTasksRepo } from "./delayed/DelayedTasksRepo.ts"
import { DelayedHandlers } from "./delayed/http.ts"
import { Executions } from "./executions/Executions.ts"
import { ExecutionsRepo } from "./executions/ExecutionsRepo.ts"
import { ExecutionStatsRepo } from "./executions/ExecutionStatsRepo.ts"
import { ExecutionsHandlers } from "./executions/http.ts"
import { StatsRollUpLayer } from "./executions/StatsRollUp.ts"
import { AppConfig } from "./Config.ts"
import { ErrorShapeLayer } from "./platform/Errors.ts"
import { serve } from "./platform/HttpServer.ts"
import { Idempotency } from "./platform/Idempotency.ts"
import { Ids } from "./platform/Ids.ts"
import { allowedMethods, givesCredentials, inOneSpelling, routerConfig } from "./platform/Routes.ts"
import { Secrets } from "./platform/Secrets.ts"
import { Stopping } from "./platform/Stopping.ts"
import { Waiting } from "./platform/Waiting.ts"
import { Call } from "./runner/Call.ts"
import { EgressAllow } from "./runner/Egress.ts"
import { Endings } from "./runner/Endings.ts"
import { ListeningLayer } from "./runner/Listening.ts"
import { Failures, LoopHealth } from "./runner/Loop.ts"
import { OwnEcho, ownEchoOf } from "./runner/OwnEcho.ts"
import { Partitions } from "./runner/Partitions.ts"
import { Runner } from "./runner/Runner.ts"
import { defaultRunnerOptions, RunnerOptions } from "./runner/RunnerOptions.ts"
import { RunQueue } from "./runner/RunQueue.ts"
import { Signals } from "./runner/Signals.ts"
import { docsLayer } from "./system/docs.ts"
import { echoLayer } from "./system/echo.ts"
import { HousekeepingLayer } from "./system/Housekeeping.ts"
import { HousekeepingRepo } from "./system/HousekeepingRepo.ts"
import { SystemHandlers } from "./system/http.ts"
import { AuditLog } from "./workspaces/AuditLog.ts"
import { WorkspacesHandlers } from "./workspaces/http.ts"
import { SigningSecrets } from "./workspaces/SigningSecrets.ts"
import { Workspaces } from "./workspaces/Workspaces.ts"
import { WorkspacesRepo } from "./workspaces/WorkspacesRepo.ts"

// Read it from the bottom: the store holds up the repositories, they the services, they the routes.

const Handlers = Layer.mergeAll(
  AuthHandlers,
  WorkspacesHandlers,
  ApiKeysHandlers,
  CronHandlers,
  DelayedHandlers,
  ChainsHandlers,
  ExecutionsHandlers,
  SystemHandlers
)

const Middleware = Layer.mergeAll(AuthenticationLayer, ApiKeysRefusedLayer, ErrorShapeLayer)

const ApiRoutes = HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers), Layer.provide(Middleware))

const DocsRoutes = docsLayer(Api)

const Services = Layer.mergeAll(
  Accounts.layer,
  ApiKeys.layer,
  Auth.layer,
  CronTasks.layer,
  DelayedTasks.layer,
  Chains.layer
).pipe(
  Layer.provideMerge([Logins.layer, Workspaces.layer, Executions.layer]),
  Layer.provide(RunQueue.layer),
  Layer.provide([LoginThrottle.layer, Passwords.layer, Tokens.layer, LastUsed.layer])
)

const Repositories = Layer.mergeAll(
  UsersRepo.layer,
  SessionsRepo.layer,
  WorkspacesRepo.layer,
  ApiKeyRepo.layer,
  AuditLog.layer,
  SigningSecrets.layer,
  CronTasksRepo.layer,
  DelayedTasksRepo.layer,
  ChainsRepo.layer,
  ChainRunsRepo.layer,
  ExecutionsRepo.layer,
  ExecutionStatsRepo.layer,
  Idempotency.layer,
  HousekeepingRepo.layer
)

/** Where tasks may call to beside the Internet. */
const Egress = Layer.unwrap(
  Effect.gen(function* () {
    const { egressAllow } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    return Layer.merge(
      Layer.succeed(EgressAllow, egressAllow),
      Layer.succeed(OwnEcho, ownEchoOf(HttpServer.formatAddress(address)))
    )
  })
)

/** The run engine. A node that only answers the API hears what the others end. */
const Engine = Layer.unwrap(
  Effect.map(AppConfig, ({ retentionDays, runner }) =>
    runner === "off"
      ? ListeningLayer
      : Runner.layer.pipe(
          Layer.provide([Call.layer, Partitions.layer]),
          Layer.provide(Layer.succeed(RunnerOptions, { ...defaultRunnerOptions, retentionDays }))
        )
  )
)

/** Of this node, also where a process has several. */
const LoopHealthLayer = Layer.sync(LoopHealth, () => new Failures())

/** What everything else stands on, made once for all that is provided with it. */
const onServices = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  layer.pipe(
    Layer.provide(Services),
    Layer.provide(Repositories),
    Layer.provide(Waiting.layer),
    Layer.provide([Egress, Endings.layer, Stopping.layer]),
    Layer.provide([Ids.layer, Secrets.layer, Signals.layer, LoopHealthLayer]),
    Layer.provide(NodeHttpServer.layerHttpServices)
  )

const makeAnswer = HttpRouter.toHttpEffect(Layer.mergeAll(ApiRoutes, DocsRoutes, echoLayer)).pipe(
  Effect.provideService(HttpRouter.RouterConfig, routerConfig)
)

class Answer extends Context.Service<Answer, Effect.Success<typeof makeAnswer>>()(
  "@scheduling/server/App/Answer"
) {}

/** Not made on the services, but given the answer that is: a request carries along what is here. */
const Serving = Layer.unwrap(
  Effect.map(Answer, (answer) =>
    serve(inOneSpelling(answer), {
      allowedMethods: allowedMethods(Api),
      givesCredentials: givesCredentials(Api)
    })
  )
).pipe(Layer.provide([onServices(Layer.effect(Answer, makeAnswer)), Stopping.layer]))

/** The whole service, on whatever store, secrets, configuration and socket it is given. */
export const AppLayer = Layer.merge(
  Serving,
  onServices(Layer.mergeAll(Engine, HousekeepingLayer, StatsRollUpLayer))
)
