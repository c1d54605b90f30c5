import { type Day, dayOf } from "@scheduling/domain/billing/Usage"
import type { NewOutboxEvent } from "../events/index.ts"

const percents = [100, 80] as const
export type AnnouncedPercent = (typeof percents)[number]

/**
 * Returns the highest percentage, among those that are announced, that the usage reaches. Undefined
 * if it reaches none.
 */
export const announcedPercentOf = (used: number, limit: number): AnnouncedPercent | undefined =>
  percents.find((percent) => 100 * used >= percent * limit)

/**
 * Returns the announced percentage that the usage reaches with the latest row, but did not reach
 * before.
 */
export const newlyReachedPercent = (used: number, limit: number): AnnouncedPercent | undefined => {
  const percent = announcedPercentOf(used, limit)
  return percent === announcedPercentOf(used - 1, limit) ? undefined : percent
}

export const firstOfMonth = (now: Date): Day =>
  dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))

/** Returns the display name of a quota, such as `Cron tasks`. */
const titleOf = (quota: string) =>
  quota.charAt(0).toUpperCase() + quota.slice(1).replaceAll("_", " ")

/** A limit of which an announced percentage is used. */
export interface NearLimit {
  readonly workspaceId: string
  readonly quota: string
  readonly used: number
  readonly limit: number
  readonly percent: AnnouncedPercent
}

export const nearLimitEvent = (near: NearLimit, at: Date): NewOutboxEvent => ({
  workspace_id: near.workspaceId,
  event: "quota.near",
  subject_id: near.workspaceId,
  at,
  data: {
    name: titleOf(near.quota),
    reason: `${near.percent}% of the limit is used: ${near.used} of ${near.limit}.`,
    about: { quota: { name: near.quota, used: near.used, limit: near.limit } }
  }
})
