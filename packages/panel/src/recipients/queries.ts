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
export const recipientsOptions = (
  workspaceId: WorkspaceId,
  query: NotificationsGetRecipientsQuery
) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "recipients", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getRecipients(query, { signal })
  })

/** True for a channel to which messages are sent. */
const isActive = ({ confirmed, paused }: NotificationRecipient): boolean => confirmed && !paused

/** True if a message about a problem would be sent to anyone. */
export const isAnyoneNotified = ({ channels, escalations }: NotificationRecipients): boolean =>
  [...channels, ...escalations.flatMap(({ steps }) => steps.flatMap((step) => step.channels))].some(
    isActive
  )

/** Returns the event that reports a task's or monitor's problem. */
export const problemEventOf = (
  kind: ExecutionKind | MonitorKind
): NotificationsGetRecipientsQuery["event"] =>
  kind === "cron" || kind === "delayed"
    ? "execution.failed"
    : kind === "chain"
      ? "chain_run.failed"
      : "incident.opened"
