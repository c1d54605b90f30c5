import { Clock, Context, DateTime, Deferred, Effect, Layer, Option } from "effect"
import { dayMs, Secrets, unseal } from "../core/index.ts"
import {
  type MaintenanceCoverage,
  isCoveredByMaintenance,
  MaintenanceRepo
} from "../incidents/index.ts"
import { Uptime } from "../monitoring/index.ts"
import { timestampOf } from "../store/index.ts"
import {
  overallStatus,
  type PublicMonitor,
  type PublicNotice,
  type PublicPage,
  shownUptimeDays,
  shownIncidentDays
} from "./PublicPage.ts"
import { PublicPagesRepo, type ShownMonitorRow } from "./PublicPagesRepo.ts"
import type { StatusPageRow } from "./StatusPagesRepo.ts"

/** How many seconds a page is served from memory. */
export const pageCacheSeconds = 15

/**
 * The maximum number of remembered slugs. Unknown slugs are remembered too, so that requests for
 * them do not each need a statement.
 */
const maxRemembered = 1_000

const maxMonitors = 200
const maxIncidents = 50

/** A page, and the password that its readers need, if it has one. */
export interface PublishedPage {
  readonly page: PublicPage
  readonly password: string | null
}

/**
 * Reads status pages for the public. Each node reads a page at most once in 15 seconds, regardless
 * of the number of readers.
 */
export class PublicPages extends Context.Service<
  PublicPages,
  { readonly find: (slug: string) => Effect.Effect<PublishedPage | undefined> }
>()("@scheduling/server/status-pages/PublicPages") {
  static readonly layer: Layer.Layer<
    PublicPages,
    never,
    MaintenanceRepo | PublicPagesRepo | Secrets | Uptime
  > = Layer.effect(
    PublicPages,
    Effect.gen(function* () {
      const maintenance = yield* MaintenanceRepo
      const repo = yield* PublicPagesRepo
      const uptime = yield* Uptime
      const ring = (yield* Secrets).keys("status-page")
      const pages = new Map<
        string,
        { readonly page: Deferred.Deferred<PublishedPage | undefined>; readonly untilMs: number }
      >()

      const read = Effect.fnUntraced(function* (slug: string) {
        const found = Option.getOrUndefined(yield* repo.findPublished(slug))
        if (found === undefined) return undefined
        const now = yield* DateTime.nowAsDate
        const ids = found.groups.flatMap(({ monitor_ids }) => monitor_ids)
        const tags = found.groups.flatMap((group) => group.tags)
        const { workspace_id } = found
        const coverage = (yield* maintenance.findCoverage([workspace_id], now)).get(workspace_id)
        const listed = yield* repo.listMonitors(workspace_id, { ids, tags }, maxMonitors)
        const monitors = listed.map((monitor) => ({
          ...monitor,
          status: statusShown(monitor, coverage)
        }))
        const shownIds = monitors.map(({ id }) => id)
        const closedSince = new Date(now.getTime() - shownIncidentDays * dayMs)
        const [days, incidents] = yield* Effect.all(
          [
            uptime.daily(workspace_id, shownIds, shownUptimeDays),
            repo.listIncidents(workspace_id, shownIds, closedSince, maxIncidents)
          ],
          { concurrency: 2 }
        )
        const names = new Map(monitors.map(({ id, name }) => [id, name]))
        const page: PublicPage = {
          slug,
          title: found.title,
          description: found.description,
          status: overallStatus(monitors),
          groups: found.groups.map((group) => ({
            name: group.name,
            monitors: chosenBy(group, monitors).map(({ id, name, status }) => ({
              name,
              status,
              ...(days.get(id) ?? { uptime: null, days: [] })
            }))
          })),
          incidents: incidents.map(({ closed_at, monitor_id, opened_at }) => ({
            monitor: names.get(monitor_id) ?? "",
            opened_at: timestampOf(opened_at),
            closed_at: closed_at && timestampOf(closed_at)
          })),
          notices: noticesAt(found.notices, now),
          updated_at: timestampOf(now)
        }
        const { sealed_password } = found
        const password = sealed_password && unseal(ring, workspace_id, sealed_password)
        return { page, password } satisfies PublishedPage
      })

      return PublicPages.of({
        find: Effect.fnUntraced(function* (slug) {
          const now = yield* Clock.currentTimeMillis
          const known = pages.get(slug)
          if (known !== undefined && known.untilMs > now) return yield* Deferred.await(known.page)
          const page = Deferred.makeUnsafe<PublishedPage | undefined>()
          if (pages.size >= maxRemembered) pages.clear()
          pages.set(slug, { page, untilMs: now + pageCacheSeconds * 1_000 })
          // Other readers may wait for the same page, so it is read even if the first reader
          // disconnects.
          yield* Effect.uninterruptible(
            Effect.onExit(read(slug), (exit) => {
              if (exit._tag === "Failure") pages.delete(slug)
              return Deferred.done(page, exit)
            })
          )
          return yield* Deferred.await(page)
        })
      })
    })
  )
}

const statusShown = (
  monitor: ShownMonitorRow,
  coverage: MaintenanceCoverage | undefined
): PublicMonitor["status"] =>
  monitor.status !== "paused" && isCoveredByMaintenance(coverage, monitor)
    ? "maintenance"
    : monitor.status

type ShownMonitor = Omit<ShownMonitorRow, "status"> & Pick<PublicMonitor, "status">

/**
 * Returns a group's monitors: first those that the group names, in its order, then those with one
 * of its tags.
 */
const chosenBy = (
  { monitor_ids, tags }: StatusPageRow["groups"][number],
  monitors: ReadonlyArray<ShownMonitor>
): ReadonlyArray<ShownMonitor> => {
  const byId = new Map(monitors.map((monitor) => [monitor.id, monitor]))
  const named = monitor_ids.flatMap((id) => byId.get(id.toLowerCase()) ?? [])
  const tagged = monitors.filter(
    (monitor) => !named.includes(monitor) && monitor.tags.some((tag) => tags.includes(tag))
  )
  return [...named, ...tagged]
}

const noticesAt = (notices: StatusPageRow["notices"], now: Date): ReadonlyArray<PublicNotice> => {
  const forgottenAt = new Date(now.getTime() - shownIncidentDays * dayMs).toISOString()
  const stateOf = ({ posted_at, until }: StatusPageRow["notices"][number]) =>
    new Date(posted_at) > now
      ? "upcoming"
      : until !== null && new Date(until) <= now
        ? "past"
        : "current"
  return notices
    .map(
      (notice) =>
        ({ ...notice, updates: updatesAt(notice.updates, now), state: stateOf(notice) }) as const
    )
    .filter(({ state, until }) => state !== "past" || (until ?? "") >= forgottenAt)
    .toSorted(newestFirst)
}

const updatesAt = (updates: PublicNotice["updates"], now: Date): PublicNotice["updates"] =>
  updates.filter(({ posted_at }) => new Date(posted_at) <= now).toSorted(newestFirst)

const newestFirst = (
  a: Pick<PublicNotice, "posted_at">,
  b: Pick<PublicNotice, "posted_at">
): number => (a.posted_at < b.posted_at ? 1 : -1)
