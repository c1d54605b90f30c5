import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { RateLimited } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { LiveEvent } from "./Event.ts"

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("stream", "/", {
      params: { workspace_id: idInPath(WorkspaceId) },
      headers: {
        "last-event-id": Schema.optionalKey(
          Schema.String.check(
            Schema.isPattern(/^[\x21-\x7e]*$/u, { expected: "visible ASCII characters" })
          ).annotate({ examples: ["1769851800127-5f0c9a1e-42", "2026-01-31T09:30:00Z"] })
        )
      },
      success: HttpApiSchema.StreamSse({ data: LiveEvent }),
      error: RateLimited
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "Stream live events",
          "Server-sent events in real time. Each message has one event as JSON in `data`, in the " +
            "same format as webhooks and callbacks, without `notice`. An API key also needs " +
            "`tasks:read` for events of tasks and `monitors:read` for events of monitors and incidents. It " +
            "does not receive events of workers.\n\n" +
            "With `Last-Event-ID`, the stream continues after that event, if it is not older than five " +
            "minutes; an event may then be repeated with the same id. The header may also be a time in " +
            "UTC by the clock of the service, such as the `Date` of an earlier response, as ISO 8601: " +
            "the stream then starts with the events since that time. If events may be missing, the " +
            "stream contains a `reset`. A comment is sent every 15 seconds. The stream ends when the " +
            "credential expires, and when its reader is too slow."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/events")
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "Changes in a workspace, in real time." })
  ) {}
