import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A monitor, a cron task or a chain. */
export interface FoundSubject {
  readonly subject: "monitor" | "task"
  readonly id: string
  readonly key: string | null
}

/** Finds the monitors and tasks that definitions reference by id or by key. */
export class SubjectsRepo extends Context.Service<
  SubjectsRepo,
  {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      named: { readonly ids: ReadonlyArray<string>; readonly keys?: ReadonlyArray<string> }
    ) => Effect.Effect<ReadonlyArray<FoundSubject>>
  }
>()("@scheduling/server/incidents/SubjectsRepo") {
  static readonly layer: Layer.Layer<SubjectsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SubjectsRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      SubjectsRepo.of({
        find: Effect.fn("SubjectsRepo.find")(function* (workspaceId, { ids, keys = [] }) {
          if (ids.length + keys.length === 0) return []
          return yield* sql<FoundSubject>`
            SELECT 'monitor' AS subject, id, key
            FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND (id = ANY (${ids}::uuid[]) OR key = ANY (${keys}::text[]))
            UNION ALL
            SELECT 'task', id, key
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind IN ('cron', 'chain')
              AND (id = ANY (${ids}::uuid[]) OR key = ANY (${keys}::text[]))`
        }, Effect.orDie)
      })
    )
  )
}

/** Creates the function that finds the keys of records by id. Records without a key are omitted. */
export const keyFinder = (found: ReadonlyArray<FoundSubject>) => {
  const keys = new Map(found.map(({ id, key }) => [id, key]))
  return (ids: ReadonlyArray<string>): ReadonlyArray<string> =>
    ids.flatMap((id) => keys.get(id) ?? [])
}
