import type { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { RateLimited } from "../../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../../shared/Ids.ts"
import type { MonitorKind } from "../Monitor.ts"
import { monitorNouns } from "../monitorNouns.ts"

/** The maximum number of concurrent tests per workspace and principal on a node. */
export const maxConcurrentTests = 4

/**
 * Creates the endpoint that checks a target once, without creating a monitor. `note` completes its
 * description.
 */
export const testEndpoint = <Input extends Schema.Top, Result extends Schema.Top>(
  kind: MonitorKind,
  { input, note, result }: { readonly input: Input; readonly result: Result; readonly note: string }
) =>
  HttpApiEndpoint.post("test", "/test", {
    params: { workspace_id: idInPath(WorkspaceId) },
    payload: input,
    success: result,
    error: RateLimited
  })
    .annotate(Access, Access.scope("monitors:write"))
    .annotateMerge(
      docs(
        `Test ${monitorNouns[kind]}`,
        `Checks the target once, as the monitor would do, and returns the result. Nothing is saved, and nobody is notified. ${note} At most ${maxConcurrentTests} at the same time for each workspace and for each user or API key.`
      )
    )

/** Creates the endpoint that tests a kind of monitor whose target can be checked from places. */
export const targetTestEndpoint = <Input extends Schema.Top, Result extends Schema.Top>(
  kind: MonitorKind,
  schemas: { readonly input: Input; readonly result: Result }
) =>
  testEndpoint(kind, {
    ...schemas,
    note: "The service itself checks the target, so `places` must be null or absent. The response takes up to `timeout_seconds`."
  })
