import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Principal } from "@scheduling/domain/auth/Principal"
import type { ExcludedCalendar } from "@scheduling/domain/cron/FiringOptions"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import type {
  Conflict,
  NotFound,
  QuotaExceeded,
  Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { CountedPage, Page } from "@scheduling/domain/shared/requests/Page"
import type { Backfill, BackfillRequest } from "@scheduling/domain/tasks/Backfill"
import { Effect, Option, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { SqlClient } from "effect/sql"
import { ChangeLog, currentAuthor, type VersionedRecords } from "../accounts/index.ts"
import {
  retryOnConflict,
  checkVersion,
  Ids,
  matchesDefinition,
  orNotFound,
  withExistingId,
  upsertByKey,
  type UpsertResult
} from "../core/index.ts"
import type { QueuedRun } from "../engine/index.ts"
import {
  countedPage,
  type ListRequest,
  listRequest,
  type PageRow,
  type SortValues,
  toPage,
  transactionOf
} from "../store/index.ts"
import { makeDependencies } from "../incidents/index.ts"
import { withCalendarStates } from "./CalendarsOfTasksRepo.ts"
import type { TaskLifecycle, TaskChanges } from "./TaskLifecycle.ts"
import { queueKeyToId } from "./queueCheck.ts"
import { checkFlow } from "./flowColumns.ts"
import { withQueueKeys } from "./TaskQueuesRepo.ts"
import { type GivenHeaders, restoreHeaders } from "./restoreHeaders.ts"
import { checkChangedCall } from "./TaskOptions.ts"
import type { TaskRow } from "./TaskRow.ts"
import type { TaskQuery, TasksRepo } from "./TasksRepo.ts"

type Target = Parameters<Effect.Success<typeof forbiddenTargetCheck>>[0][number]

/** The parts that differ between the kinds of tasks. `makeTasks` contains the shared parts. */
export interface TaskKind<
  Row extends TaskRow,
  Listed extends TaskRow,
  Task,
  Input extends object,
  Update extends object,
  ChangeError,
  BusyError,
  Changes = Partial<Input>
> {
  /** The service's name in traces. */
  readonly name: string
  /** The fields by which a list can be sorted. */
  readonly sorts: SortValues
  readonly resource: "task" | "chain"
  readonly defaults: Omit<Partial<Input>, never>
  readonly repo: TasksRepo<Row, Listed>
  /** Decides when a task fires, and creates its runs. */
  readonly lifecycle: TaskLifecycle<Row, Listed, Input, ChangeError, BusyError>
  /** Converts the fields of a definition or a change to columns. */
  readonly columnsOf: (given: Changes, before?: Row) => Partial<Row>
  /** Fails if a definition or a change names records that do not exist. */
  readonly check?: (
    workspaceId: AuthorizedWorkspaceId,
    given: Changes
  ) => Effect.Effect<void, ValidationFailed>
  /**
   * Replaces the keys that a definition or a change contains with the ids of the records they name.
   */
  readonly byIds?: <Given extends object>(
    workspaceId: AuthorizedWorkspaceId,
    given: Given
  ) => Effect.Effect<Given, ValidationFailed>
  /** Adds the keys of the records whose ids the tasks contain. */
  readonly withKeys?: (tasks: ReadonlyArray<Task>) => Effect.Effect<ReadonlyArray<Task>>
  /** Returns the URLs that a definition or a change contains. `row` is the row after the change. */
  readonly targets: (given: Changes, row: Row) => ReadonlyArray<Target>
  /** Returns a PATCH's fields. Objects in it are merged into the row's objects. */
  readonly merged: (changes: Update, row: Row) => Changes
  readonly show: (row: Listed) => Task
  /** Runs before the changed row is written. */
  readonly changed?: (before: Row, row: Row) => Effect.Effect<void>
}

/** The operations on tasks of one kind. Only some kinds have a `ChangeError` or a `BusyError`. */
export interface Tasks<
  Task,
  Input,
  Definition,
  Update,
  Status extends string,
  ChangeError,
  BusyError
> extends VersionedRecords<Task, NotFound | Conflict | Stale | ValidationFailed | ChangeError> {
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    query: TaskQuery<Status>
  ) => Effect.Effect<CountedPage<Task>, ValidationFailed>
  /** Lists the tasks of every workspace that the principal has permission to read. */
  readonly listAll: (
    principal: Principal["Service"],
    query: TaskQuery<Status>
  ) => Effect.Effect<CountedPage<Task>, ValidationFailed>
  readonly get: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<Task, NotFound>
  readonly create: (
    workspaceId: AuthorizedWorkspaceId,
    input: Input
  ) => Effect.Effect<Task, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  /**
   * Creates the task with the key, or replaces its definition. Changes nothing if the definition is
   * the same.
   */
  readonly upsert: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    definition: Definition
  ) => Effect.Effect<
    UpsertResult<Task>,
    NotFound | Conflict | QuotaExceeded | Stale | ValidationFailed
  >
  readonly update: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    changes: Update
  ) => Effect.Effect<Task, NotFound | Conflict | Stale | ValidationFailed | ChangeError>
  /** Removes the task. If `version` is given, fails unless the task has that version. */
  readonly remove: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    version?: number
  ) => Effect.Effect<void, NotFound | Stale | BusyError>
  readonly run: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: RunRequest
  ) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded | BusyError>
}

