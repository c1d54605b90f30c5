import { Layer } from "effect"
import { ApiKeysHandlers } from "./accounts/api-keys/http.ts"
import { AuthHandlers, TotpHandlers } from "./accounts/http.ts"
import { Batches } from "./tasks/batches/Batches.ts"
import { BillingHandlers } from "./billing/http.ts"
import { ChainsHandlers } from "./tasks/chains/http.ts"
import { CronHandlers } from "./tasks/cron/http.ts"
import { DelayedHandlers } from "./tasks/delayed/http.ts"
import { EventsHandlers } from "./live/http.ts"
import { ExecutionsHandlers } from "./tasks/executions/http.ts"
import { ActivityHandlers } from "./tasks/activity/http.ts"
import { ForecastHandlers } from "./tasks/forecast/http.ts"
import { IncidentsHandlers } from "./monitoring/incidents/http.ts"
import { InvitationsHandlers, MembersHandlers } from "./accounts/members/http.ts"
import { HeartbeatMonitorsHandlers } from "./monitoring/heartbeat/http.ts"
import { MonitorsHandlers } from "./monitoring/http.ts"
import { ProcessMonitorsHandlers } from "./monitoring/process/http.ts"
import { SslMonitorsHandlers } from "./monitoring/ssl/http.ts"
import { NotificationsHandlers } from "./notifications/http.ts"
import { QueuesHandlers } from "./tasks/queues/http.ts"
import { SystemHandlers } from "./operations/http.ts"
import { WorkersHandlers } from "./workers/http.ts"
import { WorkspacesHandlers } from "./accounts/workspaces/http.ts"

/** What answers the endpoints of the contract, a group each. */
export const Handlers = Layer.mergeAll(
  AuthHandlers,
  TotpHandlers,
  WorkspacesHandlers,
  MembersHandlers,
  InvitationsHandlers,
  ApiKeysHandlers,
  CronHandlers,
  DelayedHandlers,
  ChainsHandlers,
  QueuesHandlers,
  ExecutionsHandlers,
  ForecastHandlers,
  ActivityHandlers,
  EventsHandlers,
  MonitorsHandlers,
  HeartbeatMonitorsHandlers,
  SslMonitorsHandlers,
  ProcessMonitorsHandlers,
  IncidentsHandlers,
  NotificationsHandlers,
  BillingHandlers,
  WorkersHandlers,
  SystemHandlers
).pipe(Layer.provide(Batches.layer))
