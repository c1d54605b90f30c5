import type { NotificationSettings, NotificationSettingsInput } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { refetchNotifications } from "./queries.ts"

/**
 * Returns a function that replaces the settings, unless someone else has changed them since they
 * were loaded.
 */
export const useReplaceSettings = (settings: NotificationSettings) => {
  const { api, workspaceId } = useWorkspace()
  return async (change: Partial<Omit<NotificationSettingsInput, "version">>) => {
    try {
      await api.notifications.replaceSettings({ ...settings, ...change })
    } finally {
      // If the update was rejected, the displayed settings are outdated.
      await refetchNotifications(workspaceId)
    }
  }
}