/** The operations on tasks of a kind that has a schedule. `Run` is the response to a manual run. */
export type PausableTasks<Task, Input, Definition, Update, Status extends string, Run> = Omit<
  Tasks<Task, Input, Definition, Update, Status, QuotaExceeded, never>,
  "run"
> & {
  readonly run: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: RunRequest
  ) => Effect.Effect<Run, NotFound | QuotaExceeded>
  readonly pause: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<Task, NotFound>
  readonly resume: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Task, NotFound | QuotaExceeded>
  readonly backfill: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: BackfillRequest
  ) => Effect.Effect<Backfill, NotFound | QuotaExceeded | ValidationFailed>
}

/** Creates the operations on tasks of one kind. */
export const makeTasks = Effect.fnUntraced(function* <
  Row extends TaskRow,
  Listed extends TaskRow,
  Task extends {
    readonly workspace_id: string
    readonly queue_id: string | null
    readonly queue_key: string | null
    readonly excluded_calendar?: ExcludedCalendar | null
  },
  Input extends TaskChanges & GivenHeaders,
  Update extends TaskChanges,
  ChangeError extends Conflict | QuotaExceeded | ValidationFailed,
  BusyError
>(kind: TaskKind<Row, Listed, Task, Input, Update, ChangeError, BusyError>) {
  const { defaults, lifecycle, name, repo } = kind
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const changeLog = yield* ChangeLog
  const ids = yield* Ids
  const checkTargets = yield* forbiddenTargetCheck
  const dependencies = yield* makeDependencies
  const withQueueId = queueKeyToId(sql)
  const showOfQueues = withQueueKeys(sql)
  const showOfCalendars = withCalendarStates(sql)
  const requireTask = orNotFound(kind.resource)

  const { withKeys = Effect.succeed<ReadonlyArray<Task>> } = kind

  /** Adds to each task its calendar's state and the keys of the records that it names. */
  const shown = (tasks: ReadonlyArray<Task>) =>
    showOfQueues(tasks).pipe(Effect.flatMap(showOfCalendars), Effect.flatMap(withKeys))

  const shownPage = (page: Page<Task>) =>
    Effect.map(shown(page.data), (data): Page<Task> => ({ ...page, data }))

  const show = (row: Listed) => {
    const task = kind.show(row)
    return Effect.map(shown([task]), ([complete = task]) => complete)
  }

  const listingOf = ({ cursor, limit, sort, total: _, ...filters }: TaskQuery<Listed["status"]>) =>
    Effect.map(
      listRequest(
        {
          ...(cursor !== undefined && { cursor }),
          ...(limit !== undefined && { limit }),
          ...(sort !== undefined && { sort })
        },
        kind.sorts
      ),
      (page) => ({ ...filters, page })
    )

  const pageOf = (
    query: TaskQuery<Listed["status"]>,
    { page }: { readonly page: ListRequest },
    rows: Effect.Effect<ReadonlyArray<Listed & PageRow>>,
    count: Effect.Effect<number>
  ) =>
    countedPage(
      query,
      Effect.flatMap(rows, (listed) => shownPage(toPage(listed, page, kind.show))),
      count
    )

  /**
   * Converts a definition or a change to columns. `withReferences` must already have resolved its
   * references.
   */
  const columnsOf = (given: Partial<Input>, before?: Row): Partial<Row> => ({
    ...kind.columnsOf(Struct.omit(given, ["paused", "version"]) as Partial<Input>, before),
    ...(given.depends_on !== undefined && { depends_on: given.depends_on })
  })

  const lock = (workspaceId: AuthorizedWorkspaceId, id: string) =>
    requireTask(repo.findForUpdate(workspaceId, id))

  const get = (workspaceId: AuthorizedWorkspaceId, id: string) =>
    Effect.flatMap(requireTask(repo.find(workspaceId, id)), show)

  /**
   * Replaces the ids and keys with which a definition or a change refers to other records by the
   * stored values.
   */
  const withReferences = Effect.fnUntraced(function* <Given extends TaskChanges>(
    workspaceId: AuthorizedWorkspaceId,
    given: Given
  ): Effect.fn.Return<Given, ValidationFailed> {
    const withIds = kind.byIds === undefined ? given : yield* kind.byIds(workspaceId, given)
    const named = yield* withQueueId(workspaceId, withIds)
    if (named.depends_on === undefined) return named
    return { ...named, depends_on: yield* dependencies.resolve(workspaceId, named.depends_on) }
  })

  /** Creates a task. A masked header receives its value from the task `replaced`. */
  const create = Effect.fn(`${name}.create`)(function* (
    workspaceId: AuthorizedWorkspaceId,
    input: Input,
    replaced?: Listed
  ) {
    const restored = yield* restoreHeaders(input, replaced)
    const given = yield* withReferences(workspaceId, { ...defaults, ...restored })
    const columns = columnsOf(given)
    yield* checkFlow(columns)
    yield* checkTargets(kind.targets(given, columns as Row))
    if (kind.check !== undefined) yield* kind.check(workspaceId, given)
    const id = yield* ids.next
    const { actor } = yield* currentAuthor
    const rowAt = (at: Date) =>
      ({
        ...columns,
        id,
        workspace_id: workspaceId,
        version: 1,
        created_by: actor,
        updated_by: null,
        created_at: at,
        updated_at: at
      }) as Row
    return yield* show(yield* lifecycle.insert(workspaceId, input, rowAt))
  })

  const record = (before?: Row, after?: Row) => changeLog.record(lifecycle.changeOf(before, after))

  /** Pauses or resumes the locked task, and records the change. */
  const writePaused = Effect.fnUntraced(function* (task: Row, paused: boolean) {
    const { actor } = yield* currentAuthor
    yield* record(task, yield* lifecycle.setPaused({ ...task, updated_by: actor }, paused))
    return yield* get(task.workspace_id, task.id)
  })

  const change = Effect.fnUntraced(function* (task: Row, masked: Partial<Input>) {
    yield* checkVersion(task, masked.version)
    const given = yield* restoreHeaders(masked, task)
    const { key, paused } = given
    const changes = Struct.omit(given, ["paused", "version"])
    if (Object.keys(changes).length === 0 && paused !== undefined) {
      return yield* writePaused(task, paused)
    }
    const changed: Row = {
      ...task,
      ...columnsOf(given, task),
      ...(yield* lifecycle.moved(task, changes)),
      updated_by: (yield* currentAuthor).actor
    }
    yield* checkChangedCall(changed)
    yield* checkFlow(changed)
    yield* checkTargets(kind.targets(given, changed))
    const isPaused = task.status === "paused"
    if (isSameDefinition(task, changed) && (paused ?? isPaused) === isPaused) {
      return yield* get(task.workspace_id, task.id)
    }
    if (kind.check !== undefined) yield* kind.check(task.workspace_id, given)
    if (key !== undefined && key !== task.key) yield* repo.giveKey(task, key)
    if (kind.changed !== undefined) yield* kind.changed(task, changed)
    yield* writeDependencies(task, changed)
    const updated = yield* lifecycle.update(task, changed)
    // Changing the fields and pausing are one change, so the version increases once.
    const row =
      paused === undefined || paused === isPaused
        ? updated
        : yield* lifecycle.setPaused({ ...updated, version: task.version }, paused)
    yield* record(task, row)
    return yield* get(task.workspace_id, task.id)
  })

  const writeDependencies = (
    { depends_on: before = [], id, workspace_id }: Row,
    { depends_on = [] }: Row
  ) => {
    const of = { workspace_id, kind: kind.resource === "chain" ? "chain" : "cron", id } as const
    return dependencies.replace(of, before, depends_on)
  }

  const isSameDefinition = (one: Row, other: Row) => {
    const { after, before } = lifecycle.changeOf(one, other)
    return isDeepStrictEqual(before?.stored, after?.stored)
  }

  const findKeyHolder = (workspaceId: AuthorizedWorkspaceId, key: string | null | undefined) =>
    withExistingId(key, (taken) => repo.findByKey(workspaceId, taken))

  const tasks: Tasks<
    Task,
    Input,
    Omit<Input, "key">,
    Update,
    Listed["status"],
    ChangeError,
    BusyError
  > = {
    list: Effect.fn(`${name}.list`)(function* (workspaceId, query) {
      const listing = yield* listingOf(query)
      return yield* pageOf(
        query,
        listing,
        repo.list(workspaceId, listing),
        repo.count(workspaceId, listing)
      )
    }),

    listAll: Effect.fn(`${name}.listAll`)(function* (principal, query) {
      const listing = yield* listingOf(query)
      return yield* principal.kind === "jwt"
        ? pageOf(
            query,
            listing,
            repo.listOfMember(principal.user_id, listing),
            repo.countOfMember(principal.user_id, listing)
          )
        : pageOf(
            query,
            listing,
            repo.list(principal.workspace_id, listing),
            repo.count(principal.workspace_id, listing)
          )
    }),

    get,

    create: (workspaceId, input) =>
      findKeyHolder(workspaceId, input.key)(create(workspaceId, input)),

    upsert: Effect.fn(`${name}.upsert`)(
      function* (workspaceId, key, definition) {
        const input = { ...definition, key } as Input
        const defined = yield* withReferences(workspaceId, {
          ...defaults,
          ...input
        } as Input)
        const isDefined = (row: Listed) =>
          Effect.map(
            restoreHeaders(defined, row),
            (restored) =>
              lifecycle.isDefined(row, input) && matchesDefinition(row, columnsOf(restored))
          )
        const known = yield* repo.findByKey(workspaceId, key)
        const over = Option.filter(known, lifecycle.hasFinished)
        const isReplaced = Option.isSome(over) && !(yield* isDefined(over.value))
        if (isReplaced) {
          yield* repo.giveKey(over.value, null)
          const row = over.value as TaskRow as Row
          yield* record(row, { ...row, key: null })
        }
        return yield* upsertByKey(
          { key, resource: kind.resource, version: defined.version },
          {
            find: Effect.succeed(isReplaced ? Option.none() : known),
            make: create(workspaceId, input, Option.getOrUndefined(over)),
            isDefined,
            show,
            lock: ({ id }) =>
              Effect.andThen(
                lifecycle.beforeChange(workspaceId, defined),
                repo.findForUpdate(workspaceId, id)
              ),
            change: (task) => change(task, defined)
          }
        )
      },
      transaction,
      retryOnConflict
    ),

    update: Effect.fn(`${name}.update`)(
      function* (workspaceId, id, given) {
        const changes = yield* withReferences(workspaceId, given)
        yield* lifecycle.beforeChange(workspaceId, changes)
        const task = yield* lock(workspaceId, id)
        return yield* change(task, kind.merged(changes, task))
      },
      transaction,
      (write, workspaceId, _, { key }) => findKeyHolder(workspaceId, key)(write)
    ),

    remove: Effect.fn(`${name}.remove`)(function* (workspaceId, id, version) {
      const task = yield* lock(workspaceId, id)
      yield* checkVersion(task, version)
      const { actor } = yield* currentAuthor
      if (yield* lifecycle.remove({ ...task, updated_by: actor })) yield* record(task)
    }, transaction),

    run: Effect.fn(`${name}.run`)(lifecycle.run),

    versions: Effect.fn(`${name}.versions`)(function* (workspaceId, id) {
      const row = (yield* requireTask(repo.find(workspaceId, id))) as TaskRow as Row
      const { after: current } = lifecycle.changeOf(undefined, row)
      return current === undefined
        ? []
        : yield* changeLog.listVersions(workspaceId, row.id, current)
    }),

    restore: Effect.fn(`${name}.restore`)(
      function* (workspaceId, id, { stored }, version) {
        const wanted = yield* withReferences(workspaceId, stored as TaskChanges)
        yield* lifecycle.beforeChange(workspaceId, wanted)
        const task = yield* lock(workspaceId, id)
        yield* checkVersion(task, version)
        return yield* change(task, wanted as Partial<Input>)
      },
      transaction,
      (write, workspaceId, _, { stored }) =>
        findKeyHolder(workspaceId, stored["key"] as string | null)(write)
    )
  }
  const setPaused = (paused: boolean) =>
    Effect.fn(`${name}.${paused ? "pause" : "resume"}`)(function* (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) {
      return yield* writePaused(yield* lock(workspaceId, id), paused)
    }, transaction)

  return { ...tasks, setPaused }
})
