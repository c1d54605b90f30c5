/**
 * Scheduled work and its history: cron tasks, delayed tasks, chains, named queues, calendars,
 * executions and the forecast.
 */
import { Layer } from "effect"
import { onRunnerNodes } from "../core/index.ts"
import { Activities } from "./activity/Activities.ts"
import { ActivityRepo } from "./activity/ActivityRepo.ts"
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
import { Queues } from "./queues/Queues.ts"
import { QueuesRepo } from "./queues/QueuesRepo.ts"
import { QueuesHandlers } from "./queues/http.ts"

export { scheduledColumns, type ScheduledRow, schedulesOf } from "./Schedules.ts"
export { StatsRollUpRepo } from "./executions/StatsRollUpRepo.ts"

const Handlers = Layer.mergeAll(
  CronHandlers,
  DelayedHandlers,
  ChainsHandlers,
  QueuesHandlers,
  ExecutionsHandlers,
  ForecastHandlers,
  ActivityHandlers
)

const Services = Layer.mergeAll(
  Batches.layer,
  CronTasks.layer,
  DelayedTasks.layer,
  Chains.layer,
  Queues.layer,
  Reruns.layer,
  Forecasts.layer,
  Activities.layer
)

const Repositories = Layer.mergeAll(
  ChainsRepo.layer.pipe(Layer.provideMerge(ChainRunsRepo.layer)),
  QueuesRepo.layer,
  CalendarsRepo.layer,
  ExecutionsRepo.layer,
  RerunsRepo.layer,
  ForecastRepo.layer,
  ActivityRepo.layer,
  ExecutionStatsRepo.layer
)

/** Nodes with `RUNNER=off` read no calendars. */
const RunnerLayer = onRunnerNodes(CalendarsLayer)

export const TasksLayer = Layer.mergeAll(Handlers, RunnerLayer, StatsRollUpLayer).pipe(
  Layer.provide(Services),
  Layer.provide([Executions.layer, AttemptRequests.layer, Calendars.layer]),
  Layer.provide(StepRequests.layer),
  Layer.provide([CalendarReader.layer, Repositories]),
  Layer.provideMerge(StatsRollUpRepo.layer)
)
