import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { RateLimited } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { AppliedDefinitions } from "./AppliedDefinitions.ts"
import {
  DefinitionsDocument,
  ExportedDefinitions,
  maxDefinitions,
  readScopes,
  writeScopes
} from "./DefinitionsDocument.ts"

const params = { workspace_id: idInPath(WorkspaceId) }

const flag = (description: string) =>
  Schema.optionalKey(Schema.Boolean.annotate({ description, examples: [true] }))

export const ApplyQuery = {
  dry_run: flag("True: the response lists what would change, and nothing changes."),
  prune: flag(
    "True: deletes the records of the document's `owner` that the document does not contain. " +
      "Requires an `owner`."
  ),
  adopt: flag("True: takes over records of other owners.")
}

export class DefinitionsApi extends HttpApiGroup.make("definitions")
  .add(
    HttpApiEndpoint.post("apply", "/apply", {
      params,
      query: ApplyQuery,
      payload: DefinitionsDocument,
      success: AppliedDefinitions,
      error: RateLimited
    })
      .annotate(Access, Access.anyScope(writeScopes))
      .annotateMerge(
        docs(
          "Apply a document of definitions",
          "Creates each record of the document, or replaces the definition of the existing record with its key. If one record is rejected, nothing changes. Unchanged records are not written. An API key needs the scope of each kind of record that the document " +
            `defines or deletes. At most ${maxDefinitions} records; ten of them count as one ` +
            "request."
        )
      ),

    HttpApiEndpoint.get("export", "/export", {
      params,
      query: {
        owner: Schema.optionalKey(
          CallerChosenKey.annotate({
            description: "Returns the records of this owner. All records when absent.",
            examples: ["billing"]
          })
        )
      },
      success: ExportedDefinitions
    })
      .annotate(Access, Access.anyScope(readScopes))
      .annotateMerge(
        docs(
          "Export the definitions",
          "The records that have a key, as a document. Applying it changes nothing. It " +
            "contains only pending delayed tasks. An API key sees the kinds of records that its " +
            `scopes let it read. At most ${maxDefinitions} records: export those of one owner if ` +
            "there are more."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id")
  .annotateMerge(
    OpenApi.annotations({
      title: "Definitions",
      description:
        "All definitions of a workspace as one document, which can be kept in a repository."
    })
  ) {}
