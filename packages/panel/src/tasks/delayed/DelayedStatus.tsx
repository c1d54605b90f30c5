import type { DelayedTask } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"
import { stateOf } from "./stateOf.ts"

/** What became of a delayed task. A finished one says how its run ended, as long as that is known. */
export const DelayedStatus = ({ of: task }: { readonly of: DelayedTask }) => (
  <Status
    of={task.status === "finished" && task.last_run !== null ? task.last_run.status : stateOf(task)}
  />
)
