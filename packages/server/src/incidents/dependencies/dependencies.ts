import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Dependency, DependencyInput } from "@scheduling/domain/incidents/Dependency"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { dependenciesRepo, type Dependent } from "./DependenciesRepo.ts"
import { findDependencyPath } from "./findDependencyPath.ts"

/**
 * Creates the functions with which the services for monitors and tasks read and write dependencies.
 */
export const makeDependencies = Effect.map(SqlClient.SqlClient, (sql) => {
  const repo = dependenciesRepo(sql)

  /** Finds the dependencies that a definition names, in the order in which they are stored. */
  const resolve = Effect.fn("Dependencies.resolve")(function* (
    workspaceId: AuthorizedWorkspaceId,
    given: ReadonlyArray<DependencyInput>
  ) {
    const byId = yield* repo.findByIds(
      workspaceId,
      given.flatMap(({ id }) => id ?? [])
    )
    const byKey = yield* repo.findByKeys(
      workspaceId,
      given.flatMap(({ id, key, kind }) => (id === undefined && key != null ? [{ kind, key }] : []))
    )
    const found = given.map(({ id, key, kind }) =>
      id === undefined
        ? byKey.find((one) => one.kind === kind && one.key === key)
        : byId.find((one) => one.kind === kind && one.id === id.toLowerCase())
    )
    const issues = given.flatMap(({ id, key, kind }, index) => {
      const one = found[index]
      const field = id === undefined ? "key" : "id"
      if (one === undefined) {
        const problem = `matches no ${kind} in this workspace: ${id ?? key}`
        return [issueAt(["depends_on", index, field], "not_found", problem)]
      }
      return found.findIndex((other) => other?.id === one.id) < index
        ? [issueAt(["depends_on", index, field], "duplicate", "is in the list twice")]
        : []
    })
    if (issues.length > 0) return yield* new ValidationFailed({ issues })
    return found
      .flatMap((one): ReadonlyArray<Dependency> =>
        one === undefined ? [] : [{ kind: one.kind, id: one.id, key: one.key }]
      )
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  })

  const checkCycle = Effect.fnUntraced(function* (
    { id, workspace_id }: Dependent,
    dependsOn: ReadonlyArray<Dependency>
  ) {
    const ids = dependsOn.map((one) => one.id)
    const path = findDependencyPath(id, ids, ids.includes(id) ? [] : yield* repo.findAbove(ids))
    if (path === undefined) return
    const records = yield* repo.findByIds(workspace_id, path)
    const names = path.map((one) => {
      const record = records.find((other) => other.id === one)
      return `"${record?.name ?? one}"`
    })
    return yield* ValidationFailed.at(
      ["depends_on"],
      "invalid",
      path.length === 1
        ? `must not name the record itself, ${names[0]}`
        : `creates a cycle: ${shortenNames([...names.slice(-1), ...names]).join(" depends on ")}`
    )
  })

  return {
    resolve,

    /** Writes a new record's dependencies. No other record depends on it yet. */
    insert: (of: Dependent, dependsOn: ReadonlyArray<Dependency>) =>
      dependsOn.length === 0 ? Effect.void : repo.replace(of, dependsOn),

    /**
     * Replaces a record's dependencies, or fails if the record would depend on itself. The
     * transaction must have locked the workspace, unless `dependsOn` is empty, so that two
     * concurrent changes cannot create a cycle.
     */
    replace: Effect.fn("Dependencies.replace")(function* (
      of: Dependent,
      before: ReadonlyArray<Dependency>,
      dependsOn: ReadonlyArray<Dependency>
    ) {
      if (isDeepStrictEqual(before, dependsOn)) return
      yield* checkCycle(of, dependsOn)
      yield* repo.replace(of, dependsOn)
    })
  }
})

/**
 * Shortens the list of names in an error message, because a cycle can have thousands of records.
 */
const shortenNames = (names: ReadonlyArray<string>) =>
  names.length <= 10 ? names : [...names.slice(0, 5), "…", ...names.slice(-4)]
