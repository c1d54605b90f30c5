import { type Day, dayOf } from "@scheduling/domain/billing/Usage"
import type { Announcement } from "../events/index.ts"

const percents = [100, 80] as const
export type Percent = (typeof percents)[number]

/** The highest of the percentages that the usage reaches, if any. */
export const percentOf = (used: number, limit: number): Percent | undefined =>
  percents.find((percent) => 100 * used >= percent * limit)

/** The percentage that the latest row reaches, if the previous row did not reach it. */
export const percentReachedBy = (used: number, limit: number): Percent | undefined => {
  const percent = percentOf(used, limit)
  return percent === percentOf(used - 1, limit) ? undefined : percent
}

export const firstOfMonth = (now: Date): Day =>
  dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))

/** The name of a quota for people, such as `Cron tasks`. */
const titleOf = (quota: string) =>
  quota.charAt(0).toUpperCase() + quota.slice(1).replaceAll("_", " ")

export interface NearLimit {
  readonly workspaceId: string
  readonly quota: string
  readonly used: number
  readonly limit: number
  readonly percent: Percent
}

export const nearAnnouncement = (near: NearLimit, at: Date): Announcement => ({
  workspace_id: near.workspaceId,
  event: "quota.near",
  subject_id: near.workspaceId,
  at,
  data: {
    name: titleOf(near.quota),
    reason: `${near.percent} % of the limit is used: ${near.used} of ${near.limit}.`,
    about: { quota: { name: near.quota, used: near.used, limit: near.limit } }
  }
})
