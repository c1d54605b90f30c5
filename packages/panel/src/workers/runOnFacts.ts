import { duration } from "../ui/values/format.ts"
import type { RunsOn } from "./runOnValues.ts"

/** The facts about the workers of a task that runs on workers. */
export const runOnFacts = ({
  run_on,
  worker_wait_seconds
}: RunsOn): ReadonlyArray<readonly [name: string, value: string]> =>
  run_on === null
    ? []
    : [
        ["Runs on", `Workers with ${run_on.labels.join(", ")}`],
        ["Waits for a worker", duration(worker_wait_seconds * 1_000)]
      ]
