import type {
  Dependency,
  ExecutionKind,
  MonitorId,
  NotificationRule,
  SchedulingClient,
  WorkspaceId
} from "@scheduling/sdk"
import { clientOf, useWorkspace } from "./client.ts"
import { monitorKinds } from "./monitorKinds.ts"
import { monitorNames } from "./names.ts"
import { findTasks, taskKinds, taskLink, taskNames } from "./tasks.ts"
import type { Target } from "../ui/forms/TargetPicker.tsx"

type TaskIds = NonNullable<NotificationRule["task_ids"]>
type TaskId = TaskIds[number]

const findTargetTasks =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<TaskId>>> => {
    const tasks = await findTasks(workspaceId, name, signal)
    return tasks.map((task) => ({ ...task, kind: taskKinds[task.kind].name }))
  }

const findMonitors = async (workspaceId: string, name: string, signal: AbortSignal) => {
  const { data } = await clientOf(workspaceId).monitors.list({ name, limit: 12 }, { signal })
  return data
}

const findTargetMonitors =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<MonitorId>>> => {
    const monitors = await findMonitors(workspaceId, name, signal)
    return monitors.map((monitor) => ({
      id: monitor.id,
      name: monitor.name,
      kind: monitorKinds[monitor.kind].name
    }))
  }

/**
 * Finds the monitors and tasks that another one can depend on, and the names of the selected ones.
 */
export const useDependencyTargets = (chosen: ReadonlyArray<FormDependency>) => {
  const { workspaceId } = useWorkspace()
  const idsOf = (isTask: boolean) =>
    chosen.flatMap(({ id, kind }) => (isTaskKind(kind) === isTask ? [id] : []))
  const tasks = taskNames.useNames(workspaceId, idsOf(true) as ReadonlyArray<TaskId>)
  const monitors = monitorNames.useNames(workspaceId, idsOf(false) as ReadonlyArray<MonitorId>)
  return {
    findKey: ["w", workspaceId, "dependencies", "find"],
    find: async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Found>> => {
      const [found, watched] = await Promise.all([
        findTasks(workspaceId, name, signal),
        findMonitors(workspaceId, name, signal)
      ])
      return [
        ...watched.map(({ id, kind, name: of }) => ({
          on: { kind, id },
          name: of,
          kind: monitorKinds[kind].name
        })),
        ...found.flatMap(({ id, kind, name: of }) =>
          kind === "delayed" ? [] : [{ on: { kind, id }, name: of, kind: taskKinds[kind].name }]
        )
      ]
    },
    nameOf: ({ id, kind }: FormDependency) =>
      isTaskKind(kind)
        ? (tasks.get(id) ?? `task ${shortId(id)}`)
        : (monitors.get(id) ?? `monitor ${shortId(id)}`)
  }
}

/** A dependency as a form stores it, without its name. */
export type FormDependency = Pick<Dependency, "id" | "kind">

/** Joins a kind and an id, because the picker identifies each record by a single string. */
export const dependencyKey = ({ id, kind }: FormDependency) => `${kind} ${id}`

export const dependencyOfKey = (key: string): FormDependency => {
  const [kind = "", id = ""] = key.split(" ")
  return { kind: kind as FormDependency["kind"], id: id as FormDependency["id"] }
}

interface Found {
  readonly on: FormDependency
  readonly name: string
  readonly kind: string
}

const isTaskKind = (kind: Dependency["kind"]) => kind === "cron" || kind === "chain"

const shortId = (id: string) => `…${id.slice(-6)}`

const nothing = { monitor_ids: null, task_ids: null }

/**
 * Finds the tasks and monitors that a rule can be limited to, and the names of the selected ones.
 */
export const useRuleTargets = ({
  monitor_ids,
  task_ids
}: Pick<NotificationRule, "monitor_ids" | "task_ids"> = nothing) => {
  const { workspaceId } = useWorkspace()
  const tasks = taskNames.useNames(workspaceId, task_ids ?? [])
  const monitors = monitorNames.useNames(workspaceId, monitor_ids ?? [])
  return {
    tasks: {
      findKey: ["w", workspaceId, "names", "find"],
      find: findTargetTasks(workspaceId),
      nameOf: (id: TaskId) => tasks.get(id) ?? `task ${shortId(id)}`
    },
    monitors: {
      findKey: ["w", workspaceId, "monitors", "find"],
      find: findTargetMonitors(workspaceId),
      nameOf: (id: MonitorId) => monitors.get(id) ?? `monitor ${shortId(id)}`
    }
  }
}

/** A task of any kind, or a monitor. */
export interface TaskOrMonitor {
  readonly kind: Dependency["kind"] | ExecutionKind
  readonly id: string
}

/** Returns the SDK methods for the kind of a task or monitor. */
export const resourceOf = (api: SchedulingClient, kind: TaskOrMonitor["kind"]) => {
  if (kind === "chain") return api.chains
  return kind === "cron" || kind === "delayed" ? api[kind] : api[`${kind}Monitors`]
}

/** The link to the page of a task or monitor. */
export const taskOrMonitorLink = (workspaceId: WorkspaceId, { id, kind }: TaskOrMonitor) =>
  kind === "cron" || kind === "chain" || kind === "delayed"
    ? taskLink(workspaceId, kind, id)
    : {
        to: "/w/$workspaceId/monitors/$kind/$monitorId" as const,
        params: { workspaceId, kind, monitorId: id }
      }
