import type { Role, WorkspaceId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { membersOptions } from "./names.ts"
import { now } from "../ui/values/clock.ts"
import { onResponse } from "./responses.ts"
import { meOptions, queryClient } from "./queries.ts"

/** Returns the signed-in user's role. Undefined while it is loading. */
export const useMyRole = (workspaceId: WorkspaceId | undefined): Role | undefined => {
  const { data: me } = useQuery(meOptions)
  const { data } = useQuery({
    ...membersOptions(workspaceId ?? ""),
    enabled: workspaceId !== undefined
  })
  return data?.find(({ id }) => id === me?.id)?.role
}

/** The minimum interval between two role refetches. */
const minIntervalMs = 2_000

let readAgainAt = 0

// A 403 may mean that the user's role has changed.
onResponse(({ status, url }) => {
  if (status !== 403 || /\/members(?:\?|$)/.test(url) || now() < readAgainAt) return
  readAgainAt = now() + minIntervalMs
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [scope, , noun] }) => scope === "w" && noun === "members"
  })
})
