import type { SearchResult, Role, Workspace } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import type { NavigateOptions } from "@tanstack/react-router"
import {
  Activity,
  BellRing,
  Building2,
  ChevronsUp,
  Construction,
  Cpu,
  Globe,
  ListOrdered,
  Lock,
  Plus,
  Siren
} from "lucide-react"
import type { ReactNode } from "react"
import { clientOf } from "../data/client.ts"
import { allMonitorKinds, monitorKinds } from "../data/monitorKinds.ts"
import { taskKinds, taskLink, nameFromUrl } from "../data/tasks.ts"
import { navigation } from "./navigation.tsx"

export interface PaletteItem {
  readonly key: string
  readonly name: string
  readonly kind: string
  readonly icon: ReactNode
  readonly link: NavigateOptions
}

interface Offered extends PaletteItem {
  /** The role required to see the page. Undefined if every member can see it. */
  readonly needs: Role | undefined
}

const action = (name: string, link: NavigateOptions, needs?: Role): Offered => ({
  key: name,
  name,
  kind: "Action",
  icon: <Plus />,
  link,
  needs
})

export const hasWords = (name: string, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word))

/**
 * Sorts names that start with the text first, then names that contain a word starting with it, then
 * the rest.
 */
export const sortByRelevance = (
  text: string,
  found: ReadonlyArray<PaletteItem>
): ReadonlyArray<PaletteItem> => {
  const typed = text.toLowerCase()
  const rank = ({ name }: PaletteItem): number => {
    const words = name.toLowerCase()
    return words.startsWith(typed) ? 0 : words.includes(` ${typed}`) ? 1 : 2
  }
  return typed === "" ? found : found.toSorted((one, other) => rank(one) - rank(other))
}

/** Finds the pages and actions that contain all typed words. */
export const findPagesAndActions = (
  workspaceId: string | undefined,
  text: string,
  may: (needed: Role | undefined) => boolean
): ReadonlyArray<PaletteItem> => {
  const matches = (name: string, others: string) => hasWords(`${name} ${others}`, text)
  const newWorkspace = action("New workspace", { to: "/welcome" })
  if (workspaceId === undefined) return matches(newWorkspace.name, "") ? [newWorkspace] : []
  const params = { workspaceId }
  const actions = [
    ...Object.values(taskKinds).map(({ name, noun }) =>
      action(`New ${name.toLowerCase()}`, { to: `/w/$workspaceId/${noun}/new`, params }, "editor")
    ),
    ...allMonitorKinds.map((kind) =>
      action(
        monitorKinds[kind].create,
        { to: "/w/$workspaceId/monitors/$kind/new", params: { ...params, kind } },
        "editor"
      )
    ),
    action(
      "New notification channel",
      { to: "/w/$workspaceId/notifications/channels/new", params },
      "editor"
    ),
    action("Your account", { to: "/account/settings" }),
    action("New API key", { to: "/w/$workspaceId/keys/new", params }, "admin"),
    newWorkspace
  ]
  return [
    ...navigation
      .flatMap(([, entries]) => entries)
      .filter(({ name, words }) => matches(name, words))
      .map(({ icon, name, needs, to }) => ({
        key: name,
        name,
        icon,
        kind: "Page",
        link: { to, params },
        needs
      })),
    ...actions.filter(({ name }) => matches(name, "create add"))
  ].filter(({ needs }) => may(needs))
}

export const findWorkspaces = (
  workspaces: ReadonlyArray<Pick<Workspace, "id" | "name">>,
  workspaceId: string | undefined,
  text: string
): ReadonlyArray<PaletteItem> =>
  workspaces
    .filter(({ id, name }) => text !== "" && id !== workspaceId && hasWords(name, text))
    .map(({ id, name }) => ({
      key: id,
      name,
      kind: "Workspace",
      icon: <Building2 />,
      link: { to: "/w/$workspaceId", params: { workspaceId: id } }
    }))

/** The searchable kinds of records other than tasks and monitors. */
const otherKinds = {
  queue: { name: "Queue", icon: ListOrdered },
  channel: { name: "Channel", icon: BellRing },
  escalation_policy: { name: "Escalation policy", icon: ChevronsUp },
  maintenance_window: { name: "Maintenance window", icon: Construction },
  status_page: { name: "Status page", icon: Globe },
  worker: { name: "Worker", icon: Cpu },
  secret: { name: "Secret", icon: Lock },
  execution: { name: "Execution", icon: Activity },
  incident: { name: "Incident", icon: Siren }
} as const

const linkOf = (workspaceId: string, { id, kind }: SearchResult): NavigateOptions => {
  const params = { workspaceId }
  switch (kind) {
    case "cron":
    case "delayed":
    case "chain":
      return taskLink(workspaceId, kind, id)
    case "queue":
      return { to: "/w/$workspaceId/queues", params }
    case "secret":
      return { to: "/w/$workspaceId/secrets", params }
    case "channel":
      return {
        to: "/w/$workspaceId/notifications/channels/$channelId",
        params: { ...params, channelId: id }
      }
    case "escalation_policy":
      return { to: "/w/$workspaceId/notifications/escalations", params }
    case "maintenance_window":
      return { to: "/w/$workspaceId/maintenance", params }
    case "status_page":
      return { to: "/w/$workspaceId/status-pages", params }
    case "worker":
      return { to: "/w/$workspaceId/workers/$workerId", params: { ...params, workerId: id } }
    case "execution":
      return {
        to: "/w/$workspaceId/executions/$executionId",
        params: { ...params, executionId: id }
      }
    case "incident":
      return { to: "/w/$workspaceId/incidents/$incidentId", params: { ...params, incidentId: id } }
    default:
      return {
        to: "/w/$workspaceId/monitors/$kind/$monitorId",
        params: { ...params, kind, monitorId: id }
      }
  }
}

export const paletteItemOptions = (workspaceId: string | undefined, text: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "find", text],
    enabled: workspaceId !== undefined && text !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyArray<PaletteItem>> => {
      const scope = workspaceId ?? ""
      const { data } = await clientOf(scope).search.list({ q: text, limit: 12 }, { signal })
      return data.map((record) => {
        const { icon: Icon, name: kind } = { ...taskKinds, ...monitorKinds, ...otherKinds }[
          record.kind
        ]
        const { id, key, name, target } = record
        return {
          key: id,
          name: name ?? key ?? nameFromUrl(target ?? id),
          kind,
          icon: <Icon />,
          link: linkOf(scope, record)
        }
      })
    }
  })
