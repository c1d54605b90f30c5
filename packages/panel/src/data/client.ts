import { SchedulingClient, type WorkspaceId } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { noticed } from "./answers.ts"
import { session } from "./session.ts"

/** The panel's only door to the API. */
export const client = new SchedulingClient({
  baseUrl: location.origin,
  fetch: noticed,
  accessToken: (refused) => session.token(refused)
})

const clients = new Map<WorkspaceId, SchedulingClient>()

/** The client for a workspace, the same one each time. */
export const clientOf = (workspaceId: WorkspaceId): SchedulingClient => {
  const known = clients.get(workspaceId)
  if (known !== undefined) return known
  const made = client.withWorkspace(workspaceId)
  clients.set(workspaceId, made)
  return made
}

/** The workspace of the page, and its client. */
export const useWorkspace = () => {
  const { workspaceId } = useParams({ from: "/inside/w/$workspaceId" })
  return { workspaceId, api: clientOf(workspaceId) }
}
