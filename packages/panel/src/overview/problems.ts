import type { FailingTask, Incident } from "@scheduling/sdk"
import { monitorKinds } from "../data/monitorKinds.ts"
import { taskKinds } from "../data/tasks.ts"

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

/** Returns what a problem's task or monitor is called: `Cron task`, `HTTP monitor`. */
export const describeKind = (kind: CurrentProblem["kind"]): string =>
  isTaskKind(kind) ? taskKinds[kind].name : `${monitorKinds[kind].name} monitor`

export const isTaskKind = (kind: CurrentProblem["kind"]): kind is "chain" | "cron" =>
  kind === "cron" || kind === "chain"
