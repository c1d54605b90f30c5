import type { Role, WorkspaceId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { membersOptions } from "./names.ts"
import { meOptions } from "./queries.ts"

/** The role of whoever is signed in. Undefined until it is known. */
export const useMyRole = (workspaceId: WorkspaceId | undefined): Role | undefined => {
  const { data: me } = useQuery(meOptions)
  const { data } = useQuery({
    ...membersOptions(workspaceId ?? ""),
    enabled: workspaceId !== undefined
  })
  return data?.find(({ id }) => id === me?.id)?.role
}
