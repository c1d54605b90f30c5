import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, QuotaExceeded, RateLimited } from "../shared/Errors.ts"
import { ApiKeyId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { ApiKey, ApiKeyInput, ApiKeyRotation, CreatedApiKey, LeakedApiKey } from "./ApiKey.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const key = { workspace_id: idInPath(WorkspaceId), key_id: idInPath(ApiKeyId) }

export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: Page("ApiKeyPage", ApiKey)
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "List API keys",
          "All keys of the workspace, including revoked and expired ones, newest first."
        )
      ),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      payload: ApiKeyInput,
      success: CreatedApiKey.pipe(HttpApiSchema.status(201)),
      error: QuotaExceeded
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Create an API key",
          "Only this response contains the key. " +
            planLimitSentence("active keys", "active_api_keys", 100)
        )
      ),

    HttpApiEndpoint.get("get", "/:key_id", { params: key, success: ApiKey, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Get an API key", "The record of the key, without the key itself.")),

    HttpApiEndpoint.get("getUsage", "/:key_id/usage", {
      params: key,
      success: ApiKeyUsage,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Get the usage of an API key",
          "Returns the scopes that were used in the last 90 days, the addresses, and the scopes that would suffice. Uses are recorded within seconds, rounded to the hour."
        )
      ),

    HttpApiEndpoint.post("revoke", "/:key_id/revoke", {
      params: key,
      success: ApiKey,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Revoke an API key",
          "All nodes reject the key from the next request on. The key stays in the list."
        )
      ),

    HttpApiEndpoint.post("rotate", "/:key_id/rotate", {
      params: key,
      payload: ApiKeyRotation,
      success: CreatedApiKey.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Rotate an API key",
          "Creates a new key with the same name, scopes and expiry. The old key keeps working for " +
            "`grace_seconds`. Rotating the old key again returns 409 with the id of the new key."
        )
      ),

    HttpApiEndpoint.delete("delete", "/:key_id", { params: key, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Delete an API key", "Revokes the key and removes it from the list."))
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/api-keys")
  .add(
    HttpApiEndpoint.post("revokeLeaked", "/v1/api-keys/revoke", {
      payload: LeakedApiKey,
      error: RateLimited
    })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Revoke a leaked API key",
          "For anyone who finds a leaked key: the key is revoked immediately. The response is always 204, even if the key does not exist. An IP address can send 100 of these requests in 15 minutes."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "API keys",
      description:
        "Keys for scripts, CI and integrations, bound to one workspace and a set of scopes."
    })
  ) {}
