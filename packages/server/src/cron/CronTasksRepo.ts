import type { CronTask } from "@scheduling/domain/cron/CronTask"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { UserId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type AskedPage, askedPages, batchPages } from "../platform/batchPages.ts"
import { FairGate } from "../platform/FairGate.ts"
import type { PageRequest } from "../platform/Pages.ts"
import { rowsOf } from "../platform/rows.ts"
import { timestampOf, timestampOrNull } from "../platform/timestamp.ts"
import {
  isOlderThanRecent,
  joinLastRun,
  lastRunColumns,
  lastRunNames,
  type LastRunRow,
  recentIds,
  toLastRun,
  withOlderLastRuns
} from "../tasks/LastRunRepo.ts"
import { havingName } from "../tasks/havingName.ts"
import { intoWorkspace } from "../tasks/intoWorkspace.ts"
import { isHeavyIn, pageBytes, unlessHeavy, withinPage } from "../tasks/pageBytes.ts"

export interface CronTaskRow extends Omit<
  CronTask,
  "next_run_at" | "last_run" | "created_at" | "updated_at"
> {
  readonly next_fire_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export type ListedCronTask = CronTaskRow & LastRunRow

export interface CronTaskListing {
  readonly status?: TaskStatus
  readonly name?: string
  readonly page: PageRequest
}

export const toCronTask = (row: ListedCronTask): CronTask => ({
  id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  schedule: row.schedule,
  method: row.method,
  url: row.url,
  headers: row.headers,
  body: row.body,
  timeout_seconds: row.timeout_seconds,
  retry_count: row.retry_count,
  timezone: row.timezone,
  overlap: row.overlap,
  missed: row.missed,
  dst_overlap: row.dst_overlap,
  status: row.status,
  next_run_at: timestampOrNull(row.next_fire_at),
  last_run: toLastRun(row),
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class CronTasksRepo extends Context.Service<
  CronTasksRepo,
  {
    readonly insert: (task: CronTaskRow) => Effect.Effect<void, NotFound>
    readonly find: (
      workspaceId: WorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ListedCronTask>>
    /** Locks the row: no schedule fires it and no other change touches it until the commit. */
    readonly findForUpdate: (
      workspaceId: WorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<CronTaskRow>>
    /** Without a filter requests of one moment share a statement, and a page is read only once. */
    readonly list: (
      workspaceId: WorkspaceId,
      listing: CronTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedCronTask>>
    /** Of every workspace that the user is a member of. */
    readonly listOfMember: (
      userId: UserId,
      listing: CronTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedCronTask>>
    /** Locks the workspace's row first: two creates at once cannot both take the last place. */
    readonly count: (workspaceId: WorkspaceId) => Effect.Effect<number>
    readonly update: (task: CronTaskRow) => Effect.Effect<void>
    readonly remove: (workspaceId: WorkspaceId, id: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/cron/CronTasksRepo") {
  static readonly layer: Layer.Layer<CronTasksRepo, never, SqlClient.SqlClient> = Layer.effect(
    CronTasksRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnNames.map((name) => `t.${name}`).join(", "))
      const lightColumns = unlessHeavy(sql, columnNames, ["headers", "body"])
      const lastRun = lastRunColumns(sql)

      const withLastRuns = <Row extends ListedCronTask>(rows: ReadonlyArray<Row>, now: Date) =>
        withOlderLastRuns(sql, rows, recentIds(now), (row) =>
          isOlderThanRecent(row.created_at, now)
        )

      /**
       * Several pages at once. What a statement costs by itself, and the history's partitions that
       * it opens, are shared: a page of 10 tasks takes PostgreSQL 120 µs alone and 35 as one of 16,
       * the round trip not counted. Heavy tasks come without what makes them heavy.
       */
      const listPages = Effect.fnUntraced(function* (asked: ReadonlyArray<AskedPage>) {
        const now = yield* DateTime.nowAsDate
        const rows = yield* rowsOfPages(sql`
          SELECT ${columns}, t.bytes, asked.n, ${lastRun}
          FROM ${askedPages(sql, asked)}
          CROSS JOIN LATERAL (
            SELECT ${lightColumns}, t.bytes
            FROM tasks AS t
            WHERE t.workspace_id = asked.workspace_id
              AND t.kind = 'cron'
              AND t.id < asked.before
            ORDER BY t.id DESC
            LIMIT asked.rows
          ) AS t
          ${joinLastRun(sql, recentIds(now))}`)
        return yield* withLastRuns(rows, now)
      }, Effect.orDie)

      const listUnfiltered = yield* batchPages(listPages)

      /** The tasks that `select` selects, up to the one that makes the page too heavy. */
      const listWeighed = Effect.fnUntraced(function* (select: Statement.Fragment) {
        const now = yield* DateTime.nowAsDate
        const rows = yield* sql<ListedCronTask>`
          SELECT t.*, ${lastRun}
          FROM (${select}) AS t
          ${joinLastRun(sql, recentIds(now))}
          WHERE ${withinPage(sql)}
          ORDER BY t.id DESC`
        return yield* withLastRuns(rows, now)
      }, Effect.orDie)

      const asListed = ({ name, page, status }: CronTaskListing) => sql`
        t.kind = 'cron'
        AND t.id < ${page.before}
        ${status === undefined ? sql.literal("") : sql`AND t.status = ${status}`}
        ${havingName(sql, name)}
        ORDER BY t.id DESC
        LIMIT ${page.limit + 1}`

      /** A page of 2 MB takes the process 20 ms: a few at once, and workspaces take turns. */
      const heavyPages = new FairGate<WorkspaceId>(2)

      const listAlone = (workspaceId: WorkspaceId, listing: CronTaskListing) =>
        listWeighed(sql`
          SELECT ${columns}, ${pageBytes(sql)}
          FROM tasks AS t
          WHERE t.workspace_id = ${workspaceId}
            AND ${asListed(listing)}`)

      return CronTasksRepo.of({
        insert: Effect.fn("CronTasksRepo.insert")(function* (task) {
          yield* sql`
            INSERT INTO tasks
            ${sql.insert({ ...task, kind: "cron", headers: JSON.stringify(task.headers) })}`
        }, intoWorkspace),

        find: Effect.fn("CronTasksRepo.find")(function* (workspaceId, id) {
          const now = yield* DateTime.nowAsDate
          const rows = yield* sql<ListedCronTask>`
            SELECT ${columns}, ${lastRun}
            FROM tasks AS t
            ${joinLastRun(sql, recentIds(now))}
            WHERE t.workspace_id = ${workspaceId}
              AND t.kind = 'cron'
              AND t.id = ${id}`
          return Option.fromNullishOr((yield* withLastRuns(rows, now))[0])
        }, Effect.orDie),

        findForUpdate: Effect.fn("CronTasksRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<CronTaskRow>`
            SELECT ${columns}
            FROM tasks AS t
            WHERE t.workspace_id = ${workspaceId}
              AND t.kind = 'cron'
              AND t.id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: (workspaceId, listing) => {
          const { name, page, status } = listing
          // A filter may have to look at 10,000 tasks: no other page waits for that.
          return name === undefined && status === undefined
            ? Effect.flatMap(listUnfiltered({ workspaceId, page }), (rows) =>
                isHeavyIn(rows, page)
                  ? heavyPages.pass(workspaceId, listAlone(workspaceId, listing))
                  : Effect.succeed(rows)
              )
            : listAlone(workspaceId, listing)
        },

        // A page of each workspace and then of them all: each is read from the end of its index.
        listOfMember: (userId, listing) =>
          listWeighed(sql`
            SELECT t.*, ${pageBytes(sql)}
            FROM memberships
            CROSS JOIN LATERAL (
              SELECT ${columns}, t.bytes
              FROM tasks AS t
              WHERE t.workspace_id = memberships.workspace_id
                AND ${asListed(listing)}
            ) AS t
            WHERE memberships.user_id = ${userId}
            ORDER BY t.id DESC
            LIMIT ${listing.page.limit + 1}`),

        count: Effect.fn("CronTasksRepo.count")(function* (workspaceId) {
          yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspaceId}
            FOR NO KEY UPDATE`
          const [row] = yield* sql<{ readonly tasks: number }>`
            SELECT count(*)::int AS tasks
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'cron'`
          return row?.tasks ?? 0
        }, Effect.orDie),

        update: Effect.fn("CronTasksRepo.update")(function* ({ id, workspace_id, ...task }) {
          yield* sql`
            UPDATE tasks
            SET ${sql.update({ ...task, headers: JSON.stringify(task.headers) })}
            WHERE workspace_id = ${workspace_id}
              AND kind = 'cron'
              AND id = ${id}`
        }, Effect.orDie),

        remove: Effect.fn("CronTasksRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql`
            DELETE FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'cron'
              AND id = ${id}
            RETURNING id`
          return removed.length > 0
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "name",
  "schedule",
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count",
  "timezone",
  "overlap",
  "missed",
  "dst_overlap",
  "status",
  "next_fire_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof CronTaskRow>

const rowsOfPages = rowsOf<ListedCronTask & { readonly bytes: number; readonly n: number }>([
  ...columnNames,
  "bytes",
  "n",
  ...lastRunNames
])
