import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maxRankedMatches, type SearchResult } from "@scheduling/domain/search/Search"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** What to search, and how many records to return. */
export interface SearchInput {
  /** The kinds of records to search. */
  readonly kinds: ReadonlyArray<string>
  readonly limit: number
}

export class SearchRepo extends Context.Service<
  SearchRepo,
  {
    /** Finds records that contain all words. `text` and `words` must be in lower case. */
    readonly findByText: (
      workspaceId: AuthorizedWorkspaceId,
      text: string,
      words: ReadonlyArray<string>,
      sought: SearchInput
    ) => Effect.Effect<ReadonlyArray<SearchResult>>
    readonly findById: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      sought: SearchInput
    ) => Effect.Effect<ReadonlyArray<SearchResult>>
  }
>()("@scheduling/server/search/SearchRepo") {
  static readonly layer: Layer.Layer<SearchRepo, never, SqlClient.SqlClient> = Layer.effect(
    SearchRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return SearchRepo.of({
        // Reads the workspace's entries at most once, in an index that contains all columns of the
        // conditions and of the ranking. If there are fewer matches than `maxRankedMatches`,
        // `newest` contains all of them, the condition on `id` in `exact` is null, and `exact`
        // reads nothing. Otherwise `exact` continues where `newest` stopped. `place` is the field
        // in which the first word was found: the name ranks before the key, and the key before the
        // target.
        findByText: Effect.fn("SearchRepo.findByText")(function* (
          workspaceId,
          text,
          words,
          { kinds, limit }
        ) {
          const [first = ""] = words
          const hasAll = sql.and(words.map((word) => sql`strpos(text, ${word}) > 0`))
          const line = `\n${text}\n`
          return yield* sql<SearchResult>`
            WITH newest AS MATERIALIZED (
              SELECT id, text
              FROM search_entries
              WHERE workspace_id = ${workspaceId}
                AND ${hasAll}
                AND kind = ANY(${kinds}::text[])
              ORDER BY id DESC
              LIMIT ${maxRankedMatches}
            ), exact AS (
              SELECT id, text
              FROM search_entries
              WHERE workspace_id = ${workspaceId}
                AND id < (SELECT id FROM newest ORDER BY id DESC OFFSET ${maxRankedMatches - 1})
                AND strpos(text, ${line}) > 0
                AND kind = ANY(${kinds}::text[])
              ORDER BY id DESC
              LIMIT ${limit}
            ), best AS MATERIALIZED (
              SELECT
                id,
                strpos(text, ${line}) > 0 AS is_exact,
                strpos(text, ${first}) AS place,
                octet_length(text) AS bytes
              FROM (SELECT * FROM newest UNION ALL SELECT * FROM exact) AS matching
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
          return yield* sql<SearchResult>`
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
