import type { MonitorKind, SchedulingClient } from "@scheduling/sdk"
import { Cpu, HeartPulse, type LucideIcon, ShieldCheck } from "lucide-react"

/** What is said of a kind of monitor outside of its own pages. */
interface KnownKind {
  readonly name: string
  readonly plural: string
  readonly icon: LucideIcon
  /** The title of the page that creates one. */
  readonly create: string
  readonly purpose: string
  /** What happens at `next_check_at`. */
  readonly next: string
  /** What a deletion means, beside the loss of events and incidents. */
  readonly deletion?: string
  readonly resource: (api: SchedulingClient) => {
    readonly pause: (id: string) => Promise<unknown>
    readonly resume: (id: string) => Promise<unknown>
    readonly remove: (id: string) => Promise<unknown>
  }
}

export const monitorKinds: Readonly<Record<MonitorKind, KnownKind>> = {
  heartbeat: {
    name: "Heartbeat",
    plural: "Heartbeats",
    icon: HeartPulse,
    create: "New heartbeat",
    purpose: "A heartbeat tells you when a job did not run.",
    next: "ping due",
    deletion: "Its ping URL answers 404 at once.",
    resource: ({ heartbeatMonitors }) => heartbeatMonitors
  },
  ssl: {
    name: "Certificate",
    plural: "Certificates",
    icon: ShieldCheck,
    create: "Watch a certificate",
    purpose: "A certificate monitor tells you before a certificate expires.",
    next: "check",
    resource: ({ sslMonitors }) => sslMonitors
  },
  process: {
    name: "Process",
    plural: "Processes",
    icon: Cpu,
    create: "Watch a process",
    purpose: "A process monitor tells you when a program is gone.",
    next: "check",
    resource: ({ processMonitors }) => processMonitors
  }
}

/** In the order in which they are listed. */
export const monitorKindNames = Object.keys(monitorKinds) as ReadonlyArray<MonitorKind>
