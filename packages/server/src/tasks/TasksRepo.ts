import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { UserId } from "@scheduling/domain/shared/Ids"
import type { ListQuery } from "@scheduling/domain/shared/requests/ListQuery"
import { DateTime, Effect, Option } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { failIfKeyTaken } from "../core/index.ts"
import { type Change, LiveChanges, taskChange, publishAfterCommit } from "../events/index.ts"
import { FairQueue, yieldToEventLoop } from "../http/index.ts"
import {
  batchPageReads,
  countRows,
  isListedAfter,
  isNewestFirst,
  listOrder,
  type ListRequest,
  matchesFilters,
  orWorkspaceNotFound,
  type PageRow,
  type RequestedPage,
  requestedPages,
  rowReader,
  sortColumn,
  textArray
} from "../store/index.ts"
import { joinLastRun, lastRunColumns, lastRunColumnNames, recentIdRange } from "./LastRunRepo.ts"
import { dependsOnColumn } from "../incidents/index.ts"
import {
  mayExceedPageBytes,
  pageBytesColumns,
  omitIfPageTooLarge,
  withinPageBytes
} from "./pageBytes.ts"
import type { TaskRef, TaskRow } from "./TaskRow.ts"

/** The query of a list of tasks. */
export interface TaskQuery<Status extends string> extends ListQuery {
  readonly status?: ReadonlyArray<Status>
}

interface TaskListing<Status extends string> extends Omit<
  TaskQuery<Status>,
  "cursor" | "limit" | "sort" | "total"
> {
  readonly page: ListRequest
}

/** Describes how one kind's rows are stored and read. */
export interface TaskTable<Listed extends TaskRow> {
  readonly kind: ExecutionKind
  /** The columns that are read, and written by an update. */
  readonly columns: ReadonlyArray<string>
  /** Columns that only an insert writes. */
  readonly inserted?: ReadonlyArray<string>
  /**
   * Columns whose values can be long, with their SQL. If a page's rows could be too large for a
   * response, a separate statement reads the page, which may then end early.
   */
  readonly long: Readonly<Record<string, string>>
  /** True if the tasks can depend on other records. Dependencies are read from another table. */
  readonly hasDependencies: boolean
  /** A column whose value depends on the time of the request. */
  readonly derived?: { readonly column: string; readonly at: (now: Date) => Statement.Fragment }
  /** The condition for the status in responses, if it differs from the stored status. */
  readonly hasStatus?: (
    workspaceId: AuthorizedWorkspaceId,
    status: Listed["status"],
    now: Date
  ) => Statement.Fragment
  /** True if each row is joined with its task's latest execution. */
  readonly joinsLastRun: boolean
  /** Adds the fields that require further statements. */
  readonly complete: (
    rows: ReadonlyArray<Listed>,
    now: Date
  ) => Effect.Effect<ReadonlyArray<Listed>, SqlError.SqlError>
}

/** Reads and writes the rows of `tasks` that belong to one kind. */
export interface TasksRepo<Row extends TaskRow, Listed extends TaskRow> {
  /** Inserts a task. If `event` is given, the same statement inserts this audit event. */
  readonly insert: (
    task: Row,
    event: Statement.Fragment | undefined
  ) => Effect.Effect<void, NotFound | Conflict>
  readonly find: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Option.Option<Listed>>
  readonly findByKey: (
    workspaceId: AuthorizedWorkspaceId,
    key: string
  ) => Effect.Effect<Option.Option<Listed>>
  /** Locks the row until the commit, so that the task neither fires nor changes. */
  readonly findForUpdate: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Option.Option<Row>>
  /**
   * Lists a page of tasks. Concurrent requests without a filter or a sort order share one
   * statement, and a page that several of them request is read only once.
   */
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    listing: TaskListing<Listed["status"]>
  ) => Effect.Effect<ReadonlyArray<Listed & PageRow>>
  /** Lists the tasks of every workspace that the user is a member of. */
  readonly listOfMember: (
    userId: UserId,
    listing: TaskListing<Listed["status"]>
  ) => Effect.Effect<ReadonlyArray<Listed & PageRow>>
  /** Counts the tasks on all pages of a list. */
  readonly count: (
    workspaceId: AuthorizedWorkspaceId,
    listing: TaskListing<Listed["status"]>
  ) => Effect.Effect<number>
  /** Counts the tasks of every workspace that the user is a member of. */
  readonly countOfMember: (
    userId: UserId,
    listing: TaskListing<Listed["status"]>
  ) => Effect.Effect<number>
  readonly update: (task: Row) => Effect.Effect<void>
  /** Sets the key of a locked task. Fails if another task of the kind has the key. */
  readonly giveKey: (task: TaskRef, key: string | null) => Effect.Effect<void, Conflict>
  readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<boolean>
}

