import type { Role, Workspace } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import type { NavigateOptions } from "@tanstack/react-router"
import { Building2, CalendarClock, Plus, Timer, Workflow } from "lucide-react"
import type { ReactNode } from "react"
import { clientOf } from "../data/client.ts"
import { monitorKindNames, monitorKinds } from "../data/monitorKinds.ts"
import { places } from "./navigation.tsx"

/** Something that the palette offers. */
export interface Found {
  readonly key: string
  readonly name: string
  readonly kind: string
  readonly icon: ReactNode
  readonly link: NavigateOptions
}

interface Offered extends Found {
  /** Who may use it. Everybody if absent. */
  readonly needs?: Role | undefined
}

const action = (name: string, link: NavigateOptions, needs?: Role): Offered => ({
  key: name,
  name,
  kind: "Action",
  icon: <Plus />,
  link,
  needs
})

const thing = (
  kind: string,
  icon: ReactNode,
  { id, name }: { readonly id: string; readonly name: string | null },
  link: NavigateOptions
): Found => ({ key: id, name: name ?? id, kind, icon, link })

const hasWords = (name: string, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word))

/** Sorts by match: the name begins with the text, then a word in it does, then the rest. */
export const bestFirst = (text: string, found: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const typed = text.toLowerCase()
  const fit = ({ name }: Found): number => {
    const words = name.toLowerCase()
    return words.startsWith(typed) ? 0 : words.includes(` ${typed}`) ? 1 : 2
  }
  return typed === "" ? found : found.toSorted((one, other) => fit(one) - fit(other))
}

/** Pages and actions. Each word that was typed has to be in it. */
export const findPlaces = (
  workspaceId: string | undefined,
  text: string,
  may: (needed: Role | undefined) => boolean
): ReadonlyArray<Found> => {
  const isMeant = (name: string, others = "") => hasWords(`${name} ${others}`, text)
  const actions = [action("New workspace", { to: "/welcome" })]
  if (workspaceId === undefined) return actions.filter(({ name }) => isMeant(name))
  const params = { workspaceId }
  return [
    ...places
      .flatMap(([, entries]) => entries)
      .filter(({ name, words: others }) => isMeant(name, others))
      .map(({ icon, name, needs, to }) => ({
        key: name,
        name,
        icon,
        kind: "Page",
        link: { to, params },
        needs
      })),
    ...[
      action("New cron task", { to: "/w/$workspaceId/cron/new", params }, "editor"),
      action("New delayed task", { to: "/w/$workspaceId/delayed/new", params }, "editor"),
      action("New chain", { to: "/w/$workspaceId/chains/new", params }, "editor"),
      ...monitorKindNames.map((kind) =>
        action(
          monitorKinds[kind].create,
          { to: "/w/$workspaceId/monitors/$kind/new", params: { ...params, kind } },
          "editor"
        )
      ),
      action(
        "New notification channel",
        {
          to: "/w/$workspaceId/notifications/channels/new",
          params
        },
        "editor"
      ),
      action("Your account", { to: "/account/settings" }),
      action("New API key", { to: "/w/$workspaceId/keys/new", params }, "admin"),
      ...actions
    ].filter(({ name }) => isMeant(name, "create add"))
  ].filter(({ needs }: Offered) => may(needs))
}

/** The other workspaces of whoever is signed in. */
export const findWorkspaces = (
  workspaces: ReadonlyArray<Pick<Workspace, "id" | "name">>,
  workspaceId: string | undefined,
  text: string
): ReadonlyArray<Found> =>
  text === ""
    ? []
    : workspaces
        .filter(({ id, name }) => id !== workspaceId && hasWords(name, text))
        .map((workspace) =>
          thing("Workspace", <Building2 />, workspace, {
            to: "/w/$workspaceId",
            params: { workspaceId: workspace.id }
          })
        )

/** What the workspace has by this name. */
export const foundOptions = (workspaceId: string | undefined, name: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "find", name],
    enabled: workspaceId !== undefined && name !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyArray<Found>> => {
      const api = clientOf(workspaceId ?? "")
      const query = { name, limit: 6 }
      const [cron, delayed, chains, monitors] = await Promise.all([
        api.cron.list(query, { signal }),
        api.delayed.list(query, { signal }),
        api.chains.list(query, { signal }),
        api.monitors.list(query, { signal })
      ])
      const scope = { workspaceId: workspaceId ?? "" }
      return [
        ...cron.data.map((task) =>
          thing("Cron task", <CalendarClock />, task, {
            to: "/w/$workspaceId/cron/$taskId",
            params: { ...scope, taskId: task.id }
          })
        ),
        ...delayed.data.map((task) =>
          thing("Delayed task", <Timer />, task, {
            to: "/w/$workspaceId/delayed/$taskId",
            params: { ...scope, taskId: task.id }
          })
        ),
        ...chains.data.map((chain) =>
          thing("Chain", <Workflow />, chain, {
            to: "/w/$workspaceId/chains/$taskId",
            params: { ...scope, taskId: chain.id }
          })
        ),
        ...monitors.data.map((monitor) => {
          const { icon: Icon, name: kindName } = monitorKinds[monitor.kind]
          return thing(kindName, <Icon />, monitor, {
            to: "/w/$workspaceId/monitors/$kind/$monitorId",
            params: { ...scope, kind: monitor.kind, monitorId: monitor.id }
          })
        })
      ]
    }
  })
