import type { Execution } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useNow } from "../ui/values/clock.ts"
import { formatDay, formatTimeOfDay } from "../ui/values/format.ts"
import { StatusDot } from "../ui/values/Status.tsx"

/**
 * Says that the same work has failed again or has succeeded since. Shows nothing if a newer success
 * follows a success.
 */
export const NewerExecutionNotice = ({
  execution,
  newer
}: {
  readonly execution: Pick<Execution, "status">
  /** The latest execution after this one that succeeded or failed. */
  readonly newer: Execution | undefined
}) => {
  const { workspaceId } = useWorkspace()
  const now = useNow()
  const isFailure = newer?.status === "failed"
  const isShown = newer !== undefined && (isFailure || execution.status === "failed")
  const finishedAt = newer?.finished_at ?? newer?.scheduled_for ?? ""
  return (
    // The container is always there, so that screen readers announce what is added to it.
    <div role="status" className="not-empty:mb-6">
      {isShown && (
        <p className="flex items-baseline gap-2.5 rounded-lg border border-line bg-surface px-4 py-2.5">
          <StatusDot tone={isFailure ? "bad" : "ok"} />
          <span>
            {isFailure
              ? `A newer execution failed ${atTime(finishedAt, now)}.`
              : "Newer executions have succeeded."}{" "}
            <Link
              to="/w/$workspaceId/executions/$executionId"
              params={{ workspaceId, executionId: newer.id }}
              className="font-medium whitespace-nowrap text-live hover:underline"
            >
              Show the latest
            </Link>
          </span>
        </p>
      )}
    </div>
  )
}

const atTime = (at: string, now: number) =>
  `${formatDay(at) === formatDay(now) ? "" : `on ${formatDay(at)} `}at ${formatTimeOfDay(at)}`
