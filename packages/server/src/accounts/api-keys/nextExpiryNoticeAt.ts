import { dayMs } from "../../core/index.ts"

const daysBefore = [7, 1]

/** Returns the time of a key's next expiry notice, or null if there are no more notices. */
export const nextExpiryNoticeAt = (expiresAt: Date | null, now: Date): Date | null => {
  if (expiresAt === null) return null
  const times = daysBefore.map((days) => new Date(expiresAt.getTime() - days * dayMs))
  return times.find((time) => time > now) ?? null
}
