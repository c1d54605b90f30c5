/**
 * Scheduled work and its history: cron tasks, delayed tasks, chains, named queues, calendars,
 * executions and the forecast.
 */
import { Layer } from "effect"
import { onlyOnRunnerNodes } from "../core/index.ts"
import { Activities } from "./activity/Activities.ts"
import { ActivityRepo } from "./activity/ActivityRepo.ts"
import { ActivityTimelineRepo } from "./activity/ActivityTimelineRepo.ts"
import { ActivityTimelines } from "./activity/ActivityTimelines.ts"
import { ActivityHandlers } from "./activity/http.ts"
import { Batches } from "./batches/Batches.ts"
import { CalendarReader } from "./calendars/CalendarReader.ts"
import { Calendars, CalendarsLayer } from "./calendars/Calendars.ts"
import { CalendarsRepo } from "./calendars/CalendarsRepo.ts"
import { ChainRunsRepo } from "./chains/ChainRunsRepo.ts"
import { Chains } from "./chains/Chains.ts"
import { ChainsRepo } from "./chains/ChainsRepo.ts"
import { StepRequests } from "./chains/StepRequests.ts"
import { ChainsHandlers } from "./chains/http.ts"
import { CronTasks } from "./cron/CronTasks.ts"
import { CronHandlers } from "./cron/http.ts"
import { DelayedTasks } from "./delayed/DelayedTasks.ts"
import { DelayedHandlers } from "./delayed/http.ts"
import { ExecutionStatsRepo } from "./executions/ExecutionStatsRepo.ts"
import { Approvals } from "./executions/Approvals.ts"
import { AttemptRequests } from "./executions/AttemptRequests.ts"
import { Executions } from "./executions/Executions.ts"
import { ExecutionsRepo } from "./executions/ExecutionsRepo.ts"
import { Reruns } from "./executions/Reruns.ts"
import { RerunsRepo } from "./executions/RerunsRepo.ts"
import { StatsRollUpLayer } from "./executions/StatsRollUp.ts"
import { StatsRollUpRepo } from "./executions/StatsRollUpRepo.ts"
import { ExecutionsHandlers } from "./executions/http.ts"
import { ForecastRepo } from "./forecast/ForecastRepo.ts"
import { Forecasts } from "./forecast/Forecasts.ts"
import { ForecastHandlers } from "./forecast/http.ts"
import { RecordPausesLayer } from "./recordPauses.ts"
import { Queues } from "./queues/Queues.ts"
import { QueuesRepo } from "./queues/QueuesRepo.ts"
import { QueuesHandlers } from "./queues/http.ts"
import { triggerRouteLayer } from "./triggers/triggerRoute.ts"
import { Triggers } from "./triggers/Triggers.ts"
import { TriggersRepo } from "./triggers/TriggersRepo.ts"
import { TaskBucketsRepo } from "./uptime/TaskBucketsRepo.ts"
import { TaskUptimes } from "./uptime/TaskUptimes.ts"

export { Approvals } from "./executions/Approvals.ts"
export { pauseChange } from "./pauseChange.ts"
export { scheduledColumns, type ScheduledRow, makeScheduleWriter } from "./Schedules.ts"
export { StatsRollUpRepo } from "./executions/StatsRollUpRepo.ts"

const Handlers = Layer.mergeAll(
  CronHandlers,
  DelayedHandlers,
  ChainsHandlers,
  QueuesHandlers,
  ExecutionsHandlers,
  ForecastHandlers,
  ActivityHandlers,
  triggerRouteLayer
)

const Services = Layer.mergeAll(
  Batches.layer,
  CronTasks.layer,
  DelayedTasks.layer,
  Chains.layer,
  Queues.layer,
  Triggers.layer,
  Reruns.layer,
  TaskUptimes.layer,
  Forecasts.layer,
  Activities.layer,
  ActivityTimelines.layer
)

const Repositories = Layer.mergeAll(
  ChainsRepo.layer.pipe(Layer.provideMerge(ChainRunsRepo.layer)),
  QueuesRepo.layer,
  TriggersRepo.layer,
  CalendarsRepo.layer,
  ExecutionsRepo.layer,
  RerunsRepo.layer,
  TaskBucketsRepo.layer,
  ForecastRepo.layer,
  ActivityRepo.layer,
  ActivityTimelineRepo.layer,
  ExecutionStatsRepo.layer
)

/** Nodes with `RUNNER=off` read no calendars. */
const RunnerLayer = onlyOnRunnerNodes(CalendarsLayer)

export const TasksLayer = Layer.mergeAll(
  Handlers,
  RunnerLayer,
  RecordPausesLayer,
  StatsRollUpLayer
).pipe(
  Layer.provide(Services),
  Layer.provideMerge(Approvals.layer),
  Layer.provide([Executions.layer, AttemptRequests.layer, Calendars.layer]),
  Layer.provide(StepRequests.layer),
  Layer.provide([CalendarReader.layer, Repositories]),
  Layer.provideMerge(StatsRollUpRepo.layer)
)
