import type { Incident } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"

/** The reason for an open incident of a task or monitor, and a link to the incident. */
export const OpenIncident = ({
  incident: { acknowledged_at, cause, id, workspace_id: workspaceId }
}: {
  readonly incident: Incident
}) => (
  <>
    <span>
      <ApiMessage text={cause.message} />
    </span>
    <Link
      to="/w/$workspaceId/incidents/$incidentId"
      params={{ workspaceId, incidentId: id }}
      className="font-medium whitespace-nowrap text-live hover:underline"
    >
      {acknowledged_at === null ? "Show the incident" : "Show the acknowledged incident"}
    </Link>
  </>
)
