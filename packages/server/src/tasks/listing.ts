import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { SqlClient } from "effect/sql"
import type { PageRequest } from "../store/index.ts"

/** What a request for a list of tasks can say. */
export interface TaskQuery<Status> extends PageQuery {
  readonly status?: Status
  readonly name?: string
  readonly key?: string
}

/** The same, as a repository gets it. */
export interface TaskListing<Status> extends Omit<TaskQuery<Status>, keyof PageQuery> {
  readonly page: PageRequest
}

/** Keeps the tasks `t` whose names contain the text, if there is one. */
export const havingName = (sql: SqlClient.SqlClient, text: string | undefined) =>
  text === undefined ? sql.literal("") : sql`AND strpos(lower(t.name), lower(${text})) > 0`

/** Keeps the task `t` that has the key, if one is asked for. */
export const havingKey = (sql: SqlClient.SqlClient, key: string | undefined) =>
  key === undefined ? sql.literal("") : sql`AND t.key = ${key}`
