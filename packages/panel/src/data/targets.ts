import type {
  Dependency,
  ExecutionKind,
  MonitorId,
  MonitorKind,
  NotificationRule,
  SchedulingClient,
  WorkspaceId
} from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf, useWorkspace } from "./client.ts"
import { monitorKinds } from "./monitorKinds.ts"
import { monitorNames } from "./names.ts"
import { retryOnce } from "./queries.ts"
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

export const isTaskKind = (kind: Dependency["kind"]): kind is "chain" | "cron" =>
  kind === "cron" || kind === "chain"

/** Returns what a task or monitor of a kind is called: `Cron task`, `HTTP monitor`. */
export const describeKind = (kind: Dependency["kind"]): string =>
  isTaskKind(kind) ? taskKinds[kind].name : `${monitorKinds[kind].name} monitor`

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

/**
 * The start of the query keys for the definition of a task or monitor. Live events about edits
 * invalidate it, and live events about runs and checks do not.
 */
export const definitionKey = (workspaceId: WorkspaceId, { id, kind }: TaskOrMonitor) =>
  ["w", workspaceId, kind in taskKinds ? "names" : "monitor-names", id, "definition"] as const

/**
 * The query for the definition of a task or monitor. The status in it may be outdated, because runs
 * and checks do not invalidate this query.
 */
export const definitionOptions = (workspaceId: WorkspaceId, subject: TaskOrMonitor) =>
  queryOptions({
    queryKey: definitionKey(workspaceId, subject),
    staleTime: 60_000,
    retry: retryOnce,
    queryFn: async ({ signal }) =>
      await resourceOf(clientOf(workspaceId), subject.kind).get(subject.id, { signal })
  })

export type Definition = Awaited<ReturnType<ReturnType<typeof resourceOf>["get"]>>

/** The record of a monitor of any kind. */
export type MonitorDefinition = Awaited<
  ReturnType<SchedulingClient[`${MonitorKind}Monitors`]["get"]>
>

/**
 * Returns what a task or monitor calls or checks, such as `GET https://example.com`. In a chain, the
 * call of the given step. Undefined for monitors that check no address.
 */
export const targetOf = (
  record: Definition,
  stepName: string | null = null
): string | undefined => {
  if ("steps" in record) {
    const step = record.steps.find(({ name }) => name === stepName)
    return step !== undefined && "url" in step ? `${step.method} ${step.url}` : undefined
  }
  if ("url" in record) return `${record.method} ${record.url}`
  if ("record_type" in record) return `${record.record_type} ${record.host}`
  if ("server_name" in record) {
    const { host, port, server_name } = record
    return server_name === null || server_name === host
      ? `${host}:${port}`
      : `${server_name} at ${host}:${port}`
  }
  return "port" in record ? `tcp ${record.host}:${record.port}` : undefined
}

/** The link to the page of a task or monitor. */
export const taskOrMonitorLink = (workspaceId: WorkspaceId, { id, kind }: TaskOrMonitor) =>
  kind === "cron" || kind === "chain" || kind === "delayed"
    ? taskLink(workspaceId, kind, id)
    : {
        to: "/w/$workspaceId/monitors/$kind/$monitorId" as const,
        params: { workspaceId, kind, monitorId: id }
      }
