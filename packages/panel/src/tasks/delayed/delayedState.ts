import type { DelayedTask } from "@scheduling/sdk"

/** To the API a task runs once it is due. To its readers it is queued until its call has begun. */
export const delayedState = ({
  last_run,
  status
}: Pick<DelayedTask, "last_run" | "status">): string =>
  status === "running" && last_run?.status !== "running" ? "queued" : status
