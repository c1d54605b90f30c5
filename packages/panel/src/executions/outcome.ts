import type { ExecutionDetail } from "@scheduling/sdk"
import { describeError } from "../ui/values/describeError.ts"

/** Describes how an execution ended. Undefined while it is unfinished and if no call was made. */
export const describeOutcome = ({
  attempts,
  error,
  status
}: Pick<ExecutionDetail, "attempts" | "error" | "status">): string | undefined => {
  if (error !== null) return describeError(error.message)
  const code = attempts.at(-1)?.status_code
  return status === "succeeded" && code != null
    ? describeError(`responded with ${code}`)
    : undefined
}
