import { Layer } from "effect"
import { ApiKeyRepo } from "./accounts/api-keys/ApiKeyRepo.ts"
import { ExpiringKeysRepo } from "./accounts/api-keys/ExpiringKeysRepo.ts"
import { KeyUsesRepo } from "./accounts/api-keys/KeyUsesRepo.ts"
import { UserLinksRepo } from "./accounts/users/UserLinksRepo.ts"
import { ReclaimingRepo } from "./accounts/ReclaimingRepo.ts"
import { SessionsRepo } from "./accounts/sessions/SessionsRepo.ts"
import { TotpRepo } from "./accounts/totp/TotpRepo.ts"
import { LimitsRepo } from "./plans/LimitsRepo.ts"
import { PlanPausesRepo } from "./billing/PlanPausesRepo.ts"
import { SubscriptionsRepo } from "./billing/SubscriptionsRepo.ts"
import { UsageRepo } from "./plans/UsageRepo.ts"
import { UsersRepo } from "./accounts/users/UsersRepo.ts"
import { ChainRunsRepo } from "./tasks/chains/ChainRunsRepo.ts"
import { ChainsRepo } from "./tasks/chains/ChainsRepo.ts"
import { CompletionsRepo } from "./engine/completions/CompletionsRepo.ts"
import { CronTasksRepo } from "./tasks/cron/CronTasksRepo.ts"
import { DelayedTasksRepo } from "./tasks/delayed/DelayedTasksRepo.ts"
import { ExecutionsRepo } from "./tasks/executions/ExecutionsRepo.ts"
import { RerunsRepo } from "./tasks/executions/RerunsRepo.ts"
import { ActivityRepo } from "./tasks/activity/ActivityRepo.ts"
import { QueuesRepo } from "./tasks/queues/QueuesRepo.ts"
import { ForecastRepo } from "./tasks/forecast/ForecastRepo.ts"
import { ExecutionStatsRepo } from "./tasks/executions/ExecutionStatsRepo.ts"
import { StatsRollUpRepo } from "./tasks/executions/StatsRollUpRepo.ts"
import { Idempotency } from "./http/request/Idempotency.ts"
import { ChannelsRepo } from "./notifications/channels/ChannelsRepo.ts"
import { ConfirmingRepo } from "./notifications/channels/ConfirmingRepo.ts"
import { RefusalsRepo } from "./notifications/channels/RefusalsRepo.ts"
import { DeliveriesRepo } from "./notifications/deliveries/DeliveriesRepo.ts"
import { SenderRepo } from "./notifications/sending/SenderRepo.ts"
import { SettingsRepo } from "./notifications/settings/SettingsRepo.ts"
import { SorterRepo } from "./notifications/sorting/SorterRepo.ts"
import { CallbackOutboxRepo } from "./notifications/callbacks/CallbackOutboxRepo.ts"
import { CallbackSenderRepo } from "./notifications/callbacks/CallbackSenderRepo.ts"
import { Outbox } from "./events/Outbox.ts"
import { HousekeepingRepo } from "./operations/HousekeepingRepo.ts"
import { SealedRepo } from "./operations/SealedRepo.ts"
import { IncidentsRepo } from "./monitoring/incidents/IncidentsRepo.ts"
import { HeartbeatsRepo } from "./monitoring/heartbeat/HeartbeatsRepo.ts"
import { ProcessMonitorsRepo } from "./monitoring/process/ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "./monitoring/process/ProcessReportsRepo.ts"
import { CalendarsRepo } from "./tasks/calendars/CalendarsRepo.ts"
import { SslMonitorsRepo } from "./monitoring/ssl/SslMonitorsRepo.ts"
import { MonitorEventsRepo } from "./monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "./monitoring/MonitorsRepo.ts"
import { AuditLog } from "./accounts/audit/AuditLog.ts"
import { InvitationsRepo } from "./accounts/members/InvitationsRepo.ts"
import { MembersRepo } from "./accounts/members/MembersRepo.ts"
import { AgentSessionsRepo } from "./workers/protocol/AgentSessionsRepo.ts"
import { WorkerTokensRepo } from "./workers/protocol/WorkerTokensRepo.ts"
import { WorkersRepo } from "./workers/WorkersRepo.ts"
import { SigningSecrets } from "./engine/signing/SigningSecrets.ts"
import { WorkspacesRepo } from "./accounts/workspaces/WorkspacesRepo.ts"

/** What the services ask for their rows. */
export const Repositories = Layer.mergeAll(
  UsersRepo.layer,
  LimitsRepo.layer,
  SubscriptionsRepo.layer,
  PlanPausesRepo.layer,
  UsageRepo.layer,
  ReclaimingRepo.layer,
  SessionsRepo.layer,
  TotpRepo.layer,
  UserLinksRepo.layer,
  WorkspacesRepo.layer,
  MembersRepo.layer,
  InvitationsRepo.layer,
  ApiKeyRepo.layer,
  KeyUsesRepo.layer,
  ExpiringKeysRepo.layer,
  AuditLog.layer,
  SigningSecrets.layer,
  CompletionsRepo.layer,
  CronTasksRepo.layer,
  DelayedTasksRepo.layer,
  ChainsRepo.layer,
  ChainRunsRepo.layer,
  QueuesRepo.layer,
  ExecutionsRepo.layer,
  RerunsRepo.layer,
  ForecastRepo.layer,
  ActivityRepo.layer,
  ExecutionStatsRepo.layer,
  StatsRollUpRepo.layer,
  MonitorsRepo.layer,
  MonitorEventsRepo.layer,
  HeartbeatsRepo.layer,
  SslMonitorsRepo.layer,
  CalendarsRepo.layer,
  ProcessMonitorsRepo.layer,
  ProcessReportsRepo.layer,
  IncidentsRepo.layer,
  Idempotency.layer,
  HousekeepingRepo.layer,
  SealedRepo.layer,
  Outbox.layer,
  ChannelsRepo.layer,
  ConfirmingRepo.layer,
  RefusalsRepo.layer,
  SettingsRepo.layer,
  DeliveriesRepo.layer,
  SenderRepo.layer,
  SorterRepo.layer,
  CallbackOutboxRepo.layer,
  CallbackSenderRepo.layer,
  WorkersRepo.layer,
  WorkerTokensRepo.layer,
  AgentSessionsRepo.layer
)
