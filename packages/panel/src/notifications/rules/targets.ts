import type { MonitorId, NotificationRule } from "@scheduling/sdk"
import { clientOf, useWorkspace } from "../../data/client.ts"
import { monitorKinds } from "../../data/monitorKinds.ts"
import { monitorNames } from "../../data/names.ts"
import { findTasks, taskKinds, taskNames } from "../../data/tasks.ts"
import type { Target } from "./TargetPicker.tsx"

type TaskIds = NonNullable<NotificationRule["task_ids"]>
type TaskId = TaskIds[number]

const findTargetTasks =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<TaskId>>> => {
    const tasks = await findTasks(workspaceId, name, signal)
    return tasks.map((task) => ({ ...task, kind: taskKinds[task.kind].name }))
  }

const findMonitors =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<MonitorId>>> => {
    const { data } = await clientOf(workspaceId).monitors.list({ name, limit: 12 }, { signal })
    return data.map(({ id, kind, name: of }) => ({ id, name: of, kind: monitorKinds[kind].name }))
  }

const shortId = (id: string) => `…${id.slice(-6)}`

const nothing = { monitor_ids: null, task_ids: null }

/** The tasks and monitors to which a rule can be limited. */
export const useTargets = ({
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
      find: findMonitors(workspaceId),
      nameOf: (id: MonitorId) => monitors.get(id) ?? `monitor ${shortId(id)}`
    }
  }
}
