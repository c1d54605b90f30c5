import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { TaskId } from "@scheduling/domain/executions/Execution"
import {
  type Forecast,
  type ForecastQuery,
  type ForecastRange,
  forecastRange,
  type ForecastTask,
  maxTasksPerBusyMinute
} from "@scheduling/domain/forecast/Forecast"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Clock, Context, Effect, Layer, Result, type Schema, Semaphore } from "effect"
import { runInSlices } from "../../core/index.ts"
import { busiestMinutesOf, RunCountsByMinute, firesInMinute } from "./RunCountsByMinute.ts"
import { type CountedSlotTiming, ForecastRepo, type ForecastTaskRow } from "./ForecastRepo.ts"

type Query = Schema.Struct.Type<typeof ForecastQuery>

/**
 * The maximum number of slots in one forecast. Visiting them takes a node 250 ms, in slices of a
 * few milliseconds.
 */
export const maxForecastSlots = 5_000_000

const minutesPerStep = 500

/**
 * For each of these numbers of minutes, the response shows the highest number of runs per second if
 * runs were spread over this time.
 */
const spreads = [0, 1, 5, 15]

/** Predicts when how many runs begin, from the schedules and delayed tasks of a workspace. */
export class Forecasts extends Context.Service<
  Forecasts,
  {
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<Forecast, ValidationFailed>
  }
>()("@scheduling/server/tasks/forecast/Forecasts") {
  static readonly layer: Layer.Layer<Forecasts, never, ForecastRepo> = Layer.effect(
    Forecasts,
    Effect.gen(function* () {
      const repo = yield* ForecastRepo
      // Only one forecast is computed at a time, because several together would block the event
      // loop for too long.
      const oneAtATime = Semaphore.withPermit(yield* Semaphore.make(1))
      const inSlices = <A>(steps: Generator<void, A>) => oneAtATime(runInSlices(steps))

      const collidingIn = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        range: ForecastRange,
        rhythms: ReadonlyArray<CountedSlotTiming>,
        minutes: ReadonlyArray<number>
      ) {
        const firing = yield* inSlices(firingIn(rhythms, minutes, range))
        const asked = [...new Set([...firing.values()].flatMap(({ found }) => found))]
        const scheduled = yield* repo.listOfRhythms(workspaceId, asked)
        const delayed = yield* repo.listDelayed(workspaceId, range, minutes)
        const byRhythm = Map.groupBy(scheduled, ({ index }) => asked[index])
        const byMinute = Map.groupBy(delayed, ({ minute }) => minute)
        return (minute: number): ReadonlyArray<ForecastTask> =>
          [
            ...(firing.get(minute)?.found ?? []).flatMap((rhythm) => byRhythm.get(rhythm) ?? []),
            ...(byMinute.get(minute) ?? [])
          ]
            .slice(0, maxTasksPerBusyMinute)
            .map(toTask)
      })

      return Forecasts.of({
        get: Effect.fn("Forecasts.get")(function* (workspaceId, query) {
          const asked = forecastRange(query, yield* Clock.currentTimeMillis)
          if (Result.isFailure(asked)) return yield* invalid(asked.failure)
          const range = asked.success
          const rhythms = yield* repo.listRhythms(workspaceId)
          const counts = yield* inSlices(countsOf(rhythms, range))
          if (counts === undefined) return yield* tooMuch
          for (const { minute, runs } of yield* repo.countDelayed(workspaceId, range)) {
            counts.addDelayed(minute, runs)
          }
          const { busiest, ...counted } = yield* inSlices(summaryOf(counts))
          const tasksIn = yield* collidingIn(
            workspaceId,
            range,
            rhythms,
            busiest.map(({ minute }) => minute)
          )
          return {
            from: new Date(range.from).toISOString(),
            to: new Date(range.to).toISOString(),
            ...counted,
            busiest: busiest.map(({ minute, runs }) => ({
              at: timeOf(minute),
              runs,
              tasks: tasksIn(minute)
            }))
          }
        })
      })
    })
  )
}

/** Counts the slots of all schedules. Returns undefined if there are more than `maxForecastSlots`. */
function* countsOf(
  rhythms: ReadonlyArray<CountedSlotTiming>,
  range: ForecastRange
): Generator<void, RunCountsByMinute | undefined> {
  const counts = new RunCountsByMinute(range)
  let slots = 0
  for (const rhythm of rhythms) {
    slots += yield* counts.addRhythm(rhythm)
    if (slots > maxForecastSlots) return undefined
  }
  return counts
}

function* summaryOf(counts: RunCountsByMinute) {
  const { all } = counts
  yield
  const busiest = busiestMinutesOf(all)
  const minutes: Array<Forecast["minutes"][number]> = []
  let total = 0
  for (const [index, { minute, runs }] of all.entries()) {
    if (index % minutesPerStep === 0) yield
    minutes.push({ at: timeOf(minute), runs })
    total += runs
  }
  const spread: Array<Forecast["spread"][number]> = []
  for (const each of spreads) {
    spread.push({ seconds: each * 60, most_per_second: yield* counts.mostPerSecond(each) })
  }
  return { busiest, runs: total, minutes, spread }
}

/**
 * Returns, for each minute, rhythms that fire in it. There are enough of them to name
 * `maxTasksPerBusyMinute` tasks.
 */
function* firingIn(
  rhythms: ReadonlyArray<CountedSlotTiming>,
  minutes: ReadonlyArray<number>,
  range: ForecastRange
) {
  const firing = new Map(
    minutes.map((minute) => [minute, { found: new Array<CountedSlotTiming>(), tasks: 0 }])
  )
  for (const rhythm of rhythms) {
    const open = [...firing].filter(([, { tasks }]) => tasks < maxTasksPerBusyMinute)
    if (open.length === 0) break
    for (const [minute, place] of open) {
      if (!(yield* firesInMinute(rhythm, minute, range))) continue
      place.found.push(rhythm)
      place.tasks += rhythm.tasks
    }
  }
  return firing
}

const timeOf = (minute: number) => new Date(minute * 60_000).toISOString()

const toTask = ({ id, kind, name }: ForecastTaskRow): ForecastTask => ({
  kind,
  task_id: TaskId.make(id),
  name
})

const invalid = (issue: ValidationIssue) => Effect.fail(new ValidationFailed({ issues: [issue] }))

const tooMuch = invalid(
  issueAt(
    ["to"],
    "out_of_range",
    `must be earlier, because the schedules have more than ${maxForecastSlots} slots until then`
  )
)
