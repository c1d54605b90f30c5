import type { Execution, FailingTask, Incident } from "@scheduling/sdk"

/** A failing task, an open incident, or a failing task with its open incident. */
export interface CurrentProblem {
  /** The id of the task or monitor. */
  readonly id: string
  readonly name: string
  readonly kind: Incident["subject"]["kind"]
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
    const { id, kind, name } = incident.subject
    const task = failingById.get(id)
    failingById.delete(id)
    return { id, name: task?.name ?? name, kind, failing: task, incident }
  })
  const others = [...failingById].map(([id, task]): CurrentProblem => ({
    id,
    name: task.name,
    kind: task.kind,
    failing: task,
    incident: undefined
  }))
  return [...withIncident, ...others].toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** Returns why a task or a step of a chain failed, in the words of an incident. */
export const describeFailure = ({ error, step }: Pick<Execution, "error" | "step">): string => {
  const message = error?.message ?? ""
  return step === null ? message : `Step ${step}: ${message}`
}
