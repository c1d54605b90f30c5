import type { MonitorKind } from "@scheduling/sdk"
import { heartbeatPages } from "./heartbeat/heartbeatPages.tsx"
import { dnsPages } from "./dns/dnsPages.tsx"
import { httpPages } from "./http/httpPages.tsx"
import type { MonitorPages } from "./monitorPages.tsx"
import { processPages } from "./process/processPages.tsx"
import { sslPages } from "./ssl/sslPages.tsx"
import { tcpPages } from "./tcp/tcpPages.tsx"

export const monitorPagesByKind: Readonly<Record<MonitorKind, MonitorPages>> = {
  heartbeat: heartbeatPages,
  ssl: sslPages,
  process: processPages,
  http: httpPages,
  tcp: tcpPages,
  dns: dnsPages
}
