import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Dependency, IncidentSubjectKind } from "@scheduling/domain/incidents/Dependency"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"

/** A monitor, cron task or chain whose dependencies are written. */
export interface Dependent {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly kind: IncidentSubjectKind
  readonly id: string
}

interface NamedSubject extends Dependency {
  readonly name: string
}

/** A subject's dependency. */
export interface DependencyEdge {
  readonly subject_id: string
  readonly on_id: string
}

/** Creates the queries about the dependencies of monitors and tasks. */
export const dependenciesRepo = (sql: SqlClient.SqlClient) => ({
  findByIds: Effect.fn("DependenciesRepo.findByIds")(function* (
    workspaceId: AuthorizedWorkspaceId,
    ids: ReadonlyArray<string>
  ) {
    if (ids.length === 0) return []
    return yield* sql<NamedSubject>`
      SELECT kind, id, key, name
      FROM monitors
      WHERE workspace_id = ${workspaceId}
        AND id = ANY (${ids}::uuid[])
      UNION ALL
      SELECT kind, id, key, coalesce(name, url, kind)
      FROM tasks
      WHERE workspace_id = ${workspaceId}
        AND kind IN ('cron', 'chain')
        AND id = ANY (${ids}::uuid[])`
  }, Effect.orDie),

  findByKeys: Effect.fn("DependenciesRepo.findByKeys")(function* (
    workspaceId: AuthorizedWorkspaceId,
    named: ReadonlyArray<{ readonly kind: IncidentSubjectKind; readonly key: string }>
  ) {
    if (named.length === 0) return []
    const column = columnsOf(named)
    return yield* sql<Dependency>`
      WITH named AS MATERIALIZED (
        SELECT kind, key
        FROM unnest(
          ${column("text", ({ kind }) => kind)},
          ${column("text", ({ key }) => key)}
        ) AS given (kind, key)
      )
      SELECT monitors.kind, monitors.id, monitors.key
      FROM named
      JOIN monitors
        ON monitors.workspace_id = ${workspaceId}
        AND monitors.kind = named.kind
        AND monitors.key = named.key
      UNION ALL
      SELECT tasks.kind, tasks.id, tasks.key
      FROM named
      JOIN tasks
        ON tasks.workspace_id = ${workspaceId}
        AND tasks.kind = named.kind
        AND tasks.key = named.key
      WHERE tasks.kind IN ('cron', 'chain')`
  }, Effect.orDie),

  /** Returns the subjects' direct and indirect dependencies. */
  findAbove: Effect.fn("DependenciesRepo.findAbove")(function* (subjectIds: ReadonlyArray<string>) {
    if (subjectIds.length === 0) return []
    return yield* sql<DependencyEdge>`
      WITH RECURSIVE above AS (
        SELECT subject_id, on_id
        FROM dependencies
        WHERE subject_id = ANY (${subjectIds}::uuid[])
        UNION
        SELECT dependencies.subject_id, dependencies.on_id
        FROM above
        JOIN dependencies ON dependencies.subject_id = above.on_id
      )
      TABLE above`
  }, Effect.orDie),

  /** Returns the subjects' open incidents, by subject. */
  findOpenIncidents: Effect.fn("DependenciesRepo.findOpenIncidents")(function* (
    subjectIds: ReadonlyArray<string>
  ) {
    const rows = yield* sql<{ readonly id: string; readonly subject_id: string }>`
      SELECT id, subject_id
      FROM incidents
      WHERE subject_id = ANY (${subjectIds}::uuid[])
        AND closed_at IS NULL`
    return new Map(rows.map(({ id, subject_id }) => [subject_id, id]))
  }, Effect.orDie),

  replace: Effect.fn("DependenciesRepo.replace")(function* (
    { id, kind, workspace_id }: Dependent,
    dependsOn: ReadonlyArray<Pick<Dependency, "id" | "kind">>
  ) {
    const table = sql.literal(kind === "cron" || kind === "chain" ? "tasks" : "monitors")
    yield* sql`
      UPDATE ${table}
      SET has_dependencies = ${dependsOn.length > 0}
      WHERE workspace_id = ${workspace_id}
        AND id = ${id}`
    yield* sql`
      DELETE FROM dependencies
      WHERE subject_id = ${id}`
    if (dependsOn.length === 0) return
    const column = columnsOf(dependsOn)
    yield* sql`
      INSERT INTO dependencies (workspace_id, subject_kind, subject_id, on_kind, on_id)
      SELECT ${workspace_id}::uuid, ${kind}::text, ${id}::uuid, on_kind, on_id
      FROM unnest(
        ${column("text", (one) => one.kind)},
        ${column("uuid", (one) => one.id)}
      ) AS given (on_kind, on_id)`
  }, Effect.orDie)
})
