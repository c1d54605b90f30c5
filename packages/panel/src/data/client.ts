import { SchedulingClient, type WorkspaceId } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { observedFetch } from "./responses.ts"
import { session } from "./session.ts"

/** The SDK client for all requests from the panel. */
export const client = new SchedulingClient({
  baseUrl: location.origin,
  fetch: observedFetch,
  accessToken: (rejected) => session.token(rejected)
})

const clients = new Map<WorkspaceId, SchedulingClient>()

/** Returns the SDK client whose requests are made in the workspace. */
export const clientOf = (workspaceId: WorkspaceId): SchedulingClient => {
  const known = clients.get(workspaceId)
  if (known !== undefined) return known
  const created = client.withWorkspace(workspaceId)
  clients.set(workspaceId, created)
  return created
}

/** Returns the id of the workspace in the URL, and its SDK client. */
export const useWorkspace = () => {
  const { workspaceId } = useParams({ from: "/inside/w/$workspaceId" })
  return { workspaceId, api: clientOf(workspaceId) }
}
