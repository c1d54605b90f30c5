import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { TaskId } from "@scheduling/domain/executions/Execution"
import {
  type Forecast,
  type ForecastQuery,
  type ForecastRange,
  forecastRange,
  type ForecastTask,
  maxColliding
} from "@scheduling/domain/forecast/Forecast"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Clock, Context, Effect, Layer, Result, type Schema, Semaphore } from "effect"
import { runInSlices } from "../../core/index.ts"
import { busiestOf, Counts, firesIn } from "./Counts.ts"
import { type CountedRhythm, ForecastRepo, type ForecastTaskRow } from "./ForecastRepo.ts"

type Query = Schema.Struct.Type<typeof ForecastQuery>

/**
 * The maximum number of slots of one forecast. Visiting them takes a node 250 ms, in slices of a
 * few milliseconds.
 */
export const maxSlots = 5_000_000

const minutesPerStep = 500

/** The numbers of minutes over which the response imagines the runs to be spread. */
const spreads = [0, 1, 5, 15]

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
      // One forecast at a time, because slices of several would together block the event loop.
      const oneAtATime = Semaphore.withPermit(yield* Semaphore.make(1))
      const inSlices = <A>(steps: Generator<void, A>) => oneAtATime(runInSlices(steps))

      const collidingIn = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        range: ForecastRange,
        rhythms: ReadonlyArray<CountedRhythm>,
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
            .slice(0, maxColliding)
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

// ---------------------------------------------------------------------------

/** Returns undefined if there are too many slots. */
function* countsOf(
  rhythms: ReadonlyArray<CountedRhythm>,
  range: ForecastRange
): Generator<void, Counts | undefined> {
  const counts = new Counts(range)
  let slots = 0
  for (const rhythm of rhythms) {
    slots += yield* counts.addRhythm(rhythm)
    if (slots > maxSlots) return undefined
  }
  return counts
}

function* summaryOf(counts: Counts) {
  const { all } = counts
  yield
  const busiest = busiestOf(all)
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

/** Chooses for each minute enough of its rhythms to name its tasks. */
function* firingIn(
  rhythms: ReadonlyArray<CountedRhythm>,
  minutes: ReadonlyArray<number>,
  range: ForecastRange
) {
  const firing = new Map(
    minutes.map((minute) => [minute, { found: new Array<CountedRhythm>(), tasks: 0 }])
  )
  for (const rhythm of rhythms) {
    const open = [...firing].filter(([, { tasks }]) => tasks < maxColliding)
    if (open.length === 0) break
    for (const [minute, place] of open) {
      if (!(yield* firesIn(rhythm, minute, range))) continue
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
    `must be earlier, because the schedules have more than ${maxSlots} slots until then`
  )
)
