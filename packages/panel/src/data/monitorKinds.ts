import type { MonitorKind, SchedulingClient } from "@scheduling/sdk"
import { AtSign, Cpu, Globe, HeartPulse, type LucideIcon, Server, ShieldCheck } from "lucide-react"

interface KnownKind {
  readonly name: string
  readonly plural: string
  readonly icon: LucideIcon
  readonly create: string
  readonly purpose: string
  /** A consequence of deleting the monitor, in addition to losing its events and incidents. */
  readonly deletion?: string
  readonly resource: (api: SchedulingClient) => {
    readonly pause: (id: string) => Promise<unknown>
    readonly resume: (id: string) => Promise<unknown>
    readonly delete: (id: string) => Promise<unknown>
  }
}

export const monitorKinds: Readonly<Record<MonitorKind, KnownKind>> = {
  heartbeat: {
    name: "Heartbeat",
    plural: "Heartbeats",
    icon: HeartPulse,
    create: "New heartbeat monitor",
    purpose: "A heartbeat monitor notifies you when a job does not run.",
    deletion: "Its ping URL stops working immediately.",
    resource: ({ heartbeatMonitors }) => heartbeatMonitors
  },
  ssl: {
    name: "SSL",
    plural: "SSL",
    icon: ShieldCheck,
    create: "New SSL monitor",
    purpose: "An SSL monitor notifies you before a certificate expires.",
    resource: ({ sslMonitors }) => sslMonitors
  },
  process: {
    name: "Process",
    plural: "Processes",
    icon: Cpu,
    create: "New process monitor",
    purpose: "A process monitor notifies you when a program stops.",
    resource: ({ processMonitors }) => processMonitors
  },
  http: {
    name: "HTTP",
    plural: "HTTP",
    icon: Globe,
    create: "New HTTP monitor",
    purpose: "An HTTP monitor notifies you when a website or an API does not respond as expected.",
    resource: ({ httpMonitors }) => httpMonitors
  },
  tcp: {
    name: "TCP",
    plural: "TCP",
    icon: Server,
    create: "New TCP monitor",
    purpose: "A TCP monitor notifies you when a port does not accept connections.",
    resource: ({ tcpMonitors }) => tcpMonitors
  },
  dns: {
    name: "DNS",
    plural: "DNS",
    icon: AtSign,
    create: "New DNS monitor",
    purpose: "A DNS monitor notifies you when DNS records are not as expected.",
    resource: ({ dnsMonitors }) => dnsMonitors
  }
}

export const allMonitorKinds = Object.keys(monitorKinds) as ReadonlyArray<MonitorKind>
