import type { MonitorId, NotificationRule } from "@scheduling/sdk"
import { clientOf, useWorkspace } from "../../data/client.ts"
import { monitorKinds } from "../../data/monitorKinds.ts"
import { useMonitorNames } from "../../data/names.ts"
import { unnamed, useTaskNames } from "../../data/tasks.ts"
import type { Target } from "./TargetPicker.tsx"

type TaskIds = NonNullable<NotificationRule["task_ids"]>
type TaskId = TaskIds[number]

const few = 6

const findTasks =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<TaskId>>> => {
    const api = clientOf(workspaceId)
    const query = { name, limit: few }
    const [cron, delayed, chains] = await Promise.all([
      api.cron.list(query, { signal }),
      api.delayed.list(query, { signal }),
      api.chains.list(query, { signal })
    ])
    return [
      ...cron.data.map(({ id, name: of }) => ({ id, name: of, kind: "Cron task" })),
      ...chains.data.map(({ id, name: of }) => ({ id, name: of, kind: "Chain" })),
      ...delayed.data.map(({ id, name: of, url }) => ({
        id,
        name: of ?? unnamed(url),
        kind: "Delayed task"
      }))
    ]
  }

const findMonitors =
  (workspaceId: string) =>
  async (name: string, signal: AbortSignal): Promise<ReadonlyArray<Target<MonitorId>>> => {
    const { data } = await clientOf(workspaceId).monitors.list({ name, limit: few * 2 }, { signal })
    return data.map(({ id, kind, name: of }) => ({ id, name: of, kind: monitorKinds[kind].name }))
  }

const shortly = (id: string) => `…${id.slice(-6)}`

/** What a rule can be about: how it is found, and what it is called. */
export const useTargets = ({
  monitor_ids = [],
  task_ids = []
}: Pick<NotificationRule, "monitor_ids" | "task_ids"> = {}) => {
  const { workspaceId } = useWorkspace()
  const tasks = useTaskNames(workspaceId, task_ids)
  const monitors = useMonitorNames(workspaceId, monitor_ids)
  return {
    tasks: {
      findKey: ["w", workspaceId, "names", "find"],
      find: findTasks(workspaceId),
      nameOf: (id: TaskId) => tasks.get(id) ?? `task ${shortly(id)}`
    },
    monitors: {
      findKey: ["w", workspaceId, "monitors", "find"],
      find: findMonitors(workspaceId),
      nameOf: (id: MonitorId) => monitors.get(id) ?? `monitor ${shortly(id)}`
    }
  }
}
