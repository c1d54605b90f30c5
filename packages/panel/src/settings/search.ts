import type { AuditResource, UserId } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../ui/lists/search.ts"

export const resources = [
  ["workspace", "The workspace"],
  ["member", "Members"],
  ["invitation", "Invitations"],
  ["api_key", "API keys"],
  ["signing_secret", "Signing secrets"],
  ["billing", "Plan and bills"],
  ["notification_channel", "Notification channels"],
  ["notification_settings", "Notification rules"],
  ["worker", "Workers"]
] as const satisfies ReadonlyArray<readonly [AuditResource, string]>

/** What the audit log is narrowed to. Days are those of the reader, and both count. */
export interface AuditSearch {
  readonly resource?: AuditResource
  readonly actor_id?: UserId
  readonly target_id?: string
  readonly from?: string
  readonly to?: string
}

const dayIn = (value: unknown) => {
  const text = textIn(value)
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : undefined
}

/** The server whose signing secrets are asked for. */
export interface SettingsSearch {
  readonly receiver?: string
}

export const settingsSearch = (search: Record<string, unknown>): SettingsSearch =>
  given({ receiver: textIn(search["receiver"]) })

export const auditSearch = (search: Record<string, unknown>): AuditSearch =>
  given({
    resource: oneOf(
      resources.map(([resource]) => resource),
      search["resource"]
    ),
    actor_id: textIn(search["actor_id"]) as UserId | undefined,
    target_id: textIn(search["target_id"]),
    from: dayIn(search["from"]),
    to: dayIn(search["to"])
  })
