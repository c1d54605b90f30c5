import type { Role, WorkspaceId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { membersOptions } from "./names.ts"
import { now } from "../ui/values/clock.ts"
import { onAnswer } from "./answers.ts"
import { meOptions, queries } from "./queries.ts"

/** The role of whoever is signed in. Undefined until it is known. */
export const useMyRole = (workspaceId: WorkspaceId | undefined): Role | undefined => {
  const { data: me } = useQuery(meOptions)
  const { data } = useQuery({
    ...membersOptions(workspaceId ?? ""),
    enabled: workspaceId !== undefined
  })
  return data?.find(({ id }) => id === me?.id)?.role
}

/** Roles are read again this long after the latest time at the earliest. */
const restMs = 2_000

let readAgainAt = 0

// A refusal may mean that somebody has another role now: then other things are offered.
onAnswer(({ status, url }) => {
  if (status !== 403 || /\/members(?:\?|$)/.test(url) || now() < readAgainAt) return
  readAgainAt = now() + restMs
  void queries.invalidateQueries({
    predicate: ({ queryKey: [scope, , noun] }) => scope === "w" && noun === "members"
  })
})
