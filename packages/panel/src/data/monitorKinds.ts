import type { MonitorKind, SchedulingClient } from "@scheduling/sdk"
import { AtSign, Cpu, Globe, HeartPulse, type LucideIcon, Server, ShieldCheck } from "lucide-react"

interface KnownKind {
  readonly name: string
  readonly plural: string
  readonly icon: LucideIcon
  readonly create: string
  readonly purpose: string
  /** The label for `next_check_at`. */
  readonly next: string
  /** A consequence of deleting the monitor, besides the loss of its events and incidents. */
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
    purpose: "A heartbeat monitor notifies you when a job did not run.",
    next: "ping due",
    deletion: "Its ping URL stops working at once.",
    resource: ({ heartbeatMonitors }) => heartbeatMonitors
  },
  ssl: {
    name: "Certificate",
    plural: "Certificates",
    icon: ShieldCheck,
    create: "New certificate monitor",
    purpose: "A certificate monitor notifies you before a certificate expires.",
    next: "check",
    resource: ({ sslMonitors }) => sslMonitors
  },
  process: {
    name: "Process",
    plural: "Processes",
    icon: Cpu,
    create: "New process monitor",
    purpose: "A process monitor notifies you when a program stops.",
    next: "check",
    resource: ({ processMonitors }) => processMonitors
  },
  http: {
    name: "Web site",
    plural: "Web sites",
    icon: Globe,
    create: "New web site monitor",
    purpose: "A web site monitor notifies you when a site or an API does not answer as it should.",
    next: "check",
    resource: ({ httpMonitors }) => httpMonitors
  },
  tcp: {
    name: "Server",
    plural: "Servers",
    icon: Server,
    create: "New server monitor",
    purpose: "A server monitor notifies you when a port accepts no connections.",
    next: "check",
    resource: ({ tcpMonitors }) => tcpMonitors
  },
  dns: {
    name: "DNS",
    plural: "DNS",
    icon: AtSign,
    create: "New DNS monitor",
    purpose: "A DNS monitor notifies you when records are not as expected.",
    next: "check",
    resource: ({ dnsMonitors }) => dnsMonitors
  }
}

export const monitorKindNames = Object.keys(monitorKinds) as ReadonlyArray<MonitorKind>
