import type { Execution, ExecutionDetail, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"

/** The fields that identify other executions of the same work. */
type Place = Pick<
  ExecutionDetail,
  "finished_at" | "id" | "kind" | "scheduled_for" | "step" | "task_id"
>

export interface Neighbours {
  readonly previous: Execution | undefined
  readonly next: Execution | undefined
  /** The last successful execution before this one. */
  readonly good: ExecutionDetail | undefined
}

/** The number of executions that are searched for one of the same step. */
const searched = 50

const timesSpan = 32

/**
 * Finds the executions of the same task, or of the same chain step, before and after this one, and
 * the last successful one before it.
 */
export const neighboursOptions = (workspaceId: WorkspaceId, place: Place) => {
  const { id, scheduled_for, step, task_id } = place
  const { executions } = clientOf(workspaceId)
  const isOther = (other: Execution) => other.id !== id && other.step === step
  const due = Date.parse(scheduled_for)
  return queryOptions({
    // This key is not below the key of all executions, because past executions do not change with
    // each live event.
    queryKey: ["w", workspaceId, "neighbours", id, place.finished_at],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Neighbours> => {
      const before = { task_id, to: scheduled_for }
      const [earlier, succeeded] = await Promise.all([
        executions.list({ ...before, limit: searched }, { signal }),
        executions.list({ ...before, status: "succeeded", limit: searched }, { signal })
      ])
      const previous = earlier.data.find(isOther)
      const good = succeeded.data.find(isOther)
      const gap = previous === undefined ? 86_400_000 : due - Date.parse(previous.scheduled_for)
      return {
        previous,
        good: good && (await executions.get(good.id, {}, { signal })),
        next: await nextAfter(due, Math.max(60_000, gap), isOther)
      }
    }
  })

  /**
   * Lists are newest first, so the next execution is the last one in a period, which grows until it
   * contains one.
   */
  async function nextAfter(from: number, span: number, isNext: (other: Execution) => boolean) {
    for (let length = 2 * span, tries = 0; tries < 3; length *= timesSpan, tries++) {
      const isLast = tries === 2
      const query = {
        task_id,
        from: new Date(from + 1).toISOString(),
        ...(!isLast && { to: new Date(from + length).toISOString() })
      }
      const found = await executions.list({ ...query, limit: 100 }).toArray({ limit: 200 })
      const next = found.findLast(isNext)
      if (next !== undefined) return next
    }
    return undefined
  }
}
