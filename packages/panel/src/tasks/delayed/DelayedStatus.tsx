import type { DelayedTask } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"

/** True if a delayed task is due, but its call has not started. The API calls it `running`. */
export const isQueued = ({ last_run, status }: DelayedTask): boolean =>
  status === "running" && last_run?.status !== "running"

/**
 * A delayed task's status. A finished task is shown with its run's result for as long as the run is
 * retained.
 */
export const DelayedStatus = ({ of: task }: { readonly of: DelayedTask }) => (
  <Status
    of={
      isQueued(task)
        ? "queued"
        : task.status === "finished" && task.last_run !== null
          ? task.last_run.status
          : task.status
    }
  />
)
