import { ApiError, type WorkspaceId } from "@scheduling/sdk"
import { notFound } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { hearFromNowOn } from "../data/live.ts"
import { queries, workspacesOptions } from "../data/queries.ts"

/** Shows that there is no such page, before each part of the page finds out for itself. */
export const requireWorkspace = async (workspaceId: WorkspaceId): Promise<void> => {
  await find(workspaceId)
  hearFromNowOn(workspaceId)
}

const find = async (workspaceId: WorkspaceId): Promise<void> => {
  const own = await queries.ensureQueryData(workspacesOptions)
  if (own.some(({ id }) => id === workspaceId)) return
  try {
    // It may be newer than the list, or one of very many.
    const found = await client.workspaces.get(workspaceId)
    queries.setQueryData(workspacesOptions.queryKey, (known = []) => [...known, found])
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 422].includes(error.status)) throw error
    throw notFound()
  }
}
