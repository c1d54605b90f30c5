import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { FoundRecord } from "@scheduling/domain/search/Search"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface Sought {
  /** The kinds of records to search. */
  readonly kinds: ReadonlyArray<string>
  readonly limit: number
}

export class SearchRepo extends Context.Service<
  SearchRepo,
  {
    /** The text and its words are in lower case. */
    readonly findByText: (
      workspaceId: AuthorizedWorkspaceId,
      text: string,
      words: ReadonlyArray<string>,
      sought: Sought
    ) => Effect.Effect<ReadonlyArray<FoundRecord>>
    readonly findById: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      sought: Sought
    ) => Effect.Effect<ReadonlyArray<FoundRecord>>
  }
>()("@scheduling/server/search/SearchRepo") {
  static readonly layer: Layer.Layer<SearchRepo, never, SqlClient.SqlClient> = Layer.effect(
    SearchRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return SearchRepo.of({
        // The ranking uses only columns of the index. `place` is the field in which the first word
        // was found: the name ranks before the key, and the key before the target.
        findByText: Effect.fn("SearchRepo.findByText")(function* (
          workspaceId,
          text,
          words,
          { kinds, limit }
        ) {
          const [first = "", ...others] = words
          const hasAll = sql.and([
            sql`place > 0`,
            ...others.map((word) => sql`strpos(text, ${word}) > 0`)
          ])
          const line = `\n${text}\n`
          return yield* sql<FoundRecord>`
            WITH best AS MATERIALIZED (
              SELECT id, strpos(text, ${line}) > 0 AS is_exact, place, octet_length(text) AS bytes
              FROM (
                SELECT id, text, strpos(text, ${first}) AS place
                FROM search_entries
                WHERE workspace_id = ${workspaceId}
                  AND kind = ANY(${kinds}::text[])
                OFFSET 0
              ) AS entries
              WHERE ${hasAll}
              ORDER BY is_exact DESC, place, bytes, id
              LIMIT ${limit}
            )
            SELECT kind, id, name, key, target
            FROM best
            JOIN search_entries USING (id)
            WHERE workspace_id = ${workspaceId}
            ORDER BY is_exact DESC, place, bytes, id`
        }, Effect.orDie),

        findById: Effect.fn("SearchRepo.findById")(function* (workspaceId, id, { kinds, limit }) {
          return yield* sql<FoundRecord>`
            SELECT kind, id, name, key, target
            FROM search_entries
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}::uuid
              AND kind = ANY(${kinds}::text[])
            UNION
            SELECT kind, id, name, key, url
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}::uuid
              AND kind = 'delayed'
            UNION
            SELECT 'execution', found.id, name, key, url
            FROM (
              SELECT id, task_id FROM executions WHERE workspace_id = ${workspaceId} AND id = ${id}::uuid
              UNION ALL
              SELECT id, task_id FROM runs WHERE workspace_id = ${workspaceId} AND id = ${id}::uuid
            ) AS found
            LEFT JOIN tasks ON tasks.id = task_id AND tasks.workspace_id = ${workspaceId}
            WHERE 'execution' = ANY(${kinds}::text[])
            UNION
            SELECT 'incident', incidents.id, subject_name, NULL, NULL
            FROM incidents
            WHERE incidents.workspace_id = ${workspaceId}
              AND incidents.id = ${id}::uuid
              AND 'incident' = ANY(${kinds}::text[])
              AND subject_kind = ANY(${kinds}::text[])
            LIMIT ${limit}`
        }, Effect.orDie)
      })
    })
  )
}
