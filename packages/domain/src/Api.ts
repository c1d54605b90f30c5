import { HttpApi, OpenApi } from "effect/http-api"
import { ActivityApi } from "./activity/ActivityApi.ts"
import { ApiKeysApi } from "./api-keys/ApiKeysApi.ts"
import { AuthApi } from "./auth/AuthApi.ts"
import { TotpApi } from "./auth/TotpApi.ts"
import { BillingApi } from "./billing/BillingApi.ts"
import { ChainsApi } from "./chains/ChainsApi.ts"
import { CronApi } from "./cron/CronApi.ts"
import { DelayedApi } from "./delayed/DelayedApi.ts"
import { DefinitionsApi } from "./definitions/DefinitionsApi.ts"
import { WebhookEvent } from "./events/Event.ts"
import { EventsApi } from "./events/EventsApi.ts"
import { ExecutionsApi } from "./executions/ExecutionsApi.ts"
import { ForecastApi } from "./forecast/ForecastApi.ts"
import { IncidentsApi } from "./incidents/IncidentsApi.ts"
import { EscalationsApi } from "./escalations/EscalationsApi.ts"
import { MaintenanceApi } from "./maintenance/MaintenanceApi.ts"
import { InvitationsApi } from "./members/InvitationsApi.ts"
import { MembersApi } from "./members/MembersApi.ts"
import { HeartbeatMonitorsApi } from "./monitors/heartbeat/HeartbeatMonitorsApi.ts"
import { HttpMonitorsApi } from "./monitors/http/HttpMonitorsApi.ts"
import { DnsMonitorsApi } from "./monitors/dns/DnsMonitorsApi.ts"
import { TcpMonitorsApi } from "./monitors/tcp/TcpMonitorsApi.ts"
import { SslMonitorsApi } from "./monitors/ssl/SslMonitorsApi.ts"
import { ProcessMonitorsApi } from "./monitors/process/ProcessMonitorsApi.ts"
import { MonitorsApi } from "./monitors/MonitorsApi.ts"
import { NotificationsApi } from "./notifications/NotificationsApi.ts"
import { QueuesApi } from "./queues/QueuesApi.ts"
import { SearchApi } from "./search/SearchApi.ts"
import { SecretsApi } from "./secrets/SecretsApi.ts"
import { ErrorShape } from "./shared/ErrorShape.ts"
import { ServiceAccountsApi } from "./service-accounts/ServiceAccountsApi.ts"
import { StatusPagesApi } from "./status-pages/StatusPagesApi.ts"
import { SystemApi } from "./system/SystemApi.ts"
import { WorkersApi } from "./workers/WorkersApi.ts"
import { WorkspacesApi } from "./workspaces/WorkspacesApi.ts"

const strictly = { errors: "all", onExcessProperty: "error", reportInput: true } as const

/** The HTTP API of the service, with one group of endpoints per kind of resource. */
export class Api extends HttpApi.make("scheduling")
  .add(
    AuthApi,
    TotpApi,
    WorkspacesApi,
    MembersApi,
    InvitationsApi,
    ServiceAccountsApi,
    ApiKeysApi,
    CronApi,
    DelayedApi,
    ChainsApi,
    QueuesApi,
    SecretsApi,
    DefinitionsApi,
    ExecutionsApi,
    ForecastApi,
    ActivityApi,
    EventsApi,
    SearchApi,
    MonitorsApi,
    HeartbeatMonitorsApi,
    SslMonitorsApi,
    HttpMonitorsApi,
    TcpMonitorsApi,
    DnsMonitorsApi,
    ProcessMonitorsApi,
    IncidentsApi,
    MaintenanceApi,
    EscalationsApi,
    StatusPagesApi,
    NotificationsApi,
    BillingApi,
    WorkersApi,
    SystemApi
  )
  .middleware(ErrorShape)
  // Issues contain the input, so that a message can say whether a value is too short or too long.
  // The input never leaves the service.
  .annotate(HttpApi.ParamsParseOptions, { errors: "all", reportInput: true })
  .annotate(HttpApi.QueryParseOptions, strictly)
  .annotate(HttpApi.PayloadParseOptions, strictly)
  // Responses contain only data that was validated as input. Validating it again would take a third
  // of the time to encode a list.
  .annotate(HttpApi.SuccessParseOptions, { disableChecks: true })
  // `WebhookEvent` is the body of requests that the service sends, so no endpoint refers to it.
  .annotate(HttpApi.AdditionalSchemas, [WebhookEvent])
  .annotateMerge(
    OpenApi.annotations({
      title: "Scheduling Service",
      description:
        "Runs scheduled HTTP calls: cron tasks, delayed tasks and chains. Monitors jobs, certificates, processes and URLs."
    })
  ) {}
