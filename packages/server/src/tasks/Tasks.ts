import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Principal } from "@scheduling/domain/auth/Principal"
import type { ExcludedCalendar } from "@scheduling/domain/cron/FiringOptions"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import type {
  Conflict,
  NotFound,
  QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { Page } from "@scheduling/domain/shared/requests/Page"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import {
  againIfOvertaken,
  Ids,
  isDefinedAs,
  orNotFound,
  namingHolder,
  upsertByKey,
  type Upserted
} from "../core/index.ts"
import type { QueuedRun } from "../engine/index.ts"
import { pageRequest, toPage, transactionOf } from "../store/index.ts"
import { showing } from "./CalendarsOfTasksRepo.ts"
import type { Firing, TaskChanges } from "./Firing.ts"
import { checkTimeout } from "./TaskOptions.ts"
import type { TaskRow } from "./TaskRow.ts"
import type { TaskQuery, TasksRepo } from "./TasksRepo.ts"

type Target = Parameters<Effect.Success<typeof targetCheck>>[0][number]

/** What a kind of task is made of. All that the kinds have in common is in `tasksOf`. */
export interface TaskKind<
  Row extends TaskRow,
  Listed extends TaskRow,
  Task,
  Input extends object,
  Update extends object,
  ChangeError,
  BusyError
> {
  /** The name of its service, for traces. */
  readonly name: string
  readonly resource: "task" | "chain"
  readonly defaults: Omit<Partial<Input>, never>
  readonly repo: TasksRepo<Row, Listed>
  /** When a task fires, and how it becomes a run. */
  readonly firing: Firing<Row, Listed, Input, ChangeError, BusyError>
  /** The columns that the fields of a definition or of a change give. */
  readonly columnsOf: (given: Update, before?: Row) => Partial<Row>
  /** The URLs that a definition or a change gives, with the row that it leads to. */
  readonly targets: (given: Update, row: Row) => ReadonlyArray<Target>
  readonly show: (row: Listed) => Task
  /** Called for a change, before the row is written. */
  readonly changed?: (before: Row, row: Row) => Effect.Effect<void>
}

/** What can be done with the tasks of a kind. `ChangeError` and `BusyError` are errors that only some kinds have. */
export interface Tasks<
  Task,
  Input,
  Definition,
  Update,
  Status extends string,
  ChangeError,
  BusyError
> {
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    query: TaskQuery<Status>
  ) => Effect.Effect<Page<Task>>
  /** Lists the tasks of every workspace that the principal can read. */
  readonly listAll: (
    principal: Principal["Service"],
    query: TaskQuery<Status>
  ) => Effect.Effect<Page<Task>>
  readonly get: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<Task, NotFound>
  readonly create: (
    workspaceId: AuthorizedWorkspaceId,
    input: Input
  ) => Effect.Effect<Task, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  /**
   * Gives the task with the key this definition, or creates it. Changes nothing if it is already
   * defined so.
   */
  readonly upsert: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    definition: Definition
  ) => Effect.Effect<Upserted<Task>, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  readonly update: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    changes: Update
  ) => Effect.Effect<Task, NotFound | Conflict | ValidationFailed | ChangeError>
  readonly remove: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<void, NotFound | BusyError>
  readonly run: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: RunRequest
  ) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded | BusyError>
}

/** The same for a kind that has a schedule. `Run` is what a run by hand answers. */
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
}

