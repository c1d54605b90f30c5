import { ApiError, type WorkspaceId } from "@scheduling/sdk"
import { isNotFound, notFound } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { hearFromNowOn } from "../data/live.ts"
import { forgetWorkspace, lastWorkspace } from "./lastWorkspace.ts"
import { queries, workspacesOptions } from "../data/queries.ts"

/** Shows that there is no such page, before each part of the page finds out for itself. */
export const requireWorkspace = async (workspaceId: WorkspaceId): Promise<void> => {
  const found = find(workspaceId)
  // Where the reader was before is nearly always still there, and nothing waits for the answer.
  if (workspaceId === lastWorkspace()) void found.catch(leaveIfGone)
  else await found
  hearFromNowOn(workspaceId)
}

const leaveIfGone = (error: unknown): void => {
  if (!isNotFound(error)) return
  forgetWorkspace()
  location.reload()
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