/** Inserts a task and, with the same statement, records that belong to it. */
export interface CombinedInsert<Row> {
  readonly insertBy: <A>(
    task: Row,
    statement: (insertion: Statement.Fragment) => Effect.Effect<A, SqlError.SqlError>
  ) => Effect.Effect<A, NotFound | Conflict>
}

export const tasksRepo = Effect.fnUntraced(function* <Row extends TaskRow, Listed extends TaskRow>(
  table: TaskTable<Listed>
) {
  const sql = yield* SqlClient.SqlClient
  const repo: TasksRepo<Row, Listed> & CombinedInsert<Row> = {
    ...(yield* readsOf(sql, table)),
    ...writesOf(sql, table, yield* LiveChanges)
  }
  return repo
})

const readsOf = Effect.fnUntraced(function* <Listed extends TaskRow>(
  sql: SqlClient.SqlClient,
  {
    columns,
    complete,
    derived,
    hasDependencies,
    hasStatus,
    joinsLastRun,
    kind,
    ...table
  }: TaskTable<Listed>
) {
  const long: Readonly<Record<string, string>> = {
    ...table.long,
    ...(hasDependencies && { depends_on: dependsOnColumn("t") })
  }
  const ofKind = sql.literal(`t.kind = '${kind}'`)
  const short = columns.filter((name) => long[name] === undefined && name !== derived?.column)
  const columnsWith = (shown: Readonly<Record<string, string>>) =>
    sql.literal(
      [
        ...short.map((name) => `t.${name}`),
        ...Object.entries(shown).map(([name, value]) => `${value} AS ${name}`)
      ].join(", ")
    )
  const allColumns = columnsWith(long)
  const lightColumns = columnsWith(omitIfPageTooLarge(long))
  const nothing = sql.literal("")

  /**
   * The selected columns that depend on the time or the latest run, and the join that they need.
   */
  const derivedAt = (now: Date) =>
    derived === undefined ? nothing : sql`, ${derived.at(now)} AS ${sql.literal(derived.column)}`
  const lastRun = joinsLastRun ? sql`, ${lastRunColumns(sql)}` : nothing
  const joinedAt = (now: Date) =>
    joinsLastRun ? joinLastRun(sql, kind, recentIdRange(now)) : nothing

  const rowsOfPages = rowReader<Listed & { readonly bytes: number; readonly n: number }>([
    ...short,
    ...Object.keys(long),
    "bytes",
    "n",
    ...(derived === undefined ? [] : [derived.column]),
    ...(joinsLastRun ? lastRunColumnNames : [])
  ] as ReadonlyArray<keyof Listed & string>)

  /**
   * Reads several pages with one statement. The pages share the fixed cost of the statement and of
   * opening the history's partitions: PostgreSQL needs 120 µs for one page of 10 tasks, and 35 µs
   * per page for 16 such pages, without the round trip. Tasks with long columns are read without
   * these columns.
   */
  const listPages = Effect.fnUntraced(function* (asked: ReadonlyArray<RequestedPage>) {
    const now = yield* DateTime.nowAsDate
    const rows = yield* rowsOfPages(sql`
      SELECT ${lightColumns}, t.bytes, asked.n ${derivedAt(now)} ${lastRun}
      FROM ${requestedPages(sql, asked)}
      CROSS JOIN LATERAL (
        SELECT t.*
        FROM tasks AS t
        WHERE t.workspace_id = asked.workspace_id
          AND ${ofKind}
          AND t.id < asked.before
        ORDER BY t.id DESC
        LIMIT asked.rows
      ) AS t
      ${joinedAt(now)}`)
    return yield* complete(rows, now) as Effect.Effect<typeof rows, SqlError.SqlError>
  }, Effect.orDie)

  const listUnfiltered = yield* batchPageReads(listPages)

  /** Reads the tasks that `select` returns until the page reaches its maximum size. */
  const listWeighed = Effect.fnUntraced(function* (
    { page }: TaskListing<Listed["status"]>,
    select: (now: Date) => Statement.Fragment
  ) {
    const now = yield* DateTime.nowAsDate
    const rows = yield* sql<Listed & PageRow>`
      SELECT
        ${allColumns}, t.page_bytes ${sql.literal(sortColumn(page))} ${derivedAt(now)} ${lastRun}
      FROM (${select(now)}) AS t
      ${joinedAt(now)}
      WHERE ${withinPageBytes(sql)}
      ORDER BY ${sql.literal(listOrder(page, "t.id"))}`
    return yield* complete(rows, now)
  }, Effect.orDie)

  const findWhere = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    condition: Statement.Fragment
  ) {
    const now = yield* DateTime.nowAsDate
    const rows = yield* sql<Listed>`
      SELECT ${allColumns} ${derivedAt(now)} ${lastRun}
      FROM tasks AS t
      ${joinedAt(now)}
      WHERE t.workspace_id = ${workspaceId}
        AND ${ofKind}
        AND ${condition}`
    return Option.fromNullishOr((yield* complete(rows, now))[0])
  }, Effect.orDie)

  const matches = (
    { status, ...filters }: TaskListing<Listed["status"]>,
    hasStatus: (status: Listed["status"]) => Statement.Fragment = (wanted) =>
      sql`t.status = ${wanted}`
  ) => sql`
    ${ofKind}
    ${status === undefined ? nothing : sql`AND ${sql.or(status.map(hasStatus))}`}
    ${matchesFilters(sql, "t", filters)}`

  const onPage = ({ page }: TaskListing<Listed["status"]>) => sql`
    AND ${isListedAfter(sql, page, "t.id")}
    ORDER BY ${sql.literal(listOrder(page, "t.id"))}
    LIMIT ${page.limit + 1}`

  /**
   * The queue for pages with long columns. A page of 2 MB takes 20 ms of CPU time, so only two are
   * read at the same time, and workspaces are served in turn.
   */
  const heavyPages = new FairQueue<AuthorizedWorkspaceId>({ atOnce: 2, pause: yieldToEventLoop })

  const statusIn = (workspaceId: AuthorizedWorkspaceId, now: Date) =>
    hasStatus && ((status: Listed["status"]) => hasStatus(workspaceId, status, now))

  const listAlone = (workspaceId: AuthorizedWorkspaceId, listing: TaskListing<Listed["status"]>) =>
    listWeighed(
      listing,
      (now) => sql`
        SELECT t.*, ${pageBytesColumns(sql, listOrder(listing.page, "t.id"))}
        FROM tasks AS t
        WHERE t.workspace_id = ${workspaceId}
          AND ${matches(listing, statusIn(workspaceId, now))}
          ${onPage(listing)}`
    )

  return {
    find: (workspaceId: AuthorizedWorkspaceId, id: string) =>
      findWhere(workspaceId, sql`t.id = ${id}`),

    findByKey: (workspaceId: AuthorizedWorkspaceId, key: string) =>
      findWhere(workspaceId, sql`t.key = ${key}`),

    list: (workspaceId: AuthorizedWorkspaceId, listing: TaskListing<Listed["status"]>) => {
      const { page, ...filters } = listing
      const isPlain = isNewestFirst(page) && Object.keys(filters).length === 0
      // A list with a filter or a sort order may have to read 10,000 tasks, so it does not share a
      // statement with other pages.
      return isPlain
        ? Effect.flatMap(listUnfiltered({ workspaceId, page }), (rows) =>
            mayExceedPageBytes(rows, page)
              ? heavyPages.run(workspaceId, listAlone(workspaceId, listing))
              : Effect.succeed<ReadonlyArray<Listed & PageRow>>(rows)
          )
        : listAlone(workspaceId, listing)
    },

    // Reads one page per workspace from its index, and merges these pages into one.
    listOfMember: (userId: UserId, listing: TaskListing<Listed["status"]>) =>
      listWeighed(
        listing,
        () => sql`
          SELECT t.*, ${pageBytesColumns(sql, listOrder(listing.page, "t.id"))}
          FROM memberships
          CROSS JOIN LATERAL (
            SELECT t.*
            FROM tasks AS t
            WHERE t.workspace_id = memberships.workspace_id
              AND ${matches(listing)}
              ${onPage(listing)}
          ) AS t
          WHERE memberships.user_id = ${userId}
          ORDER BY ${sql.literal(listOrder(listing.page, "t.id"))}
          LIMIT ${listing.page.limit + 1}`
      ),

    count: Effect.fn("TasksRepo.count")(function* (
      workspaceId: AuthorizedWorkspaceId,
      listing: TaskListing<Listed["status"]>
    ) {
      const now = yield* DateTime.nowAsDate
      return yield* countRows(
        sql,
        sql`
          SELECT
          FROM tasks AS t
          WHERE t.workspace_id = ${workspaceId}
            AND ${matches(listing, statusIn(workspaceId, now))}`
      )
    }, Effect.orDie),

    countOfMember: Effect.fn("TasksRepo.countOfMember")(function* (
      userId: UserId,
      listing: TaskListing<Listed["status"]>
    ) {
      return yield* countRows(
        sql,
        sql`
          SELECT
          FROM memberships
          JOIN tasks AS t ON t.workspace_id = memberships.workspace_id
          WHERE memberships.user_id = ${userId}
            AND ${matches(listing)}`
      )
    }, Effect.orDie)
  }
})

