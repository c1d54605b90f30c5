import { Layer } from "effect"
import { ApiKeyRepo } from "./api-keys/ApiKeyRepo.ts"
import { ExpiringKeysRepo } from "./api-keys/ExpiringKeysRepo.ts"
import { KeyUsesRepo } from "./api-keys/KeyUsesRepo.ts"
import { UserLinksRepo } from "./users/UserLinksRepo.ts"
import { ReclaimingRepo } from "./auth/ReclaimingRepo.ts"
import { SessionsRepo } from "./auth/sessions/SessionsRepo.ts"
import { TotpRepo } from "./auth/totp/TotpRepo.ts"
import { LimitsRepo } from "./limits/LimitsRepo.ts"
import { PlanPausesRepo } from "./billing/PlanPausesRepo.ts"
import { SubscriptionsRepo } from "./billing/SubscriptionsRepo.ts"
import { UsageRepo } from "./limits/UsageRepo.ts"
import { UsersRepo } from "./users/UsersRepo.ts"
import { ChainRunsRepo } from "./chains/ChainRunsRepo.ts"
import { ChainsRepo } from "./chains/ChainsRepo.ts"
import { CompletionsRepo } from "./completions/CompletionsRepo.ts"
import { CronTasksRepo } from "./cron/CronTasksRepo.ts"
import { DelayedTasksRepo } from "./delayed/DelayedTasksRepo.ts"
import { ExecutionsRepo } from "./executions/ExecutionsRepo.ts"
import { RerunsRepo } from "./executions/RerunsRepo.ts"
import { ActivityRepo } from "./activity/ActivityRepo.ts"
import { QueuesRepo } from "./queues/QueuesRepo.ts"
import { ForecastRepo } from "./forecast/ForecastRepo.ts"
import { ExecutionStatsRepo } from "./executions/ExecutionStatsRepo.ts"
import { StatsRollUpRepo } from "./executions/StatsRollUpRepo.ts"
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
import { Outbox } from "./outbox/Outbox.ts"
import { HousekeepingRepo } from "./system/HousekeepingRepo.ts"
import { SealedRepo } from "./system/SealedRepo.ts"
import { IncidentsRepo } from "./incidents/IncidentsRepo.ts"
import { HeartbeatsRepo } from "./monitors/heartbeat/HeartbeatsRepo.ts"
import { ProcessMonitorsRepo } from "./monitors/process/ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "./monitors/process/ProcessReportsRepo.ts"
import { CalendarsRepo } from "./calendars/CalendarsRepo.ts"
import { SslMonitorsRepo } from "./monitors/ssl/SslMonitorsRepo.ts"
import { MonitorEventsRepo } from "./monitors/MonitorEventsRepo.ts"
import { MonitorsRepo } from "./monitors/MonitorsRepo.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { InvitationsRepo } from "./members/InvitationsRepo.ts"
import { MembersRepo } from "./members/MembersRepo.ts"
import { AgentSessionsRepo } from "./workers/protocol/AgentSessionsRepo.ts"
import { WorkerTokensRepo } from "./workers/protocol/WorkerTokensRepo.ts"
import { WorkersRepo } from "./workers/WorkersRepo.ts"
import { SigningSecrets } from "./signing/SigningSecrets.ts"
import { WorkspacesRepo } from "./workspaces/WorkspacesRepo.ts"

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
