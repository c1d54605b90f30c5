import type { Monitor, MonitorId, SchedulingClient } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Eye } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { showErrorToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { monitorOptions, type MonitorResource } from "./queries.ts"

/** A button that requests a check and waits for its result. */
export const CheckNowButton = <M extends Pick<Monitor, "id" | "status">>({
  lastAt,
  monitor: { id, status },
  resource
}: {
  readonly monitor: M
  /** The time at which the latest check finished. Null before the first check. */
  readonly lastAt: string | null
  readonly resource: (api: SchedulingClient) => Pick<MonitorResource<M, unknown, never>, "get"> & {
    readonly check: (id: MonitorId) => PromiseLike<unknown>
  }
}) => {
  const { api, workspaceId } = useWorkspace()
  /** The `lastAt` before the requested check. Undefined while no check is requested. */
  const [before, setBefore] = useState<string | null>()
  const isChecking = before !== undefined && lastAt === before
  const monitors = resource(api)
  // Poll for the result, which usually arrives within a second.
  useQuery({
    ...monitorOptions(monitors, workspaceId, id),
    refetchInterval: isChecking || lastAt === null ? 1_000 : false
  })
  if (status === "paused") return null
  return (
    <RoleGate role="editor">
      <Button
        look="main"
        busy={isChecking}
        icon={<Eye />}
        onClick={async () => {
          setBefore(lastAt)
          try {
            await monitors.check(id)
          } catch (error) {
            setBefore(undefined)
            showErrorToast(error)
          }
        }}
      >
        Check now
      </Button>
    </RoleGate>
  )
}
