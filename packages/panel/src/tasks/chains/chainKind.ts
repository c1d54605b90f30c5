import type {
  Chain,
  ChainId,
  ChainRunDetail,
  ChainRunId,
  ExecutionId,
  TaskStatus,
  WorkspaceId
} from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { listOptions } from "../../data/queries.ts"
import { recordQueries } from "../../data/recordQueries.ts"
import type { RepeatingTaskKind } from "../RepeatingTaskActions.tsx"

interface Search {
  readonly name?: string
  readonly status?: TaskStatus
}

export const chainQueries = recordQueries<Chain, Search>("chains", ({ chains }) => chains)

export const chainKind: RepeatingTaskKind = {
  kind: "chain",
  resourceOf: ({ chains }) => chains,
  changed: chainQueries.changed
}

export const chainRunsOptions = (workspaceId: WorkspaceId, chainId: ChainId) =>
  listOptions([...chainQueries.all(workspaceId), chainId, "runs"], (cursor, signal) =>
    clientOf(workspaceId).chains.listRuns(chainId, { cursor, limit: 25 }, { signal })
  )

export const chainRunOptions = (
  workspaceId: WorkspaceId,
  chainId: ChainId,
  runId: ChainRunId | undefined
) =>
  queryOptions({
    queryKey: [...chainQueries.all(workspaceId), chainId, "runs", runId],
    enabled: runId !== undefined,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).chains.getRun(chainId, runId ?? "", {}, { signal })
  })

export const stepRequestOptions = (
  workspaceId: WorkspaceId,
  { chain_id, id }: Pick<ChainRunDetail, "chain_id" | "id">,
  executionId: ExecutionId
) =>
  queryOptions({
    queryKey: [...chainQueries.all(workspaceId), chain_id, "runs", id, "requests", executionId],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).chains.stepRequest(chain_id, id, executionId, { signal }),
    // A sent request never changes, and a deleted one is never restored.
    staleTime: Infinity,
    retry: false
  })
