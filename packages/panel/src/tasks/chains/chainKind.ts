import type { RepeatingKind } from "../repeating.tsx"
import { chainQueries } from "./queries.ts"

export const chainKind: RepeatingKind = {
  noun: "chains",
  title: "Chains",
  one: "Chain",
  clientOf: ({ chains }) => chains,
  changed: chainQueries.changed,
  warning: "Runs that are under way are cancelled. Its executions stay readable.",
  bulkWarning: "Runs that are under way are cancelled. Their executions stay readable.",
  showsRun: true
}
