import type { CronTask, DelayedTask, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { unnamed } from "../data/tasks.ts"
import { now } from "../ui/clock.ts"

const hourMs = 3_600_000

/** Something that will run. */
export interface Coming {
  readonly key: string
  readonly kind: "cron" | "delayed"
  readonly taskId: string
  readonly name: string
  readonly at: string
}

/** What runs in the next 24 hours, as far as it is known. */
export interface ComingUp {
  /** The next run of each task, soonest first. */
  readonly next: ReadonlyArray<Coming>
  /** The number of runs in each of the next 24 hours, and the names of what runs most. */
  readonly hours: ReadonlyArray<Hour>
}

export interface Hour {
  readonly start: number
  readonly runs: number
  readonly names: ReadonlyArray<string>
}

/** So many schedules are followed through the day. The others count with their next run. */
const followed = 16

/** A preview has at most this many fires. */
const maxFires = 100

export const comingUpOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "cron", "coming-up"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ComingUp> => {
      const api = clientOf(workspaceId)
      const [cron, delayed] = await Promise.all([
        api.cron.list({ status: "active", limit: 100 }, { signal }),
        api.delayed.list({ status: "pending", limit: 100 }, { signal })
      ])
      const until = now() + 24 * hourMs
      const next = [...cron.data.flatMap(nextOfCron), ...delayed.data.map(nextOfDelayed)]
        .filter(({ at }) => Date.parse(at) < until)
        .toSorted((one, other) => one.at.localeCompare(other.at))
      const schedules = next.filter(({ kind }) => kind === "cron").slice(0, followed)
      const fires = await Promise.all(
        schedules.map(async ({ name, taskId }) => {
          const task = cron.data.find(({ id }) => id === taskId)
          if (task === undefined) return []
          const { dst_overlap, schedule, timezone } = task
          const query = { schedule, timezone, dst_overlap, count: maxFires }
          const { data } = await api.cron.preview(query, { signal })
          const times = data
            .filter(({ clock_change }) => clock_change !== "dropped")
            .map(({ at }) => Date.parse(at))
          return through(times, until).map((at) => ({ at, name }))
        })
      )
      const known = new Set(schedules.map(({ key }) => key))
      const others = next
        .filter(({ key }) => !known.has(key))
        .map(({ at, name }) => ({ at: Date.parse(at), name }))
      return { next, hours: byHour([...fires.flat(), ...others], now()) }
    }
  })

const nextOfCron = ({ id, name, next_run_at }: CronTask): ReadonlyArray<Coming> =>
  next_run_at === null ? [] : [{ key: id, kind: "cron", taskId: id, name, at: next_run_at }]

const nextOfDelayed = ({ id, name, run_at, url }: DelayedTask): Coming => ({
  key: id,
  kind: "delayed",
  taskId: id,
  name: name ?? unnamed(url),
  at: run_at
})

/** The fires until then. What fires more often than a preview shows goes on at its pace. */
export const through = (times: ReadonlyArray<number>, until: number): ReadonlyArray<number> => {
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return []
  const pace = (last - first) / Math.max(times.length - 1, 1)
  const more =
    times.length < maxFires || pace === 0
      ? []
      : Array.from(
          { length: Math.floor((until - last) / pace) },
          (_, index) => last + (index + 1) * pace
        )
  return [...times, ...more].filter((at) => at < until)
}

const byHour = (
  fires: ReadonlyArray<{ readonly at: number; readonly name: string }>,
  from: number
): ReadonlyArray<Hour> =>
  Array.from({ length: 24 }, (_, index) => {
    const start = Math.floor(from / hourMs) * hourMs + index * hourMs
    const within = fires.filter(({ at }) => at >= start && at < start + hourMs)
    return { start, runs: within.length, names: [...new Set(within.map(({ name }) => name))] }
  })
