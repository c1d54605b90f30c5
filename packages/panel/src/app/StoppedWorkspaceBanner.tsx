import type { Workspace } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { RoleGate } from "../ui/role.tsx"
import { StatusDot } from "../ui/values/Status.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"

/** A banner on every page of a stopped workspace, saying that no runs start. */
export const StoppedWorkspaceBanner = ({
  workspace
}: {
  readonly workspace: Workspace | undefined
}) => {
  const at = workspace?.stopped_at ?? null
  if (workspace === undefined || at === null) return null
  return (
    <p
      role="alert"
      className="sticky top-0 z-20 flex flex-wrap items-center justify-center gap-x-2.5 border-b border-bad/30 tint-bad px-4 py-1.5 text-sm text-bad max-lg:top-14"
    >
      <StatusDot tone="bad" />
      <span>
        This workspace was stopped <RelativeTime at={at} />. No run starts until it is resumed.
      </span>
      <RoleGate role="admin">
        <Link
          to="/w/$workspaceId/settings"
          params={{ workspaceId: workspace.id }}
          className="font-medium underline"
        >
          Resume in the settings
        </Link>
      </RoleGate>
    </p>
  )
}
