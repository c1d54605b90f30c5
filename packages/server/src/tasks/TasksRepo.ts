import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type ExecutionKind, TaskId } from "@scheduling/domain/executions/Execution"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Option } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { type Change, LiveChanges, tellAfterCommit } from "../events/index.ts"
import { keyIsTaken } from "../core/index.ts"
import { intoWorkspace } from "../store/index.ts"

export interface TaskRef {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

export interface TaskRow extends TaskRef {
  readonly key: string | null
}

/** What the repositories of cron tasks, delayed tasks and chains have in common. */
export interface TasksRepo<Row extends TaskRow> {
  readonly insert: (task: Row) => Effect.Effect<void, NotFound | Conflict>
  /** For a statement that inserts more than the task. */
  readonly insertBy: <A>(
    task: Row,
    statement: (insertion: Statement.Fragment) => Effect.Effect<A, SqlError.SqlError>
  ) => Effect.Effect<A, NotFound | Conflict>
  /** Locks the row: no schedule fires it and no other change touches it until the commit. */
  readonly findForUpdate: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Option.Option<Row>>
  readonly update: (task: Row) => Effect.Effect<void>
  /** Fails if another task of the kind has the key. The row must be locked. */
  readonly giveKey: (task: TaskRef, key: string | null) => Effect.Effect<void, Conflict>
  readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<boolean>
}

interface OfOneKind<Row> {
  readonly kind: ExecutionKind
  readonly columns: ReadonlyArray<keyof Row & string>
}

/** The rows of `tasks` of one kind. */
export const tasksRepo = Effect.fnUntraced(function* <Row extends TaskRow>(
  sql: SqlClient.SqlClient,
  { columns, kind }: OfOneKind<Row>
): Effect.fn.Return<TasksRepo<Row>> {
  const tell = tellAfterCommit(sql, yield* LiveChanges)
  const ofKind = sql.literal(`kind = '${kind}'`)
  const toldAs =
    (change: Extract<Change, { readonly type: "task" }>["change"]) =>
    ({ id }: TaskRef): Change => ({ type: "task", kind, task_id: TaskId.make(id), change })

  const insertBy: TasksRepo<Row>["insertBy"] = (task, statement) =>
    statement(sql`INSERT INTO tasks ${sql.insert({ ...valuesOf(task), kind })}`).pipe(
      Effect.tap(tell([task], toldAs("created"))),
      Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
      intoWorkspace,
      Effect.withSpan("TasksRepo.insert")
    )

  return {
    insert: (task) => insertBy(task, (insertion) => Effect.asVoid(sql`${insertion}`)),

    insertBy,

    findForUpdate: Effect.fn("TasksRepo.findForUpdate")(function* (workspaceId, id) {
      const rows = yield* sql<Row>`
        SELECT ${sql.literal(columns.join(", "))}
        FROM tasks
        WHERE workspace_id = ${workspaceId}
          AND ${ofKind}
          AND id = ${id}
        FOR UPDATE`
      return Option.fromNullishOr(rows[0])
    }, Effect.orDie),

    update: Effect.fn("TasksRepo.update")(function* (task) {
      const { id, workspace_id, ...values } = valuesOf(task)
      yield* sql`
        UPDATE tasks
        SET ${sql.update(values)}
        WHERE workspace_id = ${workspace_id}
          AND ${ofKind}
          AND id = ${id}`
      yield* tell([task], toldAs("updated"))
    }, Effect.orDie),

    giveKey: Effect.fn("TasksRepo.giveKey")(
      function* ({ id, workspace_id }, key) {
        yield* sql`
          UPDATE tasks
          SET key = ${key}
          WHERE workspace_id = ${workspace_id}
            AND ${ofKind}
            AND id = ${id}`
      },
      Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
      Effect.catchTag("SqlError", Effect.die)
    ),

    remove: Effect.fn("TasksRepo.remove")(function* (workspaceId, id) {
      const removed = yield* sql<TaskRef>`
        DELETE FROM tasks
        WHERE workspace_id = ${workspaceId}
          AND ${ofKind}
          AND id = ${id}
        RETURNING id, workspace_id`
      yield* tell(removed, toldAs("deleted"))
      return removed.length > 0
    }, Effect.orDie)
  }
})

/** These are objects in a row and JSON in a statement. */
const valuesOf = ({
  call_options,
  ending_options,
  firing_options,
  headers,
  run_on,
  ...task
}: TaskRow & {
  readonly headers?: object
  readonly call_options?: object | null
  readonly firing_options?: object | null
  readonly ending_options?: object | null
  readonly run_on?: object | null
}) => ({
  ...task,
  ...(call_options !== undefined && {
    call_options: call_options && JSON.stringify(call_options)
  }),
  ...(firing_options !== undefined && {
    firing_options: firing_options && JSON.stringify(firing_options)
  }),
  ...(ending_options !== undefined && {
    ending_options: ending_options && JSON.stringify(ending_options)
  }),
  ...(headers !== undefined && { headers: JSON.stringify(headers) }),
  ...(run_on !== undefined && { run_on: run_on && JSON.stringify(run_on) })
})
