import type { NotificationChannel, NotificationSettings } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Plus } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { runWithToast } from "../../ui/messages/toast.ts"
import { RoleGate } from "../../ui/role.tsx"
import { notificationSettingsOptions } from "../../recipients/queries.ts"
import { defaultRuleEvents } from "../events.ts"
import { useReplaceSettings } from "../useReplaceSettings.ts"

/** Warns that no rule uses the channel. */
export const NoRuleWarning = ({ channel }: { readonly channel: NotificationChannel }) => {
  const { workspaceId } = useWorkspace()
  const { data: settings, error, refetch } = useQuery(notificationSettingsOptions(workspaceId))
  if (settings === undefined) return <Problem error={error} retry={refetch} />
  const isNamed = settings.rules.some(({ channel_ids }) => channel_ids.includes(channel.id))
  return isNamed ? null : <AddRule channel={channel} settings={settings} />
}

const AddRule = ({
  channel: { id, name },
  settings
}: {
  readonly channel: NotificationChannel
  readonly settings: NotificationSettings
}) => {
  const replace = useReplaceSettings(settings)
  const rule = { events: defaultRuleEvents, channel_ids: [id] }
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg border border-warn/30 tint-warn px-3.5 py-3">
      <p>No rule sends messages to this channel yet.</p>
      <RoleGate role="editor">
        <Button
          size="small"
          icon={<Plus />}
          onClick={() =>
            runWithToast(
              () => replace({ rules: [...settings.rules, rule] }),
              `${name} receives failures and recoveries`
            )
          }
        >
          Send failures and recoveries
        </Button>
      </RoleGate>
    </div>
  )
}
