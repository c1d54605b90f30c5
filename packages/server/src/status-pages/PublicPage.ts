/**
 * A status page's content for its readers. Do not add other data of the workspace here, because the
 * page is public.
 */
export interface PublicPage {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly status: OverallStatus
  readonly groups: ReadonlyArray<{
    readonly name: string
    readonly monitors: ReadonlyArray<PublicMonitor>
  }>
  /** Open and recently closed incidents, newest first. */
  readonly incidents: ReadonlyArray<PublicIncident>
  readonly notices: ReadonlyArray<PublicNotice>
  readonly updated_at: string
}

export type OverallStatus = "up" | "degraded" | "down" | "maintenance" | "unknown"

export interface PublicMonitor {
  readonly name: string
  readonly status: "new" | "up" | "warning" | "down" | "maintenance" | "paused"
  /** The uptime in the last 90 days, from 0 to 1. Null if the monitor was not active. */
  readonly uptime: number | null
  readonly days: ReadonlyArray<{ readonly day: string; readonly uptime: number | null }>
}

export interface PublicIncident {
  readonly monitor: string
  readonly opened_at: string
  readonly closed_at: string | null
}

export interface PublicNotice {
  readonly title: string
  readonly text: string
  readonly posted_at: string
  readonly until: string | null
  /** The updates that have been posted so far, newest first. */
  readonly updates: ReadonlyArray<{ readonly text: string; readonly posted_at: string }>
  readonly state: "upcoming" | "current" | "past"
}

/** How many days the uptime bars show. */
export const shownUptimeDays = 90

/** How many days closed incidents and past notices are shown. */
export const shownIncidentDays = 14

export const overallStatus = (
  monitors: ReadonlyArray<Pick<PublicMonitor, "status">>
): OverallStatus => {
  const watched = monitors.filter(
    ({ status }) => status !== "new" && status !== "paused" && status !== "maintenance"
  )
  const down = watched.filter(({ status }) => status === "down").length
  if (down === 0 && monitors.some(({ status }) => status === "maintenance")) return "maintenance"
  if (watched.length === 0) return "unknown"
  if (down === watched.length) return "down"
  return down > 0 || watched.some(({ status }) => status === "warning") ? "degraded" : "up"
}
