import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  noLimitGiven,
  type Queue,
  type QueueDefinition,
  queueDefaults,
  type QueueInput,
  type QueueUpdate
} from "@scheduling/domain/queues/Queue"
import {
  Conflict,
  NotFound,
  type QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { QueueId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../plans/index.ts"
import {
  againIfOvertaken,
  Ids,
  isDefinedAs,
  orNotFound,
  namingHolder,
  upsertByKey,
  type Upserted
} from "../../core/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { type QueueRow, QueuesRepo, toQueue } from "./QueuesRepo.ts"

/** Queues that users name. Their runs are admitted by the runner. */
export class Queues extends Context.Service<
  Queues,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery & { readonly key?: string }
    ) => Effect.Effect<Page<Queue>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: QueueInput
    ) => Effect.Effect<Queue, NotFound | Conflict | QuotaExceeded>
    /**
     * Gives the queue with the key this definition, or makes it. Changes nothing if it is already
     * defined so.
     */
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      key: string,
      definition: QueueDefinition
    ) => Effect.Effect<Upserted<Queue>, NotFound | Conflict | QuotaExceeded>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId,
      changes: QueueUpdate
    ) => Effect.Effect<Queue, NotFound | Conflict | ValidationFailed>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    /** Refused while a task names it that may still run by itself. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<void, NotFound | Conflict>
  }
>()("@scheduling/server/tasks/queues/Queues") {
  static readonly layer: Layer.Layer<
    Queues,
    never,
    Ids | Limits | QueuesRepo | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Queues,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* QueuesRepo
      const runQueue = yield* RunQueue

      const find = (workspaceId: AuthorizedWorkspaceId, id: QueueId) =>
        found(repo.find(workspaceId, id))

      /** A statement of its own, because one that waits for a lock sees the row as it was before. */
      const findLocked = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: QueueId
      ) {
        if (!(yield* repo.lock(workspaceId, id))) return yield* new NotFound({ resource: "queue" })
        return yield* find(workspaceId, id)
      })

      /** The row must be locked. */
      const changeLocked = Effect.fnUntraced(function* (
        before: QueueRow,
        changes: QueueUpdate & { readonly paused?: boolean }
      ) {
        const { id, workspace_id } = before
        const changed = { ...before, ...changes }
        if (changed.max_concurrency === null && changed.rate_per_second === null) {
          return yield* noLimit
        }
        if (isDefinedAs(before, changes)) return toQueue(before)
        yield* repo.update({ ...changed, updated_at: yield* DateTime.nowAsDate })
        yield* runQueue.admit(workspace_id, id)
        return toQueue(yield* find(workspace_id, id))
      })

      const change = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: QueueId,
        changes: QueueUpdate & { readonly paused?: boolean }
      ) {
        return yield* changeLocked(yield* findLocked(workspaceId, id), changes)
      }, transaction)

      const setPaused = (paused: boolean) => (workspaceId: AuthorizedWorkspaceId, id: QueueId) =>
        change(workspaceId, id, { paused }).pipe(
          Effect.catchTags({ Conflict: Effect.die, ValidationFailed: Effect.die })
        )

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: QueueInput
      ) {
        yield* limits.allowOneMore(workspaceId, "queues")
        const now = yield* DateTime.nowAsDate
        const queue = {
          id: QueueId.make(yield* ids.next),
          workspace_id: workspaceId,
          key: null,
          ...queueDefaults,
          ...input,
          paused: false,
          created_at: now,
          updated_at: now
        }
        yield* repo.insert(queue)
        return toQueue({ ...queue, running: 0, waiting: 0 })
      })

      const holder = (workspaceId: AuthorizedWorkspaceId, key: string | null | undefined) =>
        namingHolder(key, (taken) => repo.findByKey(workspaceId, taken))

      return Queues.of({
        list: Effect.fn("Queues.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, query, page), page, toQueue)
        }),

        get: Effect.fn("Queues.get")(function* (workspaceId, id) {
          return toQueue(yield* find(workspaceId, id))
        }),

        create: Effect.fn("Queues.create")(make, transaction, (write, workspaceId, { key }) =>
          holder(workspaceId, key)(write)
        ),

        upsert: Effect.fn("Queues.upsert")(
          (workspaceId, key, definition) => {
            const defined = { ...queueDefaults, ...definition, key }
            return upsertByKey(
              { key, resource: "queue" },
              {
                find: repo.findByKey(workspaceId, key),
                make: make(workspaceId, defined),
                isDefined: (row) => Effect.succeed(isDefinedAs(row, defined)),
                show: (row) => Effect.succeed(toQueue(row)),
                lock: ({ id }) => Effect.option(findLocked(workspaceId, id)),
                change: (row) =>
                  changeLocked(row, defined).pipe(Effect.catchTag("ValidationFailed", Effect.die))
              }
            )
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("Queues.update")(change, (write, workspaceId, _, { key }) =>
          holder(workspaceId, key)(write)
        ),

        pause: Effect.fn("Queues.pause")(setPaused(true)),

        resume: Effect.fn("Queues.resume")(setPaused(false)),

        remove: Effect.fn("Queues.remove")(function* (workspaceId, id) {
          yield* findLocked(workspaceId, id)
          if (yield* repo.isUsed(workspaceId, id)) return yield* isUsed
          yield* repo.remove(workspaceId, id)
          yield* runQueue.admit(workspaceId, id)
        }, transaction)
      })
    })
  )
}

const noLimit = Effect.suspend(() => {
  const { code, path, problem } = noLimitGiven
  return Effect.fail(ValidationFailed.at(path, code, problem))
})

const isUsed = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "queue",
      message: "Tasks or chains use this queue. Give them another queue_id first."
    })
  )
)

const found = orNotFound("queue")
