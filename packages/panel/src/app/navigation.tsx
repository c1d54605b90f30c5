import type { Role } from "@scheduling/sdk"
import type { LinkProps } from "@tanstack/react-router"
import {
  Activity,
  BellRing,
  CalendarRange,
  ChartGantt,
  ChartNoAxesColumn,
  Construction,
  Cpu,
  Gauge,
  Globe,
  HeartPulse,
  KeyRound,
  ListOrdered,
  Lock,
  type LucideIcon,
  ScrollText,
  Settings,
  Siren,
  Users
} from "lucide-react"
import type { ReactNode } from "react"
import { taskKinds } from "../data/tasks.ts"

interface NavigationEntry {
  readonly name: string
  readonly icon: ReactNode
  readonly to: NonNullable<LinkProps["to"]>
  /** Additional search words for the command palette. */
  readonly words: string
  /** The role required to see the page. Undefined if every member can see it. */
  readonly needs: Role | undefined
}

const page = (
  name: string,
  Icon: LucideIcon,
  to: NavigationEntry["to"],
  words: string,
  needs?: Role
): NavigationEntry => ({ name, icon: <Icon />, to, words, needs })

const { chain, cron, delayed } = taskKinds

/** A workspace's pages by group, for the sidebar and the command palette. */
export const navigation: ReadonlyArray<
  readonly [group: string | undefined, entries: ReadonlyArray<NavigationEntry>]
> = [
  [
    undefined,
    [
      page("Overview", Gauge, "/w/$workspaceId", "home dashboard"),
      page("Timeline", ChartGantt, "/w/$workspaceId/timeline", "history lanes what happened when"),
      page("Executions", Activity, "/w/$workspaceId/executions", "runs history logs"),
      page(
        "Forecast",
        CalendarRange,
        "/w/$workspaceId/forecast",
        "coming upcoming next future collisions jitter"
      )
    ]
  ],
  [
    "Tasks",
    [
      page(cron.plural, cron.icon, "/w/$workspaceId/cron", "schedule repeat jobs"),
      page(delayed.plural, delayed.icon, "/w/$workspaceId/delayed", "later once jobs"),
      page(chain.plural, chain.icon, "/w/$workspaceId/chains", "steps flow workflow"),
      page(
        "Queues",
        ListOrdered,
        "/w/$workspaceId/queues",
        "concurrency rate limit throttle slots waiting"
      )
    ]
  ],
  [
    "Monitoring",
    [
      page(
        "Monitors",
        HeartPulse,
        "/w/$workspaceId/monitors",
        "heartbeats certificates ssl tls ping processes"
      ),
      page("Incidents", Siren, "/w/$workspaceId/incidents", "down outage alerts"),
      page(
        "Maintenance",
        Construction,
        "/w/$workspaceId/maintenance",
        "windows planned downtime silence"
      ),
      page("Status pages", Globe, "/w/$workspaceId/status-pages", "public badge uptime"),
      page(
        "Notifications",
        BellRing,
        "/w/$workspaceId/notifications",
        "channels rules deliveries slack email alerts quiet hours"
      )
    ]
  ],
  [
    "Workspace",
    [
      page("API keys", KeyRound, "/w/$workspaceId/keys", "tokens credentials scopes", "admin"),
      page(
        "Secrets",
        Lock,
        "/w/$workspaceId/secrets",
        "credentials tokens passwords values variables",
        "editor"
      ),
      page("Workers", Cpu, "/w/$workspaceId/workers", "agents labels private network"),
      page("Members", Users, "/w/$workspaceId/members", "people roles invite invitations team"),
      page(
        "Usage",
        ChartNoAxesColumn,
        "/w/$workspaceId/usage",
        "billing plan limits quota",
        "owner"
      ),
      page("Audit log", ScrollText, "/w/$workspaceId/audit", "history changes who", "admin"),
      page("Settings", Settings, "/w/$workspaceId/settings", "rename delete leave signing secret")
    ]
  ]
]
