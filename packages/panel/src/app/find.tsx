import type { Role, Workspace } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import type { NavigateOptions } from "@tanstack/react-router"
import { Building2, Plus } from "lucide-react"
import type { ReactNode } from "react"
import { clientOf } from "../data/client.ts"
import { monitorKindNames, monitorKinds } from "../data/monitorKinds.ts"
import { findTasks, taskKinds, taskLink } from "../data/tasks.ts"
import { navigation } from "./navigation.tsx"

export interface Found {
  readonly key: string
  readonly name: string
  readonly kind: string
  readonly icon: ReactNode
  readonly link: NavigateOptions
}

interface Offered extends Found {
  /** The role that the page needs. Undefined for everybody. */
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

const hasWords = (name: string, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word))

/** Sorts names that begin with the text first, then those with a word that does, then the rest. */
export const bestFirst = (text: string, found: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const typed = text.toLowerCase()
  const rank = ({ name }: Found): number => {
    const words = name.toLowerCase()
    return words.startsWith(typed) ? 0 : words.includes(` ${typed}`) ? 1 : 2
  }
  return typed === "" ? found : found.toSorted((one, other) => rank(one) - rank(other))
}

/** Finds pages and actions that have all of the typed words. */
export const findPages = (
  workspaceId: string | undefined,
  text: string,
  may: (needed: Role | undefined) => boolean
): ReadonlyArray<Found> => {
  const matches = (name: string, others: string) => hasWords(`${name} ${others}`, text)
  const newWorkspace = action("New workspace", { to: "/welcome" })
  if (workspaceId === undefined) return matches(newWorkspace.name, "") ? [newWorkspace] : []
  const params = { workspaceId }
  const actions = [
    ...Object.values(taskKinds).map(({ name, noun }) =>
      action(`New ${name.toLowerCase()}`, { to: `/w/$workspaceId/${noun}/new`, params }, "editor")
    ),
    ...monitorKindNames.map((kind) =>
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
): ReadonlyArray<Found> =>
  workspaces
    .filter(({ id, name }) => text !== "" && id !== workspaceId && hasWords(name, text))
    .map(({ id, name }) => ({
      key: id,
      name,
      kind: "Workspace",
      icon: <Building2 />,
      link: { to: "/w/$workspaceId", params: { workspaceId: id } }
    }))

export const foundOptions = (workspaceId: string | undefined, name: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "find", name],
    enabled: workspaceId !== undefined && name !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyArray<Found>> => {
      const scope = workspaceId ?? ""
      const [tasks, monitors] = await Promise.all([
        findTasks(scope, name, signal),
        clientOf(scope).monitors.list({ name, limit: 6 }, { signal })
      ])
      return [
        ...tasks.map((task) => {
          const { icon: Icon, name: kind } = taskKinds[task.kind]
          const link = taskLink(scope, task.kind, task.id)
          return { key: task.id, name: task.name, kind, icon: <Icon />, link }
        }),
        ...monitors.data.map((monitor) => {
          const { icon: Icon, name: kind } = monitorKinds[monitor.kind]
          const link = {
            to: "/w/$workspaceId/monitors/$kind/$monitorId" as const,
            params: { workspaceId: scope, kind: monitor.kind, monitorId: monitor.id }
          }
          return { key: monitor.id, name: monitor.name, kind, icon: <Icon />, link }
        })
      ]
    }
  })
