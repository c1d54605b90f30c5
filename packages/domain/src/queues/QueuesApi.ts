import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import {
  Conflict,
  idempotencyErrors,
  NotFound,
  QuotaExceeded,
  ValidationFailed,
  Stale
} from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { idInPath, QueueId, WorkspaceId } from "../shared/Ids.ts"
import { idOrKey, CallerChosenKey, upsertDocs } from "../shared/requests/CallerChosenKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import { Queue, QueueDefinition, QueueInput, QueuePage, QueueQuery, QueueUpdate } from "./Queue.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const queue = { workspace_id: idInPath(WorkspaceId), queue_id: idOrKey(QueueId, "queue") }

export class QueuesApi extends HttpApiGroup.make("queues")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: QueueQuery,
      success: QueuePage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("List queues", "The workspace's queues, newest first.")),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: QueueInput,
      success: Queue.pipe(HttpApiSchema.status(201)),
      error: [Conflict, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a queue",
          `Tasks and chains refer to the queue by \`queue_id\`. ${planLimitSentence("queues", "queues", 100)}`
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: CallerChosenKey },
      headers: IfMatch,
      payload: QueueDefinition,
      success: [Queue, Queue.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded, Stale]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(upsertDocs("a queue", "A paused queue stays paused.")),

    HttpApiEndpoint.get("get", "/:queue_id", { params: queue, success: Queue, error: NotFound })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Get a queue",
          "The queue, how many of its runs are in progress and waiting, and since when they wait."
        )
      ),

    ...versionEndpoints({
      noun: "a queue",
      path: "/:queue_id",
      params: queue,
      record: Queue,
      read: Access.scope("tasks:read"),
      write: Access.scope("tasks:write")
    }),

    HttpApiEndpoint.patch("update", "/:queue_id", {
      params: queue,
      headers: IfMatch,
      payload: QueueUpdate,
      success: Queue,
      error: [NotFound, Conflict, ValidationFailed, Stale]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Change a queue",
          "Applies from the next run that starts. Running calls are not aborted, so more than a lowered `max_concurrency` may run for a while."
        )
      ),

    HttpApiEndpoint.delete("delete", "/:queue_id", {
      params: queue,
      headers: IfMatch,
      error: [NotFound, Conflict, Stale]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Delete a queue",
          "While tasks or chains use the queue, the response is 409, because their runs would lose their limit. Delayed tasks that have run do not count."
        )
      ),

    HttpApiEndpoint.post("pause", "/:queue_id/pause", {
      params: queue,
      success: Queue,
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Pause a queue",
          "Runs of the queue wait until it is resumed. Runs that have started continue. Pausing again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:queue_id/resume", {
      params: queue,
      success: Queue,
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs("Resume a queue", "Runs of the queue start again, the most overdue first.")
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/queues")
  .annotateMerge(
    OpenApi.annotations({
      title: "Queues",
      description:
        "Limits that tasks and chains share: how many of their runs are in progress, and how often a run starts."
    })
  ) {}
