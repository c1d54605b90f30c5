import { oneOf } from "../shared/oneOf.ts"

export const scopes = [
  "tasks:read",
  "tasks:write",
  "executions:read",
  "monitors:read",
  "monitors:write",
  "notifications:read",
  "notifications:write",
  "workspace:read"
] as const

/** What an API key may do. A GET needs `:read`, everything else `:write`. */
export const Scope = oneOf(scopes, {
  identifier: "Scope",
  description: "What an API key may do. Reading needs `:read`, everything else `:write`.",
  examples: ["tasks:read"]
})
export type Scope = typeof Scope.Type
