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
import { Clock, Context, Effect, Layer, Result, type Schema, Semaphore } from "effect"
import { Counts, firesIn } from "./Counts.ts"
import { type CountedRhythm, ForecastRepo, type TaskRow } from "./ForecastRepo.ts"

type Query = Schema.Struct.Type<typeof ForecastQuery>

/** A quarter of a second of a node, in slices of a few milliseconds. */
export const maxSlots = 5_000_000

/** After so much work others get their turn. A slot takes 50 ns, a schedule that must be parsed 40 µs. */
const sliceSlots = 100_000
const sliceRhythms = 100

/** In minutes. */
const spreads = [0, 1, 5, 15]

export class Forecasts extends Context.Service<
  Forecasts,
  {
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<Forecast, ValidationFailed>
  }
>()("@scheduling/server/forecast/Forecasts") {
  static readonly layer: Layer.Layer<Forecasts, never, ForecastRepo> = Layer.effect(
    Forecasts,
    Effect.gen(function* () {
      const repo = yield* ForecastRepo
      // Slices of several at once would add up before the event loop turns.
      const oneAtATime = Semaphore.withPermit(yield* Semaphore.make(1))

      const collidingIn = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        range: ForecastRange,
        rhythms: ReadonlyArray<CountedRhythm>,
        minutes: ReadonlyArray<number>
      ) {
        const firing = yield* oneAtATime(firingIn(rhythms, minutes, range))
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
          const counts = yield* oneAtATime(countsOf(rhythms, range))
          for (const { minute, runs } of yield* repo.countDelayed(workspaceId, range)) {
            counts.addDelayed(minute, runs)
          }
          const minutes = counts.all
          const { busiest } = counts
          const tasksIn = yield* collidingIn(
            workspaceId,
            range,
            rhythms,
            busiest.map(({ minute }) => minute)
          )
          return {
            from: new Date(range.from).toISOString(),
            to: new Date(range.to).toISOString(),
            runs: minutes.reduce((sum, { runs }) => sum + runs, 0),
            minutes: minutes.map(({ minute, runs }) => ({ at: timeOf(minute), runs })),
            busiest: busiest.map(({ minute, runs }) => ({
              at: timeOf(minute),
              runs,
              tasks: tasksIn(minute)
            })),
            spread: spreads.map((spread) => ({
              seconds: spread * 60,
              most_per_second: counts.mostPerSecond(spread)
            }))
          }
        })
      })
    })
  )
}

// ---------------------------------------------------------------------------

const countsOf = Effect.fnUntraced(function* (
  rhythms: ReadonlyArray<CountedRhythm>,
  range: ForecastRange
) {
  const counts = new Counts(range)
  let slots = 0
  let sinceYield = 0
  for (const [index, rhythm] of rhythms.entries()) {
    const added = counts.addRhythm(rhythm)
    slots += added
    sinceYield += added
    if (slots > maxSlots) return yield* tooMuch
    if (sinceYield > sliceSlots || index % sliceRhythms === sliceRhythms - 1) {
      sinceYield = 0
      yield* Effect.yieldNow
    }
  }
  return counts
})

/** For each minute as many rhythms that fire in it as are needed to name its tasks. */
const firingIn = Effect.fnUntraced(function* (
  rhythms: ReadonlyArray<CountedRhythm>,
  minutes: ReadonlyArray<number>,
  range: ForecastRange
) {
  const firing = new Map(
    minutes.map((minute) => [minute, { found: new Array<CountedRhythm>(), tasks: 0 }])
  )
  for (const [index, rhythm] of rhythms.entries()) {
    if (index % sliceRhythms === sliceRhythms - 1) yield* Effect.yieldNow
    const open = [...firing].filter(([, { tasks }]) => tasks < maxColliding)
    if (open.length === 0) break
    for (const [minute, place] of open) {
      if (!firesIn(rhythm, minute, range)) continue
      place.found.push(rhythm)
      place.tasks += rhythm.tasks
    }
  }
  return firing
})

const timeOf = (minute: number) => new Date(minute * 60_000).toISOString()

const toTask = ({ id, kind, name }: TaskRow): ForecastTask => ({
  kind,
  task_id: TaskId.make(id),
  name
})

const invalid = (issue: ValidationFailed["issues"][number]) =>
  Effect.fail(new ValidationFailed({ issues: [issue] }))

const tooMuch = invalid({
  path: ["to"],
  message: `must be sooner: the different schedules have more than ${maxSlots} slots until then`
})
