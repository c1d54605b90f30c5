import { dnsMonitors } from "./dns/index.ts"
import { heartbeatMonitors } from "./heartbeat/index.ts"
import { httpMonitors } from "./http/index.ts"
import { processMonitors } from "./process/index.ts"
import { sslMonitors } from "./ssl/index.ts"
import { tcpMonitors } from "./tcp/index.ts"

/** All kinds of monitors. Add a new kind here. */
export const monitorKinds = [
  heartbeatMonitors,
  sslMonitors,
  processMonitors,
  httpMonitors,
  tcpMonitors,
  dnsMonitors
] as const