export const tasksOf = Effect.fnUntraced(function* <
  Row extends TaskRow,
  Listed extends TaskRow,
  Task extends { readonly workspace_id: string; readonly excluded_calendar?: ExcludedCalendar },
  Input extends TaskChanges,
  Update extends TaskChanges,
  ChangeError extends Conflict | QuotaExceeded | ValidationFailed,
  BusyError
>(kind: TaskKind<Row, Listed, Task, Input, Update, ChangeError, BusyError>) {
  const { defaults, firing, name, repo } = kind
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const ids = yield* Ids
  const checkTargets = yield* targetCheck
  const { shown, shownPage } = showing(sql)
  const found = orNotFound(kind.resource)

  const show = (row: Listed) => shown(kind.show(row))

  const lock = (workspaceId: AuthorizedWorkspaceId, id: string) =>
    found(repo.findForUpdate(workspaceId, id))

  const get = (workspaceId: AuthorizedWorkspaceId, id: string) =>
    Effect.flatMap(found(repo.find(workspaceId, id)), show)

  const create = Effect.fn(`${name}.create`)(function* (
    workspaceId: AuthorizedWorkspaceId,
    input: Input
  ) {
    const given = { ...defaults, ...input } as Input & Update
    const columns = kind.columnsOf(given)
    yield* checkTargets(kind.targets(given, columns as Row))
    const id = yield* ids.next
    const rowAt = (at: Date) =>
      ({ ...columns, id, workspace_id: workspaceId, created_at: at, updated_at: at }) as Row
    return yield* show(yield* firing.insert(workspaceId, input, rowAt))
  })

  const change = Effect.fnUntraced(function* (task: Row, changes: Update) {
    const changed: Row = {
      ...task,
      ...kind.columnsOf(changes, task),
      ...(yield* firing.moved(task, changes))
    }
    yield* checkTimeout(changed)
    yield* checkTargets(kind.targets(changes, changed))
    if (Object.keys(changes).length > 0) {
      const { key } = changes
      if (key !== undefined && key !== task.key) yield* repo.giveKey(task, key)
      if (kind.changed !== undefined) yield* kind.changed(task, changed)
      yield* firing.update(task, changed)
    }
    return yield* get(task.workspace_id, task.id)
  })

  const holder = (workspaceId: AuthorizedWorkspaceId, key: string | null | undefined) =>
    namingHolder(key, (taken) => repo.findByKey(workspaceId, taken))

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
      const page = pageRequest(query)
      const rows = yield* repo.list(workspaceId, { ...query, page })
      return yield* shownPage(toPage(rows, page, kind.show))
    }),

    listAll: Effect.fn(`${name}.listAll`)(function* (principal, query) {
      const page = pageRequest(query)
      const listing = { ...query, page }
      const rows = yield* principal.kind === "jwt"
        ? repo.listOfMember(principal.user_id, listing)
        : repo.list(principal.workspace_id, listing)
      return yield* shownPage(toPage(rows, page, kind.show))
    }),

    get,

    create: (workspaceId, input) => holder(workspaceId, input.key)(create(workspaceId, input)),

    upsert: Effect.fn(`${name}.upsert`)(
      (workspaceId, key, definition) => {
        const input = { ...definition, key } as Input
        const defined = { ...defaults, ...input } as Input & Update
        const columns = kind.columnsOf(defined)
        const isDefined = (row: Listed) => firing.isDefined(row, input) && isDefinedAs(row, columns)
        return upsertByKey(
          { key, resource: kind.resource },
          {
            find: Effect.flatMap(repo.findByKey(workspaceId, key), (row) =>
              Option.isSome(row) && firing.isOver(row.value) && !isDefined(row.value)
                ? Effect.as(repo.giveKey(row.value, null), Option.none())
                : Effect.succeed(row)
            ),
            make: create(workspaceId, input),
            isDefined: (row) => Effect.succeed(isDefined(row)),
            show,
            lock: ({ id }) =>
              Effect.andThen(
                firing.hold(workspaceId, defined),
                repo.findForUpdate(workspaceId, id)
              ),
            change: (task) => change(task, defined)
          }
        )
      },
      transaction,
      againIfOvertaken
    ),

    update: Effect.fn(`${name}.update`)(
      function* (workspaceId, id, changes) {
        yield* firing.hold(workspaceId, changes)
        return yield* change(yield* lock(workspaceId, id), changes)
      },
      transaction,
      (write, workspaceId, _, { key }) => holder(workspaceId, key)(write)
    ),

    remove: Effect.fn(`${name}.remove`)(firing.remove, transaction),

    run: Effect.fn(`${name}.run`)(firing.run)
  }
  return { ...tasks, lock }
})
