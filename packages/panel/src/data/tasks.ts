import type { CallMethod, ExecutionKind, WorkspaceId } from "@scheduling/sdk"
import { CalendarClock, type LucideIcon, Timer, Workflow } from "lucide-react"
import { clientOf } from "./client.ts"
import { nameLookup } from "./nameLookup.ts"

/** The path segment for a kind of task, in the API and in the panel. */
export type TaskNoun = "chains" | "cron" | "delayed"

interface TaskKind {
  readonly noun: TaskNoun
  readonly name: string
  readonly plural: string
  readonly icon: LucideIcon
}

export const taskKinds: Readonly<Record<ExecutionKind, TaskKind>> = {
  cron: { noun: "cron", name: "Cron task", plural: "Cron tasks", icon: CalendarClock },
  delayed: { noun: "delayed", name: "Delayed task", plural: "Delayed tasks", icon: Timer },
  chain: { noun: "chains", name: "Chain", plural: "Chains", icon: Workflow }
}

export const taskLink = (
  workspaceId: WorkspaceId,
  kind: ExecutionKind,
  taskId: string,
  runId: string | null = null
) => ({
  to: `/w/$workspaceId/${taskKinds[kind].noun}/$taskId` as const,
  params: { workspaceId, taskId },
  search: runId === null ? {} : { run: runId }
})

/** The display name of a task without a name: its URL without the scheme. */
export const nameFromUrl = (url: string): string => url.replace(/^https?:\/\//, "")

export const taskNames = nameLookup("task", "names", async (workspaceId, task_ids) => {
  const { data } = await clientOf(workspaceId).activity.names({ task_ids })
  return new Map(data.map(({ name, task_id, url }) => [task_id, name ?? nameFromUrl(url ?? "")]))
})

/** Finds tasks of all kinds by part of their name. */
export const findTasks = async (
  workspaceId: WorkspaceId,
  name: string,
  signal: AbortSignal
): Promise<
  ReadonlyArray<{ readonly id: string; readonly kind: ExecutionKind; readonly name: string }>
> => {
  const api = clientOf(workspaceId)
  const query = { name, limit: 6 }
  const [cron, chains, delayed] = await Promise.all([
    api.cron.list(query, { signal }),
    api.chains.list(query, { signal }),
    api.delayed.list(query, { signal })
  ])
  return [
    ...cron.data.map((task) => ({ id: task.id, kind: "cron" as const, name: task.name })),
    ...chains.data.map((task) => ({ id: task.id, kind: "chain" as const, name: task.name })),
    ...delayed.data.map((task) => ({
      id: task.id,
      kind: "delayed" as const,
      name: task.name ?? nameFromUrl(task.url)
    }))
  ]
}

export interface TaskCall {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}
