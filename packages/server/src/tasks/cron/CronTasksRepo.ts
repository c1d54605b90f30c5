import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { CronTask } from "@scheduling/domain/cron/CronTask"
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import type { Callbacks } from "@scheduling/domain/calls/Callbacks"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type AskedPage, askedPages, batchPages, rowsOf, timestampOf } from "../../store/index.ts"
import { afterEverythingElse, FairQueue } from "../../http/index.ts"
import {
  isOlderThanRecent,
  joinLastRun,
  lastRunColumns,
  lastRunNames,
  type LastRunRow,
  recentIds,
  toLastRun,
  withOlderLastRuns
} from "../LastRunRepo.ts"
import { shownFiring } from "../firingOptions.ts"
import { havingKey, havingName, type TaskListing } from "../listing.ts"
import { isHeavyIn, pageBytes, unlessHeavy, withinPage } from "../pageBytes.ts"
import { type TasksRepo, tasksRepo } from "../TasksRepo.ts"

export interface CronTaskRow extends Omit<
  CronTask,
  | keyof CallOptions
  | keyof FiringOptions
  | keyof Callbacks
  | "paused_reason"
  | "workspace_id"
  | "next_run_at"
  | "last_run"
  | "created_at"
  | "updated_at"
> {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly call_options: CallOptions | null
  readonly firing_options: FiringOptions | null
  readonly ending_options: Callbacks | null
  readonly paused_reason: string | null
  readonly next_fire_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export type ListedCronTask = CronTaskRow & LastRunRow

type CronTaskListing = TaskListing<TaskStatus>

export const toCronTask = (row: ListedCronTask): CronTask => ({
  id: row.id,
  workspace_id: row.workspace_id,
  key: row.key,
  name: row.name,
  schedule: row.schedule,
  method: row.method,
  url: row.url,
  headers: row.headers,
  body: row.body,
  timeout_seconds: row.timeout_seconds,
  retry_count: row.retry_count,
  ...row.call_options,
  run_on: row.run_on,
  worker_wait_seconds: row.worker_wait_seconds,
  queue_id: row.queue_id,
  timezone: row.timezone,
  overlap: row.overlap,
  missed: row.missed,
  dst_overlap: row.dst_overlap,
  status: row.status,
  ...shownFiring(row),
  ...row.ending_options,
  last_run: toLastRun(row),
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class CronTasksRepo extends Context.Service<
  CronTasksRepo,
  TasksRepo<CronTaskRow> & {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ListedCronTask>>
    readonly findByKey: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<ListedCronTask>>
    /**
     * Requests without a filter that arrive together share one statement, and each page is read
     * only once.
     */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      listing: CronTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedCronTask>>
    /** Lists the tasks of every workspace that the user is a member of. */
    readonly listOfMember: (
      userId: UserId,
      listing: CronTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedCronTask>>
  }
>()("@scheduling/server/tasks/cron/CronTasksRepo") {
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
       * Reads several pages at once. They share the fixed cost of a statement and of opening the
       * partitions of the history: a page of 10 tasks takes PostgreSQL 120 µs alone and 35 as one
       * of 16, the round trip not counted. Heavy tasks come without what makes them heavy.
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

      const findWhere = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        const now = yield* DateTime.nowAsDate
        const rows = yield* sql<ListedCronTask>`
          SELECT ${columns}, ${lastRun}
          FROM tasks AS t
          ${joinLastRun(sql, recentIds(now))}
          WHERE t.workspace_id = ${workspaceId}
            AND t.kind = 'cron'
            AND ${condition}`
        return Option.fromNullishOr((yield* withLastRuns(rows, now))[0])
      }, Effect.orDie)

      const asListed = ({ key, name, page, status }: CronTaskListing) => sql`
        t.kind = 'cron'
        AND t.id < ${page.before}
        ${status === undefined ? sql.literal("") : sql`AND t.status = ${status}`}
        ${havingName(sql, name)}
        ${havingKey(sql, key)}
        ORDER BY t.id DESC
        LIMIT ${page.limit + 1}`

      /**
       * A page of 2 MB takes the process 20 ms. So only a few are read at once, and workspaces take
       * turns.
       */
      const heavyPages = new FairQueue<AuthorizedWorkspaceId>({
        atOnce: 2,
        pause: afterEverythingElse
      })

      const listAlone = (workspaceId: AuthorizedWorkspaceId, listing: CronTaskListing) =>
        listWeighed(sql`
          SELECT ${columns}, ${pageBytes(sql)}
          FROM tasks AS t
          WHERE t.workspace_id = ${workspaceId}
            AND ${asListed(listing)}`)

      return CronTasksRepo.of({
        ...(yield* tasksRepo<CronTaskRow>(sql, { kind: "cron", columns: columnNames })),

        find: (workspaceId, id) => findWhere(workspaceId, sql`t.id = ${id}`),

        findByKey: (workspaceId, key) => findWhere(workspaceId, sql`t.key = ${key}`),

        list: (workspaceId, listing) => {
          const { key, name, page, status } = listing
          // A filter may have to look at 10,000 tasks, so no other page waits for that.
          return key === undefined && name === undefined && status === undefined
            ? Effect.flatMap(listUnfiltered({ workspaceId, page }), (rows) =>
                isHeavyIn(rows, page)
                  ? heavyPages.run(workspaceId, listAlone(workspaceId, listing))
                  : Effect.succeed(rows)
              )
            : listAlone(workspaceId, listing)
        },

        // Takes a page of each workspace, read from the end of its index, and then one page of all
        // these.
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
            LIMIT ${listing.page.limit + 1}`)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "key",
  "name",
  "schedule",
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count",
  "call_options",
  "run_on",
  "worker_wait_seconds",
  "queue_id",
  "timezone",
  "overlap",
  "missed",
  "dst_overlap",
  "firing_options",
  "ending_options",
  "paused_reason",
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
