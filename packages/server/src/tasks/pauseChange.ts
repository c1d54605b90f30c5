import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { TaskStatus } from "@scheduling/domain/cron/ScheduleOptions"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { DefinitionChange } from "../accounts/index.ts"

interface PausableTask {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly name: string
  readonly status: TaskStatus
  readonly version: number
  readonly updated_at: Date
  readonly updated_by: Actor | null
}

/**
 * Describes, for the change log, that the service itself pauses or resumes a task. It contains only
 * the name and the status, because the caller has not read the whole definition.
 */
export const pauseChange = (
  kind: "cron" | "chain",
  before: PausableTask,
  after: PausableTask,
  details: { readonly reason?: string }
): DefinitionChange => ({
  kind: kind === "cron" ? "cron_task" : "chain",
  workspace_id: before.workspace_id,
  id: before.id,
  before: definitionOf(before),
  after: definitionOf(after),
  details
})

const definitionOf = ({ name, status, updated_at, updated_by, version }: PausableTask) => {
  const fields = { name, paused: status === "paused" }
  return { version, updated_at, updated_by, shown: fields, stored: fields }
}
