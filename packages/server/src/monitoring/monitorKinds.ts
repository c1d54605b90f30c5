import { heartbeatMonitors } from "./heartbeat/index.ts"
import { processMonitors } from "./process/index.ts"
import { sslMonitors } from "./ssl/index.ts"

/** All monitorKinds of monitors, a folder each. A new kind is added here. */
export const monitorKinds = [heartbeatMonitors, sslMonitors, processMonitors] as const
