import type { DelayedTask } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"

/**
 * The status of a delayed task. In the API, a due task is running. Here it is queued until its call
 * has begun, and a finished task shows the result of its run while the run is retained.
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
