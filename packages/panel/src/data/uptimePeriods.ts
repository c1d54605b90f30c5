/** The periods for uptime and success rates, with their labels. */
export const uptimePeriods = [
  ["24h", "24h"],
  ["7d", "7d"],
  ["30d", "30d"],
  ["90d", "90d"],
  ["365d", "1y"]
] as const
