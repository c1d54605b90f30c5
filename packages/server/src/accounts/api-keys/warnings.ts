import { dayMs } from "../../core/index.ts"

const daysBefore = [7, 1]

/**
 * When a workspace is next warned that a key expires. Null if all times for a warning have passed.
 */
export const nextWarning = (expiresAt: Date | null, now: Date): Date | null => {
  if (expiresAt === null) return null
  const times = daysBefore.map((days) => new Date(expiresAt.getTime() - days * dayMs))
  return times.find((time) => time > now) ?? null
}
