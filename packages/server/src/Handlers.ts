import { Layer } from "effect"
import { ApiKeysHandlers } from "./api-keys/http.ts"
import { AuthHandlers, TotpHandlers } from "./auth/http.ts"
import { Batches } from "./batches/Batches.ts"
import { BillingHandlers } from "./billing/http.ts"
import { ChainsHandlers } from "./chains/http.ts"
import { CronHandlers } from "./cron/http.ts"
import { DelayedHandlers } from "./delayed/http.ts"
import { EventsHandlers } from "./events/http.ts"
import { ExecutionsHandlers } from "./executions/http.ts"
import { ActivityHandlers } from "./activity/http.ts"
import { ForecastHandlers } from "./forecast/http.ts"
import { IncidentsHandlers } from "./incidents/http.ts"
import { InvitationsHandlers, MembersHandlers } from "./members/http.ts"
import { HeartbeatMonitorsHandlers } from "./monitors/heartbeat/http.ts"
import { MonitorsHandlers } from "./monitors/http.ts"
import { ProcessMonitorsHandlers } from "./monitors/process/http.ts"
import { SslMonitorsHandlers } from "./monitors/ssl/http.ts"
import { NotificationsHandlers } from "./notifications/http.ts"
import { QueuesHandlers } from "./queues/http.ts"
import { SystemHandlers } from "./system/http.ts"
import { WorkersHandlers } from "./workers/http.ts"
import { WorkspacesHandlers } from "./workspaces/http.ts"

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
