import type { ChainId, ChainRunDetail, ChainRunId, ExecutionId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { listOptions, queries } from "../../data/queries.ts"
import type { ChainSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "chains"] as const

export const chainListOptions = (workspaceId: WorkspaceId, search: ChainSearch) =>
  listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
    clientOf(workspaceId).chains.list({ ...search, cursor, limit: 100 }, { signal })
  )

export const chainOptions = (workspaceId: WorkspaceId, chainId: ChainId) =>
  queryOptions({
    queryKey: [...all(workspaceId), chainId],
    queryFn: ({ signal }) => clientOf(workspaceId).chains.get(chainId, { signal })
  })

export const chainRunsOptions = (workspaceId: WorkspaceId, chainId: ChainId) =>
  listOptions([...all(workspaceId), chainId, "runs"], (cursor, signal) =>
    clientOf(workspaceId).chains.runs(chainId, { cursor, limit: 25 }, { signal })
  )

export const chainRunOptions = (
  workspaceId: WorkspaceId,
  chainId: ChainId,
  runId: ChainRunId | undefined
) =>
  queryOptions({
    queryKey: [...all(workspaceId), chainId, "runs", runId],
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
    queryKey: [...all(workspaceId), chain_id, "runs", id, "requests", executionId],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).chains.stepRequest(chain_id, id, executionId, { signal }),
    // A sent request never changes, and a lost one stays lost.
    staleTime: Infinity,
    retry: false
  })

export const chainsChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
