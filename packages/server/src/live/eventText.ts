import type { UserPrincipal, ApiKeyPrincipal } from "@scheduling/domain/auth/Principal"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import type { LiveEvent } from "@scheduling/domain/events/Event"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { SentChange } from "../events/index.ts"
import { timestampOf } from "../store/index.ts"

type Noun = LiveEvent["type"] extends infer Type
  ? Type extends `${infer Before}.${string}`
    ? Before
    : Type
  : never

/**
 * The scope that an API key needs to see a change. In addition, every stream requires
 * `executions:read`. `jwt` means that only users see the change.
 */
const needs: Readonly<Record<Noun, Scope | "jwt" | undefined>> = {
  execution: undefined,
  chain_run: undefined,
  reset: undefined,
  task: "tasks:read",
  monitor: "monitors:read",
  incident: "monitors:read",
  queue: "tasks:read",
  worker: "jwt"
}

export const maySeeEvent = (
  principal: UserPrincipal | ApiKeyPrincipal,
  type: LiveEvent["type"]
): boolean => {
  const scope = needs[type.split(".")[0] as Noun]
  return (
    principal.kind === "jwt" ||
    scope === undefined ||
    (scope !== "jwt" && principal.scopes.includes(scope))
  )
}

/** Formats one message of the stream as `text/event-stream`. */
export const eventText = (
  workspace_id: WorkspaceId,
  { atMs, change: { data, type }, id }: SentChange
): string => {
  const created_at = timestampOf(new Date(atMs))
  const event = { id, type, created_at, workspace_id, data: { ...data, notice: null } }
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`
}

/** The first message of a stream, so that the subscriber knows that the stream is open. */
export const greetingText = ": connected\n\n"

/** Formats a message without data, which only updates the subscriber's position. */
export const positionText = (id: string): string => `id: ${id}\n\n`

export const keepAliveText = ": keep-alive\n\n"
