import type { WorkspaceId } from "@scheduling/sdk"

export type Names = ReadonlyMap<string, string>

interface Batch {
  readonly ids: Set<string>
  readonly names: Promise<Names>
}

/** As many as the API tells of at once. */
const maxAtOnce = 100

/**
 * Reads one name, batched with all names requested at the same time. Undefined if the thing is
 * gone.
 */
export const askTogether = (
  ask: (workspaceId: WorkspaceId, ids: string) => Promise<Names>
): ((workspaceId: WorkspaceId, id: string) => Promise<string | undefined>) => {
  const open = new Map<WorkspaceId, Batch>()

  const begin = (workspaceId: WorkspaceId): Batch => {
    const ids = new Set<string>()
    const gathered = new Promise((resolve) => setTimeout(resolve))
    const names = gathered.then(() => {
      if (open.get(workspaceId)?.ids === ids) open.delete(workspaceId)
      return ask(workspaceId, [...ids].join(","))
    })
    const batch = { ids, names }
    open.set(workspaceId, batch)
    return batch
  }

  return async (workspaceId, id) => {
    const batch = open.get(workspaceId) ?? begin(workspaceId)
    batch.ids.add(id)
    if (batch.ids.size === maxAtOnce) open.delete(workspaceId)
    return (await batch.names).get(id)
  }
}
