import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { sortByDependencies } from "../../core/index.ts"
import { dependenciesRepo, type DependencyEdge } from "./DependenciesRepo.ts"

/**
 * Returns, for each subject that depends on others, an open incident of one of its direct or
 * indirect dependencies, or null if no dependency has one. Subjects without dependencies are
 * omitted.
 */
export const findSuppressors = Effect.fn("findSuppressors")(function* (
  sql: SqlClient.SqlClient,
  subjectIds: ReadonlyArray<string>
) {
  const repo = dependenciesRepo(sql)
  const edges = yield* repo.findAbove(subjectIds)
  if (edges.length === 0) return new Map<string, string | null>()
  const incidents = yield* repo.findOpenIncidents([...new Set(edges.map(({ on_id }) => on_id))])
  return suppressorsIn(edges, incidents, subjectIds)
})

/**
 * Returns the incident that suppresses each subject. If both a dependency and that dependency's own
 * dependency have an incident, the latter is returned, because it suppresses the former.
 */
const suppressorsIn = (
  edges: ReadonlyArray<DependencyEdge>,
  incidents: ReadonlyMap<string, string>,
  subjectIds: ReadonlyArray<string>
): ReadonlyMap<string, string | null> => {
  const above = Map.groupBy(edges, ({ subject_id }) => subject_id)
  const dependenciesOf = (id: string) => (above.get(id) ?? []).map(({ on_id }) => on_id)
  const known = new Map<string, string | null>()
  for (const id of sortByDependencies(subjectIds, dependenciesOf)) {
    const [suppressor = null] = dependenciesOf(id).flatMap(
      (on) => known.get(on) ?? incidents.get(on) ?? []
    )
    known.set(id, suppressor)
  }
  return new Map(
    subjectIds.flatMap((id) => (above.has(id) ? [[id, known.get(id) ?? null] as const] : []))
  )
}
