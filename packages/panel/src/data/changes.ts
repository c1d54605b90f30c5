import type { AuditEvent, AuditSubjectKind, FieldChange, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "./client.ts"
import { retryOnce } from "./queries.ts"
import { taskOrMonitorLink, type TaskOrMonitor } from "./targets.ts"

/**
 * The kinds of records whose changes are listed, and how a sentence names them before their own
 * name. Delayed tasks are missing, because programs create them all the time.
 */
const changedKinds = {
  cron_task: "the cron task",
  chain: "the chain",
  monitor: "the monitor",
  trigger: "the trigger URL of",
  queue: "the queue",
  secret: "the secret",
  signing_secret: "the signing secrets",
  ping_key: "the ping key",
  notification_channel: "the notification channel",
  notification_settings: "the notification rules",
  escalation_policy: "the escalation policy",
  maintenance_window: "the maintenance window",
  status_page: "the status page",
  worker: "the worker",
  workspace: "the workspace"
} as const satisfies Partial<Record<AuditSubjectKind, string>>

type ChangedKind = keyof typeof changedKinds

const isChangedKind = (kind: AuditSubjectKind): kind is ChangedKind =>
  Object.hasOwn(changedKinds, kind)

/** The kinds of records whose changes can make a task or monitor fail. */
const causingKinds = [
  "cron_task",
  "chain",
  "monitor",
  "trigger",
  "queue",
  "secret",
  "signing_secret",
  "ping_key",
  "worker",
  "workspace"
] as const satisfies ReadonlyArray<ChangedKind>

/** The query for the changes of a period, newest first, that can make tasks or monitors fail. */
export const changesOfPeriodOptions = (
  workspaceId: WorkspaceId,
  period: { readonly from: string; readonly to: string }
) =>
  queryOptions({
    queryKey: ["w", workspaceId, "audit", period],
    retry: retryOnce,
    queryFn: async ({ signal }) => {
      const query = { ...period, subject_kind: causingKinds, limit: 100 }
      const { data } = await clientOf(workspaceId).workspaces.listAuditEvents(query, { signal })
      return data.filter(({ action }) => !/\.(?:created|renamed)$/.test(action))
    }
  })

const maxLatestChanges = 5

/**
 * The query for the latest changes of definitions and secrets. It is polled, because live events do
 * not announce all of them. Only admins may fetch it.
 */
export const latestDefinitionChangesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "audit", "latest"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) => {
      const subject_kind = Object.keys(changedKinds) as ReadonlyArray<ChangedKind>
      const query = { subject_kind, limit: maxLatestChanges }
      return (await clientOf(workspaceId).workspaces.listAuditEvents(query, { signal })).data
    }
  })

/** Returns the changed record's name if the event's details contain it. */
export const changedRecordName = ({ details }: AuditEvent): string | undefined =>
  ["name", "email", "key_prefix", "token_prefix"]
    .map((key) => details[key])
    .find((value) => typeof value === "string")

/** Lists the changed fields, such as `name, timeout seconds, and url`. */
export const listChangedFields = (changes: ReadonlyArray<Pick<FieldChange, "field">>): string =>
  new Intl.ListFormat("en").format(changes.map(({ field }) => field.replaceAll("_", " ")))

/** If more fields than these were changed, only their number is said. */
const maxNamedFields = 3

/**
 * Describes a change in the words between its author and the record's name, such as `paused` or
 * `set a new value for the secret`.
 */
export const describeChange = ({ action, changes, subject_kind }: AuditEvent): string => {
  const record = isChangedKind(subject_kind) ? changedKinds[subject_kind] : ""
  const verb = action.slice(action.indexOf(".") + 1)
  if (verb === "token_revoked") return `revoked the token of ${record}`
  if (verb !== "updated") return `${verb} ${record}`.trim()
  if (subject_kind === "secret" && changes.some(({ field }) => field === "value")) {
    return `set a new value for ${record}`
  }
  if (changes.length === 0) return `changed ${record}`
  const changed =
    changes.length > maxNamedFields ? `${changes.length} fields` : listChangedFields(changes)
  return `changed ${changed} of ${record}`.trim()
}

const pages = {
  queue: "queues",
  secret: "secrets",
  signing_secret: "settings",
  ping_key: "settings",
  notification_settings: "notifications/rules",
  escalation_policy: "notifications/escalations",
  maintenance_window: "maintenance",
  status_page: "status-pages",
  workspace: "settings"
} as const

/** Returns the link to a changed record, or undefined if it was deleted or has no page. */
export const changedRecordLink = (
  workspaceId: WorkspaceId,
  { action, details, subject_id, subject_kind: kind }: AuditEvent
) => {
  const id = subject_id ?? ""
  if (action.endsWith(".deleted") && kind !== "trigger") return undefined
  if (kind === "notification_channel") {
    return {
      to: "/w/$workspaceId/notifications/channels/$channelId" as const,
      params: { workspaceId, channelId: id }
    }
  }
  if (kind === "worker") {
    return {
      to: "/w/$workspaceId/workers/$workerId" as const,
      params: { workspaceId, workerId: id }
    }
  }
  if (kind === "api_key") {
    return { to: "/w/$workspaceId/keys/$keyId" as const, params: { workspaceId, keyId: id } }
  }
  if (kind in pages) {
    const page = pages[kind as keyof typeof pages]
    return { to: `/w/$workspaceId/${page}` as const, params: { workspaceId } }
  }
  // The details of a trigger URL and of a monitor contain the kind of the task or monitor.
  const tasks = { cron_task: "cron", delayed_task: "delayed", chain: "chain" } as const
  const target = kind in tasks ? tasks[kind as keyof typeof tasks] : details["kind"]
  return typeof target === "string"
    ? taskOrMonitorLink(workspaceId, { kind: target as TaskOrMonitor["kind"], id })
    : undefined
}
