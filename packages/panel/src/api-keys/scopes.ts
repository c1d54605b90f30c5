import type { Scope } from "@scheduling/sdk"
import { searchOf, searchTextOf } from "../ui/lists/search.ts"

interface Area {
  readonly name: string
  readonly hint: string
  readonly read: Scope
  readonly write?: Scope
}

export const scopeAreas: ReadonlyArray<Area> = [
  {
    name: "Tasks",
    hint: "Cron tasks, delayed tasks, chains and queues",
    read: "tasks:read",
    write: "tasks:write"
  },
  {
    name: "Executions",
    hint: "Past and current runs with their responses",
    read: "executions:read"
  },
  {
    name: "Monitors",
    hint: "Monitors of all kinds and incidents",
    read: "monitors:read",
    write: "monitors:write"
  },
  {
    name: "Notifications",
    hint: "Channels, rules and deliveries",
    read: "notifications:read",
    write: "notifications:write"
  },
  { name: "Workspace", hint: "The name of the workspace", read: "workspace:read" }
]

const all = scopeAreas.flatMap(({ read, write }) => (write === undefined ? [read] : [read, write]))

export const scopePresets: ReadonlyArray<readonly [name: string, scopes: ReadonlyArray<Scope>]> = [
  ["Deploy tasks", ["tasks:read", "tasks:write", "executions:read"]],
  ["Manage monitors", ["monitors:read", "monitors:write"]],
  ["Read everything", all.filter((scope) => scope.endsWith(":read"))],
  ["Everything", all]
]

/** Formats scopes for display: `Tasks, Executions (read)`. */
export const describeScopes = (scopes: ReadonlyArray<Scope>): string =>
  all.every((scope) => scopes.includes(scope))
    ? "Everything"
    : scopeAreas
        .flatMap(({ name, read, write }) => {
          const reads = scopes.includes(read)
          const writes = write !== undefined && scopes.includes(write)
          if (!reads && !writes) return []
          if (write === undefined || (reads && writes)) return [name]
          return [`${name} (${reads ? "read" : "write"})`]
        })
        .join(", ")

/** The search parameters that prefill the form for a new key. The scopes are comma-separated. */
export const newKeySearch = searchOf({ name: searchTextOf, scopes: searchTextOf })

/** Parses a comma-separated list of scopes such as `tasks:read,tasks:write`. Ignores unknown scopes. */
export const parseScopes = (text: string | undefined): ReadonlyArray<Scope> =>
  all.filter((scope) => (text ?? "").split(",").includes(scope))
