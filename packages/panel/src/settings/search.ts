import type { AuditSubjectKind } from "@scheduling/sdk"
import { dateTimeTextOf, oneOf, searchOf, searchTextOf } from "../ui/lists/search.ts"

export const auditSubjectKinds = [
  ["cron_task", "Cron tasks"],
  ["delayed_task", "Delayed tasks"],
  ["chain", "Chains"],
  ["trigger", "Trigger URLs"],
  ["queue", "Queues"],
  ["monitor", "Monitors"],
  ["secret", "Secrets"],
  ["workspace", "Workspace"],
  ["member", "Members"],
  ["invitation", "Invitations"],
  ["service_account", "Service accounts"],
  ["api_key", "API keys"],
  ["signing_secret", "Signing secrets"],
  ["ping_key", "Ping key"],
  ["billing", "Billing"],
  ["notification_channel", "Notification channels"],
  ["notification_settings", "Notification rules"],
  ["worker", "Workers"]
] as const satisfies ReadonlyArray<readonly [AuditSubjectKind, string]>

const dayIn = (value: unknown) => {
  const day = dateTimeTextOf(value)
  return day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined
}

/** The filters of the audit log. Both dates are inclusive, in the user's time zone. */
export const auditSearch = searchOf({
  subject_kind: oneOf(auditSubjectKinds.map(([kind]) => kind)),
  actor_id: searchTextOf,
  subject_id: searchTextOf,
  from: dayIn,
  to: dayIn
})

export type AuditSearch = ReturnType<typeof auditSearch>

/** The search parameter for the recipient whose signing secrets are shown. */
export const settingsSearch = searchOf({ receiver: searchTextOf })
