import type {
  ExecutionKind,
  MonitorKind,
  NotificationRecipient,
  NotificationRecipients,
  NotificationsGetRecipientsQuery,
  WorkspaceId
} from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"

export const notificationsQueryKey = (workspaceId: WorkspaceId) =>
  ["w", workspaceId, "notifications"] as const

export const notificationSettingsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "settings"],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getSettings({ signal })
  })

/** The query for the channels that would be notified about a problem. */
const recipientsOptions = (workspaceId: WorkspaceId, query: NotificationsGetRecipientsQuery) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "recipients", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getRecipients(query, { signal })
  })

/** Returns the channels to which a message about a problem would be sent. */
export const activeRecipientsOf = ({
  channels,
  escalations
}: NotificationRecipients): ReadonlyArray<NotificationRecipient> =>
  [
    ...channels,
    ...escalations.flatMap(({ steps }) => steps.flatMap((step) => step.channels))
  ].filter(({ confirmed, paused }) => confirmed && !paused)

/** Returns the event that reports a task's or monitor's problem. */
const problemEventOf = (
  kind: ExecutionKind | MonitorKind
): NotificationsGetRecipientsQuery["event"] =>
  kind === "cron" || kind === "delayed"
    ? "execution.failed"
    : kind === "chain"
      ? "chain_run.failed"
      : "incident.opened"

/** The fields of a task or monitor that determine who is notified about it. */
export interface RecipientsSubject {
  readonly kind: ExecutionKind | MonitorKind
  /** Undefined for a record that has not been created yet. */
  readonly id?: string | undefined
  readonly tags: ReadonlyArray<string>
  /** The URL that the service calls after the task has failed. */
  readonly callback?: string | undefined
}

/** The query for the channels that would be notified if a task failed or a monitor went down. */
export const recipientsOptionsOf = (
  workspaceId: WorkspaceId,
  { id, kind, tags }: RecipientsSubject
) =>
  recipientsOptions(workspaceId, {
    event: problemEventOf(kind),
    ...(id !== undefined && { subject_id: id }),
    ...(tags.length > 0 && { tag: tags })
  })
