import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { idInPath, ServiceAccountId, WorkspaceId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import {
  CreatedServiceAccount,
  ServiceAccount,
  ServiceAccountInput,
  ServiceAccountRotation,
  ServiceAccountUpdate
} from "./ServiceAccount.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const account = {
  workspace_id: idInPath(WorkspaceId),
  service_account_id: idInPath(ServiceAccountId)
}

export class ServiceAccountsApi extends HttpApiGroup.make("serviceAccounts")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: Page("ServiceAccountPage", ServiceAccount)
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs("List service accounts", "The service accounts of the workspace, newest first.")
      ),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      payload: ServiceAccountInput,
      success: CreatedServiceAccount.pipe(HttpApiSchema.status(201)),
      error: QuotaExceeded
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Create a service account",
          "Only this response contains the client secret. A service account counts as a member. " +
            planLimitSentence("members", "members", 1_000)
        )
      ),

    HttpApiEndpoint.get("get", "/:service_account_id", {
      params: account,
      success: ServiceAccount,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs("Get a service account", "The service account, without the client secret.")
      ),

    HttpApiEndpoint.patch("update", "/:service_account_id", {
      params: account,
      payload: ServiceAccountUpdate,
      success: ServiceAccount,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Change a service account",
          "Changes the name or the role. A new role applies from the next request on, including for existing tokens."
        )
      ),

    HttpApiEndpoint.post("rotate", "/:service_account_id/rotate", {
      params: account,
      payload: ServiceAccountRotation,
      success: CreatedServiceAccount.pipe(HttpApiSchema.status(201)),
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Rotate the secret of a service account",
          "Creates a new client secret. The old secret and its access tokens keep working for `grace_seconds`. Secrets from earlier rotations stop working."
        )
      ),

    HttpApiEndpoint.delete("delete", "/:service_account_id", { params: account, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Delete a service account",
          "The client secret and access tokens stop working immediately. Invitations that the service account sent are deleted. API keys and everything else that it created are kept."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/service-accounts")
  .annotateMerge(
    OpenApi.annotations({
      title: "Service accounts",
      description: "Non-human members, for tools that set up workers, keys, members and tasks."
    })
  ) {}
