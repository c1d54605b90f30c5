import { type InvitationPreview, NotFoundError } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { client } from "../data/client.ts"
import { takeLinkToken } from "./linkToken.ts"

const invitationOptions = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    enabled: token !== "",
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<InvitationPreview | null> => {
      try {
        return await client.invitations.preview({ token }, { signal })
      } catch (error) {
        if (error instanceof NotFoundError) return null
        throw error
      }
    }
  })

/**
 * The invitation of the link. Null if the link is no longer valid, undefined while it is
 * loading.
 */
export const useInvitation = (token = takeLinkToken()): InvitationPreview | null | undefined =>
  useQuery(invitationOptions(token.trim())).data
