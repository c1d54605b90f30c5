import type { DelayedTask } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"

/**
 * A delayed task's status. A due task is `running` in the API, but is shown as queued until its
 * call has started. A finished task is shown with its run's result for as long as the run is
 * retained.
 */
export const DelayedStatus = ({ of: { last_run, status } }: { readonly of: DelayedTask }) => (
  <Status
    of={
      status === "running" && last_run?.status !== "running"
        ? "queued"
        : status === "finished" && last_run !== null
          ? last_run.status
          : status
    }
  />
)
