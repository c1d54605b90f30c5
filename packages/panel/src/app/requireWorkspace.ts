import { ApiError, type WorkspaceId } from "@scheduling/sdk"
import { isNotFound, notFound } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { followFromNow } from "../data/live.ts"
import { forgetWorkspace, lastWorkspace } from "./lastWorkspace.ts"
import { queryClient, workspacesOptions } from "../data/queries.ts"

/** Shows the not-found page if the workspace does not exist or the user is not a member. */
export const requireWorkspace = async (workspaceId: WorkspaceId): Promise<void> => {
  const found = find(workspaceId)
  // The last visited workspace almost always still exists, so the page does not wait for the check.
  if (workspaceId === lastWorkspace()) void found.catch(leaveIfGone)
  else await found
  followFromNow(workspaceId)
}

const leaveIfGone = (error: unknown): void => {
  if (!isNotFound(error)) return
  forgetWorkspace()
  location.reload()
}

const find = async (workspaceId: WorkspaceId): Promise<void> => {
  const own = await queryClient.ensureQueryData(workspacesOptions)
  if (own.some(({ id }) => id === workspaceId)) return
  try {
    // The workspace can be newer than the cached workspace list, or beyond its first pages.
    const found = await client.workspaces.get(workspaceId)
    queryClient.setQueryData(workspacesOptions.queryKey, (known = []) => [...known, found])
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 422].includes(error.status)) throw error
    throw notFound()
  }
}
