import type { Monitor } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { editMonitorLink } from "./links.ts"
import { useMonitorActions } from "./useMonitorActions.ts"

/** What can be done with a monitor of any kind. */
export const MonitorMenu = ({
  children,
  monitor,
  onRemoved
}: {
  readonly monitor: Pick<Monitor, "id" | "kind" | "name" | "status" | "workspace_id">
  /** What only its kind can do. */
  readonly children?: ReactNode
  readonly onRemoved?: () => void
}) => {
  const navigate = useNavigate()
  const { pause, remove, resume } = useMonitorActions()
  return (
    <RowMenu
      name={monitor.name}
      role="editor"
      pausing={{
        isPaused: monitor.status === "paused",
        pause: () => pause(monitor),
        resume: () => resume(monitor)
      }}
      onEdit={() => void navigate(editMonitorLink(monitor))}
      onDelete={async () => {
        await remove(monitor)
        onRemoved?.()
      }}
      warning={
        "Its events and incidents go with it." +
        (monitor.kind === "heartbeat" ? " Its ping URL answers 404 at once." : "")
      }
    >
      {children}
    </RowMenu>
  )
}
