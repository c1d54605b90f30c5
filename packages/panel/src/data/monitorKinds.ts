import type { MonitorKind } from "@scheduling/sdk"

/** What a monitor is called by its kind. */
export const monitorKinds: Readonly<Record<MonitorKind, string>> = {
  heartbeat: "Heartbeat",
  ssl: "Certificate",
  process: "Process"
}
