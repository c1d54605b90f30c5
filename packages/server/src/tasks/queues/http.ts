import { Api } from "@scheduling/domain/Api"
import { Queue } from "@scheduling/domain/queues/Queue"
import { QueueId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { versionHandlers } from "../../accounts/index.ts"
import {
  upsertResponse,
  DefinedKinds,
  withExpectedVersion,
  Idempotency,
  implement,
  inWorkspace,
  ifMatchVersion,
  withETag
} from "../../http/index.ts"
import { Queues } from "./Queues.ts"

export const QueuesHandlers = implement(
  Api,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const queues = yield* Queues
    const idempotency = yield* Idempotency
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "queue",
      upsert: queues.upsert,
      get: (workspaceId, { id }) => queues.get(workspaceId, QueueId.make(id)),
      remove: (workspaceId, { id }) => queues.remove(workspaceId, QueueId.make(id))
    })
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => queues.list(workspaceId, query)),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        queues.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "queues.create",
            payload,
            answer: Queue
          })
        )
      ),

      upsert: inWorkspace((workspaceId, { headers, params, payload }) =>
        upsertResponse(
          queues.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
        )
      ),

      get: inWorkspace((workspaceId, { params }) =>
        withETag(queues.get(workspaceId, params.queue_id))
      ),

      ...versionHandlers(({ queue_id }: { readonly queue_id: string }) => queue_id, queues),

      update: inWorkspace((workspaceId, { headers, params, payload }) =>
        queues.update(workspaceId, params.queue_id, withExpectedVersion(headers, payload))
      ),

      delete: inWorkspace((workspaceId, { headers, params }) =>
        queues.remove(workspaceId, params.queue_id, ifMatchVersion(headers))
      ),

      pause: inWorkspace((workspaceId, { params }) => queues.pause(workspaceId, params.queue_id)),

      resume: inWorkspace((workspaceId, { params }) => queues.resume(workspaceId, params.queue_id))
    })
  })
)
