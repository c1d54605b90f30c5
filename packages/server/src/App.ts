import { NodeHttpServer } from "@effect/platform-node"
import { Api } from "@scheduling/domain/Api"
import { RoutedWorkerApi } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeys } from "./api-keys/ApiKeys.ts"
import { ExpiringKeysLayer } from "./api-keys/ExpiringKeys.ts"
import { KeyUses } from "./api-keys/KeyUses.ts"
import { AccountEvents } from "./access/AccountEvents.ts"
import { Accounts } from "./auth/Accounts.ts"
import { FirstAccount } from "./auth/FirstAccount.ts"
import { Auth } from "./auth/Auth.ts"
import { RequestRates } from "./auth/RequestRates.ts"
import { ApiKeysRefusedLayer, AuthenticationLayer } from "./auth/Authentication.ts"
import { ChangeMails } from "./auth/ChangeMails.ts"
import { EmailLinks } from "./auth/email/EmailLinks.ts"
import { emailLinkRoutesLayer } from "./auth/email/linkRoutes.ts"
import { Logins } from "./auth/sessions/Logins.ts"
import { Throttle } from "./throttle/Throttle.ts"
import { Passwords } from "./auth/passwords/Passwords.ts"
import { PasswordResets } from "./auth/passwords/PasswordResets.ts"
import { SecondFactors } from "./auth/totp/SecondFactors.ts"
import { Reclaiming } from "./auth/Reclaiming.ts"
import { TotpSettings } from "./auth/totp/TotpSettings.ts"
import { Tokens } from "./auth/sessions/Tokens.ts"
import { Chains } from "./chains/Chains.ts"
import { StepRequests } from "./chains/StepRequests.ts"
import { Billing } from "./billing/Billing.ts"
import { KeepingToPlans, KeepingToPlansLayer } from "./billing/KeepingToPlans.ts"
import { Provider } from "./billing/Provider.ts"
import { Subscriptions } from "./billing/Subscriptions.ts"
import { Syncing, SyncingLayer } from "./billing/Syncing.ts"
import { webhookRouteLayer } from "./billing/webhookRoute.ts"
import { CalendarReader } from "./calendars/CalendarReader.ts"
import { Calendars, CalendarsLayer } from "./calendars/Calendars.ts"
import { CronTasks } from "./cron/CronTasks.ts"
import { DelayedTasks } from "./delayed/DelayedTasks.ts"
import { EventStreams } from "./events/EventStreams.ts"
import { Queues } from "./queues/Queues.ts"
import { Executions } from "./executions/Executions.ts"
import { Reruns } from "./executions/Reruns.ts"
import { Activities } from "./activity/Activities.ts"
import { Forecasts } from "./forecast/Forecasts.ts"
import { UsageCounterLayer } from "./billing/UsageCounter.ts"
import { StatsRollUpLayer } from "./executions/StatsRollUp.ts"
import { AppConfig } from "./config/Config.ts"
import { ErrorShapeLayer } from "./http/answers/Errors.ts"
import { serve } from "./http/HttpServer.ts"
import { Ids } from "./platform/Ids.ts"
import { allowedMethods, givesCredentials, inOneSpelling, routerConfig } from "./http/Routes.ts"
import { Stopping } from "./http/Stopping.ts"
import { Waiting } from "./http/Waiting.ts"
import { Call } from "@scheduling/calls/Call"
import { LiveChangesLayer } from "./signals/Changes.ts"
import { Endings } from "./signals/Endings.ts"
import { ListeningLayer } from "./signals/Listening.ts"
import { Failures, LoopHealth } from "./platform/Loop.ts"
import { MetricsExportLayer, TracingLayer } from "./platform/collector/Otlp.ts"
import { Meters, NodeMeters } from "./platform/Meters.ts"
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
import { OutboxBell, OutboxDoorbell } from "./outbox/OutboxBell.ts"
import { panelLayer } from "./panel/panel.ts"
import { AwaitedRuns, AwaitedRunsOfNode } from "./queue/awaiting/AwaitedRuns.ts"
import { Partitions } from "./queue/Partitions.ts"
import { Runner } from "./runner/Runner.ts"
import { defaultRunnerOptions, RunnerOptions } from "./queue/RunnerOptions.ts"
import { RunQueue } from "./queue/RunQueue.ts"
import { Signals } from "./signals/Signals.ts"
import { OutgoingCalls } from "./OutgoingCalls.ts"
import { Handlers } from "./Handlers.ts"
import { Repositories } from "./Repositories.ts"
import { CheckedSecretsLayer } from "./system/AppSecretCheck.ts"
import { docsLayer } from "./system/docs.ts"
import { echoLayer } from "./system/echo.ts"
import { HousekeepingLayer } from "./system/Housekeeping.ts"
import { ResealingLayer } from "./system/Resealing.ts"
import { metricsRouteLayer, MetricsServerLayer } from "./system/metrics.ts"
import { ProcessMetersLayer } from "./system/processMeters.ts"
import { SelfWatch } from "./system/SelfWatch.ts"
import { SettingRightLayer } from "./system/SettingRight.ts"
import { DatabaseClockLayer } from "./sql/DbClock.ts"
import { Limits } from "./limits/Limits.ts"
import { Incidents } from "./incidents/Incidents.ts"
import { Deadlines, DeadlinesLayer } from "./monitors/heartbeat/Deadlines.ts"
import { Heartbeats } from "./monitors/heartbeat/Heartbeats.ts"
import { completionsOr } from "./completions/completionRoute.ts"
import { Completions } from "./completions/Completions.ts"
import { CompletionUrls } from "./completions/CompletionUrls.ts"
import { pingsOr } from "./monitors/heartbeat/pingRoute.ts"
import { Pings } from "./monitors/heartbeat/Pings.ts"
import { PingUrls } from "./monitors/heartbeat/PingUrls.ts"
import { Processes, SilencesLayer } from "./monitors/process/Processes.ts"
import { ProcessMonitors } from "./monitors/process/ProcessMonitors.ts"
import { Looks, LooksLayer } from "./monitors/ssl/Looks.ts"
import { SslMonitors } from "./monitors/ssl/SslMonitors.ts"
import { TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { MonitorsCleaningLayer } from "./monitors/Cleaning.ts"
import { MonitorRecords } from "./monitors/MonitorRecords.ts"
import { Monitors } from "./monitors/Monitors.ts"
import { StatusChanges } from "./monitors/StatusChanges.ts"
import { AuditChain } from "./audit/AuditChain.ts"
import { ControlSocketLayer } from "./operator/ControlSocket.ts"
import { Invitations } from "./members/Invitations.ts"
import { Members } from "./members/Members.ts"
import { GivenRuns } from "./queue/workers/GivenRuns.ts"
import { Claims } from "./workers/protocol/Claims.ts"
import { claimsOr } from "./workers/protocol/claimRoute.ts"
import { Dispatch } from "./workers/protocol/Dispatch.ts"
import { WorkerProtocolHandlers } from "./workers/protocol/http.ts"
import { Results } from "./workers/protocol/Results.ts"
import { AbsencesLayer, AgentSessions } from "./workers/protocol/AgentSessions.ts"
import { WorkerAdmission } from "./workers/protocol/WorkerAdmission.ts"
import { WorkerAuthenticationLayer } from "./workers/protocol/WorkerAuthentication.ts"
import { Workers } from "./workers/Workers.ts"
import { Workspaces } from "./workspaces/Workspaces.ts"

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
