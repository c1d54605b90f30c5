import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"

/** It is asked for by the clock: otherwise each run that ends would ask again. */
export const failingNowOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "failing"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).activity.failing({ limit: 8 }, { signal })).data
  })
