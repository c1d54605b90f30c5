import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, Stale, ValidationFailed } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { CreatedRecordPath } from "../shared/CreatedRecordPath.ts"
import { CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import {
  EscalationPolicy,
  EscalationPolicyDefinition,
  EscalationPolicyList,
  maxEscalationPolicies
} from "./EscalationPolicy.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const keyed = { ...workspace, key: CallerChosenKey }

export class EscalationsApi extends HttpApiGroup.make("escalations")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: EscalationPolicyList
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(
        docs("List escalation policies", "The workspace's escalation policies, newest first.")
      ),

    HttpApiEndpoint.get("get", "/:key", {
      params: keyed,
      success: EscalationPolicy,
      error: NotFound
    })
      .annotate(Access, Access.scope("notifications:read"))
      .annotateMerge(
        docs("Get an escalation policy", "The steps, without members who have left the workspace.")
      ),

    HttpApiEndpoint.put("upsert", "/:key", {
      params: keyed,
      headers: IfMatch,
      payload: EscalationPolicyDefinition,
      success: [EscalationPolicy, EscalationPolicy.pipe(HttpApiSchema.status(201))],
      error: [Conflict, NotFound, Stale, ValidationFailed]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotate(CreatedRecordPath, "/v1/workspaces/:workspace_id/escalations/:key")
      .annotateMerge(
        docs(
          "Create or change an escalation policy",
          "To use the policy, name it in a rule of the notification settings. A change also applies to the next steps of open incidents. A member without an email channel gets one, which appears in the list of channels. " +
            `A workspace can have ${maxEscalationPolicies} policies.`
        )
      ),

    HttpApiEndpoint.delete("delete", "/:key", {
      params: keyed,
      headers: IfMatch,
      error: [Conflict, NotFound, Stale]
    })
      .annotate(Access, Access.scope("notifications:write"))
      .annotateMerge(
        docs(
          "Delete an escalation policy",
          "Open incidents are not escalated further. A policy that a rule of the notification settings names cannot be deleted."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/escalations")
  .annotateMerge(
    OpenApi.annotations({
      title: "Escalations",
      description: "Whom to notify of an incident, step by step, until somebody acknowledges it."
    })
  ) {}
