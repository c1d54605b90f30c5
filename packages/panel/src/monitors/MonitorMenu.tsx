import type { Monitor } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { monitorKinds } from "../data/monitorKinds.ts"
import { refetchIncidents } from "../incidents/queries.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { editMonitorLink } from "./links.ts"
import { refetchMonitors } from "./queries.ts"

export const MonitorMenu = ({
  children,
  monitor,
  onRemoved
}: {
  readonly monitor: Pick<Monitor, "id" | "kind" | "name" | "status" | "workspace_id">
  readonly children?: ReactNode
  readonly onRemoved?: () => void
}) => {
  const navigate = useNavigate()
  const { api, workspaceId } = useWorkspace()
  const { id, kind, name, status } = monitor
  const { deletion, resource } = monitorKinds[kind]
  const monitors = resource(api)
  const changed = () => Promise.all([refetchMonitors(workspaceId), refetchIncidents(workspaceId)])
  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, `${name} was ${done}`)
    await changed()
  }
  return (
    <RowMenu
      name={name}
      role="editor"
      pausing={{
        isPaused: status === "paused",
        pause: () => act(() => monitors.pause(id), "paused"),
        resume: () => act(() => monitors.resume(id), "resumed")
      }}
      onEdit={() => void navigate(editMonitorLink(monitor))}
      onDelete={async () => {
        await monitors.delete(id)
        showSuccessToast(`${name} was deleted`)
        await changed()
        onRemoved?.()
      }}
      warning={["The events and incidents of the monitor are deleted too.", deletion]
        .join(" ")
        .trim()}
    >
      {children}
    </RowMenu>
  )
}