const nouns = { cron: "A cron task", delayed: "A delayed task", chain: "A chain" } as const

const writesOf = <Row extends TaskRow, Listed extends TaskRow>(
  sql: SqlClient.SqlClient,
  { columns, hasDependencies, inserted = [], kind }: TaskTable<Listed>,
  changes: typeof LiveChanges.Service
) => {
  const publish = publishAfterCommit(sql, changes)
  const ofKind = sql.literal(`kind = '${kind}'`)
  const locked = sql.literal(
    [...columns, ...(hasDependencies ? [`${dependsOnColumn("tasks")} AS depends_on`] : [])].join(
      ", "
    )
  )
  const changeOf =
    (type: "task.created" | "task.updated" | "task.deleted") =>
    ({ id }: TaskRef): Change =>
      taskChange(type, { id, kind })

  const insertBy: CombinedInsert<Row>["insertBy"] = (task, statement) =>
    statement(
      sql`INSERT INTO tasks ${sql.insert({ ...valuesOf(task, [...columns, ...inserted]), kind })}`
    ).pipe(
      Effect.tap(publish([task], changeOf("task.created"))),
      failIfKeyTaken(kind === "chain" ? "chain" : "task", nouns[kind], task.key),
      orWorkspaceNotFound,
      Effect.withSpan("TasksRepo.insert")
    )

  return {
    insert: (task: Row, event: Statement.Fragment | undefined) =>
      insertBy(task, (insertion) =>
        Effect.asVoid(
          event === undefined ? sql`${insertion}` : sql`WITH event AS (${event}) ${insertion}`
        )
      ),

    insertBy,

    findForUpdate: Effect.fn("TasksRepo.findForUpdate")(function* (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) {
      const rows = yield* sql<Row>`
        SELECT ${locked}
        FROM tasks
        WHERE workspace_id = ${workspaceId}
          AND ${ofKind}
          AND id = ${id}
        FOR UPDATE`
      return Option.fromNullishOr(rows[0])
    }, Effect.orDie),

    update: Effect.fn("TasksRepo.update")(function* (task: Row) {
      const { id, workspace_id, ...values } = valuesOf(task, columns)
      yield* sql`
        UPDATE tasks
        SET ${sql.update(values)}
        WHERE workspace_id = ${workspace_id}
          AND ${ofKind}
          AND id = ${id}`
      yield* publish([task], changeOf("task.updated"))
    }, Effect.orDie),

    giveKey: Effect.fn("TasksRepo.giveKey")(
      function* ({ id, workspace_id }: TaskRef, key: string | null) {
        yield* sql`
          UPDATE tasks
          SET key = ${key}
          WHERE workspace_id = ${workspace_id}
            AND ${ofKind}
            AND id = ${id}`
      },
      (change, _, key) =>
        failIfKeyTaken(kind === "chain" ? "chain" : "task", nouns[kind], key)(change),
      Effect.catchTag("SqlError", Effect.die)
    ),

    remove: Effect.fn("TasksRepo.remove")(function* (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) {
      const removed = yield* sql<TaskRef>`
        DELETE FROM tasks
        WHERE workspace_id = ${workspaceId}
          AND ${ofKind}
          AND id = ${id}
        RETURNING id, workspace_id`
      yield* publish(removed, changeOf("task.deleted"))
      return removed.length > 0
    }, Effect.orDie)
  }
}

/** The columns that must be encoded as JSON for a statement. */
const json: ReadonlySet<string> = new Set([
  "headers",
  "run_on",
  "flow",
  "flow_parts",
  "call_options",
  "firing_options",
  "ending_options",
  "created_by",
  "updated_by"
])

const valuesOf = (task: object, columns: ReadonlyArray<string>) => {
  const fields = task as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    columns.map((name) => {
      const value = fields[name]
      if (name === "tags") return [name, textArray(value as ReadonlyArray<string>)]
      return [name, json.has(name) && value !== null ? JSON.stringify(value) : value]
    })
  )
}
