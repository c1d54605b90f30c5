import type { Execution } from "@scheduling/sdk"

/** The failures of one task. */
export interface FailureGroup {
  /** The id of the latest failed execution. */
  readonly id: string
  readonly latest: Execution
  readonly count: number
  /** When the first of these failures was due. */
  readonly since: string
}

/** Groups failed executions, newest first, by their task. */
export const groupFailures = (executions: ReadonlyArray<Execution>): ReadonlyArray<FailureGroup> =>
  [...Map.groupBy(executions, ({ task_id }) => task_id).values()].flatMap((failures) => {
    const [latest, oldest] = [failures[0], failures.at(-1)]
    return latest === undefined || oldest === undefined
      ? []
      : [{ id: latest.id, latest, count: failures.length, since: oldest.scheduled_for }]
  })
