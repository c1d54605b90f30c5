import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  missingLimitProblem,
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
  type Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { QueueId } from "@scheduling/domain/shared/Ids"
import type { ListQuery } from "@scheduling/domain/shared/requests/ListQuery"
import type { CountedPage } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ChangeLog, changesOf, currentAuthor, type VersionedRecords } from "../../accounts/index.ts"
import { Limits } from "../../plans/index.ts"
import {
  retryOnConflict,
  checkVersion,
  Ids,
  matchesDefinition,
  orNotFound,
  withExistingId,
  upsertByKey,
  type UpsertResult
} from "../../core/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { countedPage, listRequest, sortByName, toPage, transactionOf } from "../../store/index.ts"
import { queueDefinition, type QueueRow, QueuesRepo, toQueue } from "./QueuesRepo.ts"

/** Creates, changes, lists and removes named queues. The engine admits their runs. */
export class Queues extends Context.Service<
  Queues,
  VersionedRecords<Queue, NotFound | Conflict | Stale | ValidationFailed> & {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: ListQuery & { readonly paused?: boolean }
    ) => Effect.Effect<CountedPage<Queue>, ValidationFailed>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: QueueInput
    ) => Effect.Effect<Queue, NotFound | Conflict | QuotaExceeded>
    /**
     * Creates the queue with the key, or replaces its definition. Changes nothing if the definition
     * is the same.
     */
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      key: string,
      definition: QueueDefinition
    ) => Effect.Effect<UpsertResult<Queue>, NotFound | Conflict | QuotaExceeded | Stale>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId,
      changes: QueueUpdate
    ) => Effect.Effect<Queue, NotFound | Conflict | Stale | ValidationFailed>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Queue, NotFound>
    /** Removes the queue. Fails while a task that can still fire uses it. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId,
      version?: number
    ) => Effect.Effect<void, NotFound | Conflict | Stale>
  }
>()("@scheduling/server/tasks/queues/Queues") {
  static readonly layer: Layer.Layer<
    Queues,
    never,
    ChangeLog | Ids | Limits | QueuesRepo | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Queues,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const changeLog = yield* ChangeLog
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* QueuesRepo
      const runQueue = yield* RunQueue

      const changeOf = changesOf("queue", queueDefinition)

      const find = (workspaceId: AuthorizedWorkspaceId, id: QueueId) =>
        requireQueue(repo.find(workspaceId, id))

      /**
       * Locks the queue and reads its row. The row is read by a second statement, because the
       * statement that waits for the lock reads the row as it was before the wait.
       */
      const findLocked = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: QueueId
      ) {
        if (!(yield* repo.lock(workspaceId, id))) return yield* new NotFound({ resource: "queue" })
        return yield* find(workspaceId, id)
      })

      /** Changes a locked queue. */
      const changeLocked = Effect.fnUntraced(function* (
        before: QueueRow,
        { version, ...changes }: QueueUpdate
      ) {
        const { id, workspace_id } = before
        yield* checkVersion(before, version)
        const changed = { ...before, ...changes }
        if (changed.max_concurrency === null && changed.rate_per_second === null) {
          return yield* noLimit
        }
        if (matchesDefinition(before, changes)) return toQueue(before)
        const after = {
          ...changed,
          version: before.version + 1,
          updated_by: (yield* currentAuthor).actor,
          updated_at: yield* DateTime.nowAsDate
        }
        yield* repo.update(after)
        yield* changeLog.record(changeOf(before, after))
        yield* runQueue.admit(workspace_id, id)
        return toQueue(yield* find(workspace_id, id))
      })

      const change = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: QueueId,
        changes: QueueUpdate
      ) {
        return yield* changeLocked(yield* findLocked(workspaceId, id), changes)
      }, transaction)

      const setPaused = (paused: boolean) => (workspaceId: AuthorizedWorkspaceId, id: QueueId) =>
        change(workspaceId, id, { paused }).pipe(
          Effect.catchTags({
            Conflict: Effect.die,
            Stale: Effect.die,
            ValidationFailed: Effect.die
          })
        )

      const createQueue = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: QueueInput
      ) {
        yield* limits.allowOneMore(workspaceId, "queues")
        const now = yield* DateTime.nowAsDate
        const queue = {
          id: QueueId.make(yield* ids.next),
          workspace_id: workspaceId,
          key: null,
          version: 1,
          ...queueDefaults,
          paused: false,
          ...input,
          created_by: (yield* currentAuthor).actor,
          updated_by: null,
          created_at: now,
          updated_at: now
        }
        yield* repo.insert(queue)
        yield* changeLog.record(changeOf(undefined, queue))
        return toQueue({ ...queue, running: 0, waiting: 0, waiting_since: null })
      })

      const findKeyHolder = (workspaceId: AuthorizedWorkspaceId, key: string | null | undefined) =>
        withExistingId(key, (taken) => repo.findByKey(workspaceId, taken))

      return Queues.of({
        list: Effect.fn("Queues.list")(function* (workspaceId, query) {
          const page = yield* listRequest(query, sorts)
          const rows = repo.list(workspaceId, query, page)
          return yield* countedPage(
            query,
            Effect.map(rows, (listed) => toPage(listed, page, toQueue)),
            repo.count(workspaceId, query)
          )
        }),

        get: Effect.fn("Queues.get")(function* (workspaceId, id) {
          return toQueue(yield* find(workspaceId, id))
        }),

        create: Effect.fn("Queues.create")(
          createQueue,
          transaction,
          (write, workspaceId, { key }) => findKeyHolder(workspaceId, key)(write)
        ),

        upsert: Effect.fn("Queues.upsert")(
          (workspaceId, key, { version, ...definition }) => {
            const defined = { ...queueDefaults, ...definition, key }
            return upsertByKey(
              { key, resource: "queue", version },
              {
                find: repo.findByKey(workspaceId, key),
                make: createQueue(workspaceId, defined),
                isDefined: (row) => Effect.succeed(matchesDefinition(row, defined)),
                show: (row) => Effect.succeed(toQueue(row)),
                lock: ({ id }) => Effect.option(findLocked(workspaceId, id)),
                change: (row) =>
                  changeLocked(row, defined).pipe(Effect.catchTag("ValidationFailed", Effect.die))
              }
            )
          },
          transaction,
          retryOnConflict
        ),

        update: Effect.fn("Queues.update")(change, (write, workspaceId, _, { key }) =>
          findKeyHolder(workspaceId, key)(write)
        ),

        pause: Effect.fn("Queues.pause")(setPaused(true)),

        resume: Effect.fn("Queues.resume")(setPaused(false)),

        versions: Effect.fn("Queues.versions")(function* (workspaceId, id) {
          const row = yield* find(workspaceId, QueueId.make(id))
          return yield* changeLog.listVersions(workspaceId, row.id, queueDefinition(row))
        }),

        restore: (workspaceId, id, { stored }, version) =>
          change(workspaceId, QueueId.make(id), {
            ...stored,
            ...(version !== undefined && { version })
          }).pipe(findKeyHolder(workspaceId, stored["key"] as string | null)),

        remove: Effect.fn("Queues.remove")(function* (workspaceId, id, version) {
          const queue = yield* findLocked(workspaceId, id)
          yield* checkVersion(queue, version)
          if (yield* repo.isUsed(workspaceId, id)) return yield* isUsed
          yield* repo.remove(workspaceId, id)
          yield* changeLog.record(changeOf(queue))
          yield* runQueue.admit(workspaceId, id)
        }, transaction)
      })
    })
  )
}

const sorts = { name: sortByName("queues.name") }

const noLimit = Effect.suspend(() => {
  const { code, path, problem } = missingLimitProblem
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

const requireQueue = orNotFound("queue")
