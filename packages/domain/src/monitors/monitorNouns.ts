/** The noun of each kind of monitor, with its article. Add a new kind here. */
export const monitorNouns = {
  heartbeat: "a heartbeat monitor",
  ssl: "an SSL monitor",
  process: "a process monitor",
  http: "an HTTP monitor",
  tcp: "a TCP monitor",
  dns: "a DNS monitor"
} as const

export type MonitorKindName = keyof typeof monitorNouns

export const monitorKindNames = Object.keys(monitorNouns) as ReadonlyArray<MonitorKindName>
