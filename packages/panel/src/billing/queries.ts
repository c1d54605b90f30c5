import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { client, clientOf } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "billing"] as const

export const billingOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: ({ signal }) => clientOf(workspaceId).billing.get({ signal })
  })

export const usageOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "usage"],
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).billing.getUsage({}, { signal })).data
  })

export const plansOptions = queryOptions({
  queryKey: ["plans"],
  queryFn: async ({ signal }) => (await client.billing.listPlans({ signal })).data
})

export const refetchBilling = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })
