import { docs } from "../shared/docs.ts"

/** What the endpoints say of themselves that cancel an execution of a task. */
export const cancelDocs = docs(
  "Cancel an execution",
  "Ends a queued or running execution. A running call is cut off, so the answer may still say " +
    "`running`. If it has ended in another way, the answer is 409."
)
