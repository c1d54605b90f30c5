import type { Incident } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"

/** A link from a task or monitor to its open incident. */
export const IncidentLink = ({
  incident: { acknowledged_at, id, workspace_id: workspaceId }
}: {
  readonly incident: Pick<Incident, "acknowledged_at" | "id" | "workspace_id">
}) => (
  <Link
    to="/w/$workspaceId/incidents/$incidentId"
    params={{ workspaceId, incidentId: id }}
    className="font-medium text-live hover:underline"
  >
    {acknowledged_at === null ? "Show the incident" : "Show the acknowledged incident"}
  </Link>
)
