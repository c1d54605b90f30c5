import type { NotificationSettings } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { notificationsChanged } from "./queries.ts"

/** Replaces the settings, if nobody else has changed them since they were read. */
export const useReplaceSettings = ({ updated_at: _, ...settings }: NotificationSettings) => {
  const { api, workspaceId } = useWorkspace()
  return async (change: Partial<Omit<NotificationSettings, "updated_at" | "version">>) => {
    try {
      await api.notifications.replaceSettings({ ...settings, ...change })
    } finally {
      // Also after a refusal: what is shown was not the newest then.
      await notificationsChanged(workspaceId)
    }
  }
}
