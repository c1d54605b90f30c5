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

export const Scope = oneOf(scopes, {
  identifier: "Scope",
  description: "A permission of an API key. GET requests need `:read`, all others `:write`.",
  examples: ["tasks:read"]
})
export type Scope = typeof Scope.Type
