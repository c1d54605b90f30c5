import type { UserPrincipal, ApiKeyPrincipal } from "@scheduling/domain/auth/Principal"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import type { LiveEvent } from "@scheduling/domain/events/LiveEvent"
import type { SentChange } from "../events/index.ts"
import { timestampOf } from "../store/index.ts"

/** The scope that an API key needs for each type. Every stream requires `executions:read`. */
const needs: Readonly<Record<LiveEvent["type"], Scope | "jwt" | undefined>> = {
  execution: undefined,
  reset: undefined,
  task: "tasks:read",
  monitor: "monitors:read",
  incident: "monitors:read",
  worker: "jwt"
}

export const maySee = (
  principal: UserPrincipal | ApiKeyPrincipal,
  type: LiveEvent["type"]
): boolean => {
  const scope = needs[type]
  return (
    principal.kind === "jwt" ||
    scope === undefined ||
    (scope !== "jwt" && principal.scopes.includes(scope))
  )
}

export const eventText = ({ atMs, change, id }: SentChange): string => {
  const event = { id, at: timestampOf(new Date(atMs)), ...change } as LiveEvent
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Sent at once, so that the subscriber knows that the stream is open. */
export const greetingText = ": what changes\n\n"

/** A message without data, from which subscribers only take their position. */
export const beginningText = (id: string): string => `id: ${id}\n\n`

export const beatText = ": still there\n\n"
