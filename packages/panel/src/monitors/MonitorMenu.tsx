import type { Monitor } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { monitorKinds } from "../data/monitorKinds.ts"
import { incidentsChanged } from "../incidents/queries.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { editMonitorLink } from "./links.ts"
import { monitorsChanged } from "./queries.ts"

/** What can be done with a monitor of any kind, from wherever it is shown. */
export const MonitorMenu = ({
  children,
  monitor,
  onRemoved
}: {
  readonly monitor: Pick<Monitor, "id" | "kind" | "name" | "status" | "workspace_id">
  /** Items that only its kind has. */
  readonly children?: ReactNode
  readonly onRemoved?: () => void
}) => {
  const navigate = useNavigate()
  const { api, workspaceId } = useWorkspace()
  const { id, kind, name, status } = monitor
  const { deletion, resource } = monitorKinds[kind]
  const monitors = resource(api)
  const changed = () => Promise.all([monitorsChanged(workspaceId), incidentsChanged(workspaceId)])
  return (
    <RowMenu
      name={name}
      role="editor"
      pausing={{
        isPaused: status === "paused",
        pause: async () => {
          await attempt(() => monitors.pause(id), `${name} is paused`)
          await changed()
        },
        resume: async () => {
          await attempt(() => monitors.resume(id), `${name} is watched again`)
          await changed()
        }
      }}
      onEdit={() => void navigate(editMonitorLink(monitor))}
      onDelete={async () => {
        await monitors.remove(id)
        tell(`${name} was deleted`)
        await changed()
        onRemoved?.()
      }}
      warning={["Its events and incidents go with it.", deletion].join(" ").trim()}
    >
      {children}
    </RowMenu>
  )
}
