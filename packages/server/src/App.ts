import { NodeHttpServer } from "@effect/platform-node"
import { Api } from "@scheduling/domain/Api"
import { RoutedWorkerApi } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeys } from "./accounts/api-keys/ApiKeys.ts"
import { ExpiringKeysLayer } from "./accounts/api-keys/ExpiringKeys.ts"
import { KeyUses } from "./accounts/api-keys/KeyUses.ts"
import { AccountEvents } from "./accounts/AccountEvents.ts"
import { Accounts } from "./accounts/Accounts.ts"
import { FirstAccount } from "./accounts/auth/FirstAccount.ts"
import { Auth } from "./accounts/auth/Auth.ts"
import { RequestRates } from "./accounts/auth/RequestRates.ts"
import { ApiKeysRefusedLayer, AuthenticationLayer } from "./accounts/auth/Authentication.ts"
import { ChangeMails } from "./accounts/auth/ChangeMails.ts"
import { EmailLinks } from "./accounts/email/EmailLinks.ts"
import { emailLinkRoutesLayer } from "./accounts/email/linkRoutes.ts"
import { Logins } from "./accounts/sessions/Logins.ts"
import { Throttle } from "./accounts/throttle/Throttle.ts"
import { Passwords } from "./accounts/passwords/Passwords.ts"
import { PasswordResets } from "./accounts/passwords/PasswordResets.ts"
import { SecondFactors } from "./accounts/totp/SecondFactors.ts"
import { Reclaiming } from "./accounts/Reclaiming.ts"
import { TotpSettings } from "./accounts/totp/TotpSettings.ts"
import { Tokens } from "./accounts/sessions/Tokens.ts"
import { Chains } from "./tasks/chains/Chains.ts"
import { StepRequests } from "./tasks/chains/StepRequests.ts"
import { Billing } from "./billing/Billing.ts"
import { KeepingToPlans, KeepingToPlansLayer } from "./billing/KeepingToPlans.ts"
import { Provider } from "./billing/Provider.ts"
import { Subscriptions } from "./billing/Subscriptions.ts"
import { Syncing, SyncingLayer } from "./billing/Syncing.ts"
import { webhookRouteLayer } from "./billing/webhookRoute.ts"
import { CalendarReader } from "./tasks/calendars/CalendarReader.ts"
import { Calendars, CalendarsLayer } from "./tasks/calendars/Calendars.ts"
import { CronTasks } from "./tasks/cron/CronTasks.ts"
import { DelayedTasks } from "./tasks/delayed/DelayedTasks.ts"
import { EventStreams } from "./live/EventStreams.ts"
import { Queues } from "./tasks/queues/Queues.ts"
import { Executions } from "./tasks/executions/Executions.ts"
import { Reruns } from "./tasks/executions/Reruns.ts"
import { Activities } from "./tasks/activity/Activities.ts"
import { Forecasts } from "./tasks/forecast/Forecasts.ts"
import { UsageCounterLayer } from "./billing/UsageCounter.ts"
import { StatsRollUpLayer } from "./tasks/executions/StatsRollUp.ts"
import { AppConfig } from "./core/config/Config.ts"
import { ErrorShapeLayer } from "./http/answers/Errors.ts"
import { serve } from "./http/HttpServer.ts"
import { Ids } from "./core/Ids.ts"
import { allowedMethods, givesCredentials, inOneSpelling, routerConfig } from "./http/Routes.ts"
import { Stopping } from "./http/Stopping.ts"
import { Waiting } from "./http/Waiting.ts"
import { Call } from "@scheduling/calls/Call"
import { LiveChangesLayer } from "./events/Changes.ts"
import { Endings } from "./events/Endings.ts"
import { ListeningLayer } from "./events/Listening.ts"
import { Failures, LoopHealth } from "./core/Loop.ts"
import { MetricsExportLayer, TracingLayer } from "./core/collector/Otlp.ts"
import { Meters, NodeMeters } from "./core/Meters.ts"
import { Channels } from "./notifications/channels/Channels.ts"
import { Confirming } from "./notifications/channels/Confirming.ts"
import { Deliveries } from "./notifications/deliveries/Deliveries.ts"
import { Disabling } from "./notifications/channels/Disabling.ts"
import { FollowAccountsLayer } from "./notifications/channels/followAccounts.ts"
import { linkRoutesLayer } from "./notifications/channels/linkRoutes.ts"
import { Letters } from "./mail/Letters.ts"
import { Mailer } from "./mail/Mailer.ts"
import { CallingBackLayer } from "./notifications/callbacks/callingBack.ts"
import { NotifierLayer } from "./notifications/Notifier.ts"
import { Sender } from "./notifications/sending/Sender.ts"
import { Settings } from "./notifications/settings/Settings.ts"
import { Sorter } from "./notifications/sorting/Sorter.ts"
import { Starter } from "./notifications/channels/Starter.ts"
import { Transmitter } from "./notifications/sending/Transmitter.ts"
import { OutboxBell, OutboxDoorbell } from "./events/OutboxBell.ts"
import { panelLayer } from "./panel/panel.ts"
import { AwaitedRuns, AwaitedRunsOfNode } from "./engine/awaiting/AwaitedRuns.ts"
import { Partitions } from "./engine/Partitions.ts"
import { Runner } from "./engine/runner/Runner.ts"
import { defaultRunnerOptions, RunnerOptions } from "./engine/RunnerOptions.ts"
import { RunQueue } from "./engine/RunQueue.ts"
import { Signals } from "./events/Signals.ts"
import { OutgoingCalls } from "./engine/OutgoingCalls.ts"
import { Handlers } from "./Handlers.ts"
import { Repositories } from "./Repositories.ts"
import { CheckedSecretsLayer } from "./store/AppSecretCheck.ts"
import { docsLayer } from "./operations/docs.ts"
import { echoLayer } from "./operations/echo.ts"
import { HousekeepingLayer } from "./operations/Housekeeping.ts"
import { ResealingLayer } from "./operations/Resealing.ts"
import { metricsRouteLayer, MetricsServerLayer } from "./operations/metrics.ts"
import { ProcessMetersLayer } from "./operations/processMeters.ts"
import { SelfWatch } from "./operations/SelfWatch.ts"
import { SettingRightLayer } from "./operations/SettingRight.ts"
import { DatabaseClockLayer } from "./store/DbClock.ts"
import { Limits } from "./plans/Limits.ts"
import { Incidents } from "./monitoring/incidents/Incidents.ts"
import { Deadlines, DeadlinesLayer } from "./monitoring/heartbeat/Deadlines.ts"
import { Heartbeats } from "./monitoring/heartbeat/Heartbeats.ts"
import { completionsOr } from "./engine/completions/completionRoute.ts"
import { Completions } from "./engine/completions/Completions.ts"
import { CompletionUrls } from "./engine/completions/CompletionUrls.ts"
import { pingsOr } from "./monitoring/heartbeat/pingRoute.ts"
import { Pings } from "./monitoring/heartbeat/Pings.ts"
import { PingUrls } from "./monitoring/heartbeat/PingUrls.ts"
import { Processes, SilencesLayer } from "./monitoring/process/Processes.ts"
import { ProcessMonitors } from "./monitoring/process/ProcessMonitors.ts"
import { Looks, LooksLayer } from "./monitoring/ssl/Looks.ts"
import { SslMonitors } from "./monitoring/ssl/SslMonitors.ts"
import { TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { MonitorsCleaningLayer } from "./monitoring/Cleaning.ts"
import { MonitorRecords } from "./monitoring/MonitorRecords.ts"
import { Monitors } from "./monitoring/Monitors.ts"
import { StatusChanges } from "./monitoring/StatusChanges.ts"
import { AuditChain } from "./accounts/audit/AuditChain.ts"
import { ControlSocketLayer } from "./operations/operator/ControlSocket.ts"
import { Invitations } from "./accounts/members/Invitations.ts"
import { Members } from "./accounts/members/Members.ts"
import { GivenRuns } from "./engine/workers/GivenRuns.ts"
import { Claims } from "./workers/protocol/Claims.ts"
import { claimsOr } from "./workers/protocol/claimRoute.ts"
import { Dispatch } from "./workers/protocol/Dispatch.ts"
import { WorkerProtocolHandlers } from "./workers/protocol/http.ts"
import { Results } from "./workers/protocol/Results.ts"
import { AbsencesLayer, AgentSessions } from "./workers/protocol/AgentSessions.ts"
import { WorkerAdmission } from "./workers/protocol/WorkerAdmission.ts"
import { WorkerAuthenticationLayer } from "./workers/protocol/WorkerAuthentication.ts"
import { Workers } from "./workers/Workers.ts"
import { Workspaces } from "./accounts/workspaces/Workspaces.ts"

// Read from the bottom: the store carries the repositories, they the services, they the routes.

const Middleware = Layer.mergeAll(AuthenticationLayer, ApiKeysRefusedLayer, ErrorShapeLayer)

const ApiRoutes = HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers), Layer.provide(Middleware))

