import type { FailingTask, Incident } from "@scheduling/sdk"

/** A failing task, an open incident, or a failing task with its open incident. */
export interface CurrentProblem {
  /** The id of the task or monitor. */
  readonly id: string
  readonly name: string
  readonly failing: FailingTask | undefined
  readonly incident: Incident | undefined
}

/** Incidents that somebody knows of, or that another incident caused, come last. */
const rankOf = ({ incident }: CurrentProblem): number => {
  if (incident === undefined) return 1
  if (incident.suppressed) return 3
  return incident.acknowledged_at === null ? 0 : 2
}

/**
 * Returns each task and monitor that has a problem once, worst problem first. Equally bad problems
 * keep their order.
 */
export const problemsOf = (
  failing: ReadonlyArray<FailingTask>,
  incidents: ReadonlyArray<Incident>
): ReadonlyArray<CurrentProblem> => {
  const failingById = new Map<string, FailingTask>(failing.map((task) => [task.task_id, task]))
  const withIncident = incidents.map((incident): CurrentProblem => {
    const { id, name } = incident.subject
    const task = failingById.get(id)
    failingById.delete(id)
    return { id, name: task?.name ?? name, failing: task, incident }
  })
  const others = [...failingById].map(([id, task]): CurrentProblem => ({
    id,
    name: task.name,
    failing: task,
    incident: undefined
  }))
  return [...withIncident, ...others].toSorted((one, other) => rankOf(one) - rankOf(other))
}
