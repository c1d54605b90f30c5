import type { SecretUse } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"

const monitorKindOf = { http_monitor: "http" } as const
const taskKindOf = { cron_task: "cron", delayed_task: "delayed", chain: "chain" } as const

/** Links to the records that use a secret. */
export const SecretUseLinks = ({ uses }: { readonly uses: ReadonlyArray<SecretUse> }) =>
  uses.map((use, index) => (
    <span key={use.id}>
      {index > 0 && ", "}
      <UseLink use={use} />
    </span>
  ))

const UseLink = ({ use: { id, kind, name } }: { readonly use: SecretUse }) => {
  const { workspaceId } = useWorkspace()
  const className = "font-medium text-ink underline-offset-2 hover:underline"
  const text = <bdi>{name ?? id}</bdi>
  if (kind === "http_monitor") {
    const params = { workspaceId, kind: monitorKindOf[kind], monitorId: id }
    return (
      <Link to="/w/$workspaceId/monitors/$kind/$monitorId" params={params} className={className}>
        {text}
      </Link>
    )
  }
  return kind === "notification_channel" ? (
    <Link
      to="/w/$workspaceId/notifications/channels/$channelId"
      params={{ workspaceId, channelId: id }}
      className={className}
    >
      {text}
    </Link>
  ) : (
    <Link {...taskLink(workspaceId, taskKindOf[kind], id)} className={className}>
      {text}
    </Link>
  )
}
