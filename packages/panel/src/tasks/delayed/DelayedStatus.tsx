import type { DelayedTask } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"
import { delayedState } from "./delayedState.ts"

/**
 * The status of a delayed task. A finished task shows the result of its run while it is on
 * record.
 */
export const DelayedStatus = ({ of: task }: { readonly of: DelayedTask }) => (
  <Status
    of={
      task.status === "finished" && task.last_run !== null
        ? task.last_run.status
        : delayedState(task)
    }
  />
)
