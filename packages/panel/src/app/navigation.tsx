import type { Role } from "@scheduling/sdk"
import type { LinkProps } from "@tanstack/react-router"
import {
  Activity,
  BellRing,
  CalendarClock,
  CalendarRange,
  ChartNoAxesColumn,
  Cpu,
  Gauge,
  HeartPulse,
  KeyRound,
  ListOrdered,
  ScrollText,
  Settings,
  Siren,
  Timer,
  Users,
  Workflow
} from "lucide-react"
import type { ReactNode } from "react"

export interface Place {
  readonly name: string
  readonly icon: ReactNode
  readonly to: NonNullable<LinkProps["to"]>
  /** Other words by which somebody may look for it. */
  readonly words?: string
  /** Who may see it. Everybody if absent. */
  readonly needs?: Role
}

/** Where one can go in a workspace, in groups. The palette knows the same places. */
export const places: ReadonlyArray<readonly [group: string | undefined, ReadonlyArray<Place>]> = [
  [
    undefined,
    [
      { name: "Overview", icon: <Gauge />, to: "/w/$workspaceId", words: "home dashboard" },
      {
        name: "Executions",
        icon: <Activity />,
        to: "/w/$workspaceId/executions",
        words: "runs history logs"
      },
      {
        name: "Coming up",
        icon: <CalendarRange />,
        to: "/w/$workspaceId/forecast",
        words: "forecast next future collisions jitter"
      }
    ]
  ],
  [
    "Tasks",
    [
      {
        name: "Cron tasks",
        icon: <CalendarClock />,
        to: "/w/$workspaceId/cron",
        words: "schedule repeat jobs"
      },
      {
        name: "Delayed tasks",
        icon: <Timer />,
        to: "/w/$workspaceId/delayed",
        words: "later once jobs"
      },
      {
        name: "Chains",
        icon: <Workflow />,
        to: "/w/$workspaceId/chains",
        words: "steps flow workflow"
      },
      {
        name: "Queues",
        icon: <ListOrdered />,
        to: "/w/$workspaceId/queues",
        words: "concurrency rate limit throttle places waiting"
      }
    ]
  ],
  [
    "Watching",
    [
      {
        name: "Monitors",
        icon: <HeartPulse />,
        to: "/w/$workspaceId/monitors",
        words: "heartbeats certificates ssl tls ping"
      },
      {
        name: "Incidents",
        icon: <Siren />,
        to: "/w/$workspaceId/incidents",
        words: "down outage alerts"
      },
      {
        name: "Notifications",
        icon: <BellRing />,
        to: "/w/$workspaceId/notifications",
        words: "channels rules deliveries slack email alerts quiet hours"
      }
    ]
  ],
  [
    "Workspace",
    [
      {
        name: "API keys",
        icon: <KeyRound />,
        to: "/w/$workspaceId/keys",
        words: "tokens credentials secrets scopes",
        needs: "admin"
      },
      {
        name: "Workers",
        icon: <Cpu />,
        to: "/w/$workspaceId/workers",
        words: "agents labels private network"
      },
      {
        name: "Members",
        icon: <Users />,
        to: "/w/$workspaceId/members",
        words: "people roles invite invitations team"
      },
      {
        name: "Usage",
        icon: <ChartNoAxesColumn />,
        to: "/w/$workspaceId/usage",
        words: "billing plan limits quota",
        needs: "owner"
      },
      {
        name: "Audit log",
        icon: <ScrollText />,
        to: "/w/$workspaceId/audit",
        words: "history changes who",
        needs: "admin"
      },
      {
        name: "Settings",
        icon: <Settings />,
        to: "/w/$workspaceId/settings",
        words: "rename delete leave signing secret"
      }
    ]
  ]
]
