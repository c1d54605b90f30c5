import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentActor } from "../accounts/index.ts"
import { implement, inWorkspace, withMinimumDuration, requestOrigin } from "../http/index.ts"
import { Workers } from "./Workers.ts"

export const WorkersHandlers = implement(
  Api,
  "workers",
  Effect.fnUntraced(function* (handlers) {
    const workers = yield* Workers
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => workers.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) => workers.get(workspaceId, params.worker_id)),

      create: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          return yield* workers.create(workspaceId, payload, yield* currentActor)
        })
      ),

      update: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          return yield* workers.update(workspaceId, params.worker_id, payload, yield* currentActor)
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          yield* workers.remove(workspaceId, params.worker_id, yield* currentActor)
        })
      ),

      pause: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          return yield* workers.pause(workspaceId, params.worker_id, yield* currentActor)
        })
      ),

      resume: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          return yield* workers.resume(workspaceId, params.worker_id, yield* currentActor)
        })
      ),

      revokeLeaked: Effect.fnUntraced(function* ({ payload }) {
        yield* workers
          .revokeLeaked(payload.token, yield* requestOrigin)
          .pipe(withMinimumDuration("50 millis"))
      }),

      rotate: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          const actor = yield* currentActor
          return yield* workers.rotate(
            workspaceId,
            params.worker_id,
            payload.grace_seconds ?? 0,
            actor
          )
        })
      )
    })
  })
)
