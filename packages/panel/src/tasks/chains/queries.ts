import type {
  Chain,
  TaskStatus,
  ChainId,
  ChainRunDetail,
  ChainRunId,
  ExecutionId,
  WorkspaceId
} from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { listOptions } from "../../data/queries.ts"
import { taskQueries } from "../taskQueries.ts"

export const chainQueries = taskQueries<Chain, TaskStatus>("chains", ({ chains }) => chains)

export const chainRunsOptions = (workspaceId: WorkspaceId, chainId: ChainId) =>
  listOptions([...chainQueries.all(workspaceId), chainId, "runs"], (cursor, signal) =>
    clientOf(workspaceId).chains.runs(chainId, { cursor, limit: 25 }, { signal })
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
    // A sent request never changes, and a lost one stays lost.
    staleTime: Infinity,
    retry: false
  })
