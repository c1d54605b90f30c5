import type { Chain, CronTask } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useOpenIncident } from "../data/incidents.ts"
import { taskLink } from "../data/tasks.ts"
import { OpenIncident } from "../incidents/OpenIncident.tsx"
import { Status } from "../ui/values/Status.tsx"
import { ElapsedTime, RelativeTime } from "../ui/values/Time.tsx"
import { describeTiming } from "./schedule/describeSchedule.ts"

/** When a task runs and, if it fails, since when, why, and where to look. */
export const TaskDescription = ({ task }: { readonly task: CronTask | Chain }) => {
  const { workspaceId } = useWorkspace()
  const incident = useOpenIncident(workspaceId, task.id)
  const isFailing = task.status === "active" && task.last_run?.status === "failed"
  return (
    <>
      <span className="block">{describeTiming(task) ?? "Manual runs only"}</span>
      {incident !== undefined ? (
        <span className={lineClass}>
          <Status of="failing" />
          <ElapsedTime at={incident.opened_at} className="text-faint" />
          <OpenIncident incident={incident} />
        </span>
      ) : (
        isFailing && <LatestFailure task={task} />
      )}
    </>
  )
}

const lineClass = "mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1"

/** The latest run of a task that has no open incident, for example because somebody closed it. */
const LatestFailure = ({ task }: { readonly task: CronTask | Chain }) => {
  const { workspaceId } = useWorkspace()
  const { last_run: run } = task
  if (run === null) return null
  const link =
    "run_id" in run
      ? taskLink(workspaceId, "chain", task.id, run.run_id)
      : {
          to: "/w/$workspaceId/executions/$executionId" as const,
          params: { workspaceId, executionId: run.execution_id }
        }
  return (
    <span className={lineClass}>
      <Status of="failing" />
      {run.finished_at !== null && (
        <span className="text-faint">
          The latest run failed <RelativeTime at={run.finished_at} />
        </span>
      )}
      <Link {...link} className="font-medium text-live hover:underline">
        Show the run
      </Link>
    </span>
  )
}