const WorkerRoutes = HttpApiBuilder.layer(RoutedWorkerApi).pipe(
  Layer.provide(WorkerProtocolHandlers),
  Layer.provide([WorkerAuthenticationLayer, ErrorShapeLayer])
)

const Services = Layer.mergeAll(
  Accounts.layer,
  FirstAccount.layer,
  TotpSettings.layer,
  PasswordResets.layer,
  Invitations.layer,
  ApiKeys.layer,
  Auth.layer,
  Calendars.layer,
  CronTasks.layer,
  DelayedTasks.layer,
  Chains.layer,
  StepRequests.layer,
  Queues.layer,
  Monitors.layer,
  Heartbeats.layer,
  SslMonitors.layer,
  ProcessMonitors.layer,
  Looks.layer,
  Pings.layer,
  Deadlines.layer,
  Incidents.layer,
  Channels.layer,
  Billing.layer,
  Subscriptions.layer,
  Deliveries.layer,
  Reruns.layer,
  Forecasts.layer,
  Activities.layer,
  Workers.layer,
  Claims.layer,
  WorkerAdmission.layer,
  Completions.layer,
  Results.layer
).pipe(
  Layer.provideMerge([
    EmailLinks.layer,
    EventStreams.layer,
    SelfWatch.layer,
    Logins.layer,
    Workspaces.layer,
    Members.layer,
    Executions.layer,
    Settings.layer,
    AgentSessions.layer,
    Syncing.layer
  ]),
  Layer.provideMerge(Processes.layer),
  Layer.provide([Dispatch.layer, GivenRuns.layer]),
  Layer.provide(Partitions.layer),
  Layer.provide([MonitorRecords.layer, PingUrls.layer, TlsProbe.layer]),
  Layer.provide([StatusChanges.layer, CalendarReader.layer]),
  Layer.provide(Reclaiming.layer),
  Layer.provideMerge(ChangeMails.layer),
  Layer.provideMerge(FollowAccountsLayer),
  Layer.provideMerge(Confirming.layer),
  Layer.provideMerge([Disabling.layer, Letters.layer, Starter.layer, Transmitter.layer]),
  Layer.provideMerge([Mailer.layer, Call.layer, SecondFactors.layer, AuditChain.layer]),
  Layer.provideMerge(KeepingToPlans.layer),
  Layer.provide(RunQueue.layer),
  Layer.provideMerge(Limits.layer),
  Layer.provideMerge(Provider.layer),
  Layer.provide([AccountEvents.layer, Throttle.layer, Passwords.layer, Tokens.layer, KeyUses.layer])
)

/** The run engine. A node without it only answers the API and hears from others what has ended. */
const Engine = Layer.unwrap(
  Effect.map(AppConfig, ({ retentionDays, runner }) =>
    runner === "off"
      ? ListeningLayer
      : Layer.mergeAll(
          Runner.layer.pipe(
            Layer.provide(Partitions.layer),
            Layer.provide(Layer.succeed(RunnerOptions, { ...defaultRunnerOptions, retentionDays }))
          ),
          DeadlinesLayer,
          SettingRightLayer,
          CalendarsLayer,
          LooksLayer,
          AbsencesLayer,
          SilencesLayer,
          NotifierLayer.pipe(Layer.provide([Sender.layer, Sorter.layer, CallingBackLayer]))
        )
  )
)

/** These belong to this node, also if a process has several nodes. */
const NodeLayer = Layer.mergeAll(
  Layer.sync(LoopHealth, () => new Failures()),
  Layer.sync(AwaitedRunsOfNode, () => new AwaitedRuns()),
  Layer.sync(Meters, () => new NodeMeters()),
  Layer.sync(OutboxBell, () => new OutboxDoorbell()),
  DatabaseClockLayer
).pipe((own) => Layer.provideMerge(TracingLayer, own))

/** Provides what everything else stands on. Each layer is made once. */
const onServices = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  layer.pipe(
    Layer.provide(Services),
    Layer.provide(Repositories),
    Layer.provide([CompletionUrls.layer, RequestRates.layer, Waiting.layer]),
    Layer.provide([OutgoingCalls, Endings.layer, LiveChangesLayer, Stopping.layer]),
    Layer.provide([Ids.layer, CheckedSecretsLayer, Signals.layer]),
    Layer.provide(NodeLayer),
    Layer.provide(NodeHttpServer.layerHttpServices)
  )

