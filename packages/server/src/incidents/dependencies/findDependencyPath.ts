import type { DependencyEdge } from "./DependenciesRepo.ts"

/**
 * Returns a shortest path from one of the `starts` to the `target`, along the edges. Returns
 * undefined if there is none.
 */
export const findDependencyPath = (
  target: string,
  starts: ReadonlyArray<string>,
  edges: ReadonlyArray<DependencyEdge>
): ReadonlyArray<string> | undefined => {
  const next = Map.groupBy(edges, ({ subject_id }) => subject_id)
  const cameFrom = new Map<string, string | undefined>(starts.map((id) => [id, undefined]))
  const queue = [...starts]
  for (const id of queue) {
    if (id === target) break
    for (const { on_id } of next.get(id) ?? []) {
      if (cameFrom.has(on_id)) continue
      cameFrom.set(on_id, id)
      queue.push(on_id)
    }
  }
  if (!cameFrom.has(target)) return undefined
  const path: Array<string> = []
  for (let id: string | undefined = target; id !== undefined; id = cameFrom.get(id))
    path.unshift(id)
  return path
}
