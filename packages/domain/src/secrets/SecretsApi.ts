import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, QuotaExceeded, ValidationFailed } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { Secret, SecretDefinition, SecretName, SecretPage } from "./Secret.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const named = { ...workspace, name: SecretName }

export class SecretsApi extends HttpApiGroup.make("secrets")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: SecretPage
    })
      .annotate(Access, Access.role("editor"))
      .annotateMerge(
        docs(
          "List secrets",
          "The workspace's secrets without their values, newest first, with the records that use them."
        )
      ),

    HttpApiEndpoint.put("upsert", "/:name", {
      params: named,
      payload: SecretDefinition,
      success: [Secret, Secret.pipe(HttpApiSchema.status(201))],
      error: [QuotaExceeded, ValidationFailed]
    })
      .annotate(Access, Access.role("editor"))
      .annotateMerge(
        docs(
          "Create or change a secret",
          "Calls that start later use the new value. Calls, channels and `auth` refer to the secret as " +
            `\`{{ secrets.NAME }}\`. ${planLimitSentence("secrets", "secrets", 100)}`
        )
      ),

    HttpApiEndpoint.delete("delete", "/:name", {
      params: named,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("editor"))
      .annotateMerge(
        docs(
          "Delete a secret",
          "While tasks, chains or channels use the secret, the response is 409 and names them, because their calls would fail."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/secrets")
  .annotateMerge(
    OpenApi.annotations({
      title: "Secrets",
      description:
        "Write-only values for calls and channels: tokens, passwords, keys. A secret is inserted when a call is made, and only if the call goes to one of its hosts."
    })
  ) {}
