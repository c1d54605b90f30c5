import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf, useWorkspace } from "../data/client.ts"
import { retryOnce } from "../data/queries.ts"
import {
  type Definition,
  definitionKey,
  definitionOptions,
  resourceOf,
  type TaskOrMonitor
} from "../data/targets.ts"

/** The query for the versions of a task or monitor, newest first. */
export const definitionVersionsOptions = (workspaceId: WorkspaceId, subject: TaskOrMonitor) =>
  queryOptions({
    queryKey: [...definitionKey(workspaceId, subject), "versions"],
    retry: retryOnce,
    queryFn: async ({ signal }) =>
      (await resourceOf(clientOf(workspaceId), subject.kind).listVersions(subject.id, { signal }))
        .data
  })

/**
 * Returns a task or monitor as it was at the given time, by undoing later changes. Changes whose
 * versions have been deleted are not undone. Undefined until loaded.
 */
export const useDefinitionAt = (subject: TaskOrMonitor, at: string): Definition | undefined => {
  const { workspaceId } = useWorkspace()
  const { data: current } = useQuery(definitionOptions(workspaceId, subject))
  const isEdited = current !== undefined && Date.parse(current.updated_at) > Date.parse(at)
  const { data: versions } = useQuery({
    ...definitionVersionsOptions(workspaceId, subject),
    enabled: isEdited
  })
  if (!isEdited) return current
  const changes = versions
    ?.filter(({ updated_at }) => Date.parse(updated_at) > Date.parse(at))
    .flatMap((version) => version.changes)
  return (
    changes && { ...current, ...Object.fromEntries(changes.map(({ field, old }) => [field, old])) }
  )
}
