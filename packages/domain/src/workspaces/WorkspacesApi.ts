import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { idempotencyErrors, QuotaExceeded } from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { CreatedRecordPath } from "../shared/CreatedRecordPath.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { AuditEvent, AuditFilters } from "./AuditEvent.ts"
import { SigningSecret, SigningSecretGeneration, SigningSecretQuery } from "./SigningSecret.ts"
import { WhoAmI } from "./WhoAmI.ts"
import { Workspace, WorkspaceInput, WorkspaceUpdate } from "./Workspace.ts"

const params = { workspace_id: idInPath(WorkspaceId) }

export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.get("list", "/workspaces", {
      query: PageQuery,
      success: Page("WorkspacePage", Workspace)
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("List workspaces", "The workspaces that you are a member of.")),

    HttpApiEndpoint.post("create", "/workspaces", {
      headers: IdempotencyKey,
      payload: WorkspaceInput,
      success: Workspace.pipe(HttpApiSchema.status(201)),
      error: [...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(docs("Create a workspace", "Creates a workspace that you own.")),

    HttpApiEndpoint.get("get", "/workspaces/:workspace_id", { params, success: Workspace })
      .annotate(Access, Access.scope("workspace:read"))
      .annotateMerge(
        docs("Get a workspace", "The name of the workspace, and whether it is stopped.")
      ),

    HttpApiEndpoint.patch("update", "/workspaces/:workspace_id", {
      params,
      payload: WorkspaceUpdate,
      success: Workspace
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Rename a workspace", "Changes the name of the workspace.")),

    HttpApiEndpoint.delete("delete", "/workspaces/:workspace_id", { params })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Delete a workspace",
          "Deletes the workspace and everything in it: API keys, tasks, executions and their history."
        )
      ),

    HttpApiEndpoint.post("stop", "/workspaces/:workspace_id/stop", {
      params,
      success: Workspace
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Stop a workspace",
          "From the response on, no run of the workspace starts on any node or worker, and no schedule fires. " +
            "Calls in progress finish. Retries, further steps of chains and new runs wait. Monitors, callbacks and " +
            "notifications continue. Stopping again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/workspaces/:workspace_id/resume", {
      params,
      success: Workspace
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Resume a workspace",
          "Waiting runs start, the most overdue first. For slots that passed in the meantime, a task with `missed: once` " +
            "or `all` runs once. Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.get("getSigningSecrets", "/workspaces/:workspace_id/signing-secrets", {
      params,
      query: SigningSecretQuery,
      success: Page("SigningSecretPage", SigningSecret)
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "List signing secrets",
          "The secrets with which a recipient verifies calls and messages from the service: one record, or two " +
            "during a rotation. Each origin has separate secrets."
        )
      ),

    HttpApiEndpoint.post(
      "rotateSigningSecret",
      "/workspaces/:workspace_id/signing-secrets/rotate",
      {
        params,
        success: SigningSecretGeneration.pipe(HttpApiSchema.status(201))
      }
    )
      .annotate(Access, Access.role("admin"))
      .annotate(CreatedRecordPath, "/v1/workspaces/:workspace_id/signing-secrets")
      .annotateMerge(
        docs(
          "Rotate the signing secret",
          "Changes the secrets of all recipients. For 24 hours, calls and messages have signatures with " +
            "the old and the new secret."
        )
      ),

    HttpApiEndpoint.get("listAuditEvents", "/workspaces/:workspace_id/audit", {
      params,
      query: { ...PageQuery, ...AuditFilters },
      success: Page("AuditEventPage", AuditEvent)
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Read the audit log",
          "The changes in this workspace with their authors, newest first."
        )
      ),

    HttpApiEndpoint.get("whoami", "/whoami", { success: WhoAmI })
      .annotate(Access, Access.credential)
      .annotateMerge(
        docs(
          "Describe the credential",
          "Returns the user of an access token, or the workspace and scopes of an API key."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Workspaces",
      description:
        "Workspaces separate tasks, keys and their history. A user can be a member of many."
    })
  ) {}
