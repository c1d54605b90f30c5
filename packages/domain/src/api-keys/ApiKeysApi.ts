import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planAllows } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, QuotaExceeded, RateLimited } from "../shared/Errors.ts"
import { ApiKeyId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { ApiKey, ApiKeyInput, ApiKeyRotation, CreatedApiKey, LeakedApiKey } from "./ApiKey.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const key = { workspace_id: inPath(WorkspaceId), key_id: inPath(ApiKeyId) }

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
          "Every key that was not deleted, including revoked and expired ones, newest first."
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
          "The answer carries the key, once. " + planAllows("active keys", "active_api_keys", 100)
        )
      ),

    HttpApiEndpoint.get("get", "/:key_id", { params: key, success: ApiKey, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Get an API key", "The key's record, without the key itself.")),

    HttpApiEndpoint.get("usage", "/:key_id/usage", {
      params: key,
      success: ApiKeyUsage,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Get the usage of an API key",
          "Which of its scopes were used in 90 days, from where, and what to narrow it to. Uses are noted within seconds, to the hour."
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
          "Every node refuses the key from the next request on. The key stays listed."
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
          "Makes a new key with the same name, scopes and expiry. The old one works for `grace_seconds` " +
            "more, and cannot be rotated again: that answers 409, which names the new one."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:key_id", { params: key, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Delete an API key", "Revokes the key and takes it off the list."))
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
          "For whoever finds a key where it should not be: it is revoked at once. The answer is 204 whether or not there was such a key. An address may send 100 in 15 minutes."
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
