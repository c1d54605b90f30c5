import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"

/** A task whose latest run failed. */
export interface Failing {
  readonly id: string
  readonly kind: "chain" | "cron"
  readonly name: string
  readonly runId: string
  readonly at: string | null
}

const shown = 8

/** Among the newest tasks. It is asked for by the clock: each run that ends would ask again. */
export const failingNowOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "failing"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }): Promise<ReadonlyArray<Failing>> => {
      const api = clientOf(workspaceId)
      const active = { status: "active", limit: 100 } as const
      const [cron, chains] = await Promise.all([
        api.cron.list(active, { signal }),
        api.chains.list(active, { signal })
      ])
      const failing = [
        ...cron.data.flatMap(({ id, last_run, name }) =>
          last_run?.status === "failed"
            ? [
                {
                  id,
                  kind: "cron",
                  name,
                  runId: last_run.execution_id,
                  at: last_run.finished_at
                } as const
              ]
            : []
        ),
        ...chains.data.flatMap(({ id, last_run, name }) =>
          last_run?.status === "failed"
            ? [
                {
                  id,
                  kind: "chain",
                  name,
                  runId: last_run.run_id,
                  at: last_run.finished_at
                } as const
              ]
            : []
        )
      ]
      return failing
        .toSorted((one, other) => (other.at ?? "").localeCompare(one.at ?? ""))
        .slice(0, shown)
    }
  })