const Routes = Layer.mergeAll(
  ApiRoutes,
  WorkerRoutes,
  docsLayer(Api),
  panelLayer,
  metricsRouteLayer,
  echoLayer,
  linkRoutesLayer,
  emailLinkRoutesLayer,
  webhookRouteLayer
)

/** All that the router has, for whoever compares it with what `allowedMethods` knows. */
export const RoutesLayer = onServices(Routes)

const makeAnswer = HttpRouter.toHttpEffect(Routes).pipe(
  Effect.provideService(HttpRouter.RouterConfig, routerConfig),
  Effect.flatMap(pingsOr),
  Effect.flatMap(completionsOr),
  Effect.flatMap(claimsOr)
)

class Answer extends Context.Service<Answer, Effect.Success<typeof makeAnswer>>()(
  "@scheduling/server/App/Answer"
) {}

const routeFacts = {
  allowedMethods: allowedMethods(Api),
  givesCredentials: givesCredentials(Api)
}

/**
 * Gets the finished answer instead of the services, because every request carries its context
 * along.
 */
const Serving = Layer.unwrap(
  Effect.map(Answer, (answer) => serve(inOneSpelling(answer), routeFacts))
).pipe(Layer.provide([onServices(Layer.effect(Answer, makeAnswer)), Stopping.layer, NodeLayer]))

/** Where Prometheus looks, if it has a port of its own. A process has one. */
export const MetricsLayer = onServices(MetricsServerLayer)

/** Where the operator's commands arrive. A process has one, however many nodes it is. */
export const ControlLayer = onServices(ControlSocketLayer)

/** The whole service. It needs a store, a configuration, a socket and logs. */
export const AppLayer = Layer.merge(
  Serving,
  onServices(
    Layer.mergeAll(
      Engine,
      HousekeepingLayer,
      ResealingLayer,
      ProcessMetersLayer,
      MetricsExportLayer,
      MonitorsCleaningLayer,
      SyncingLayer,
      KeepingToPlansLayer,
      StatsRollUpLayer,
      UsageCounterLayer,
      ExpiringKeysLayer
    )
  )
)
