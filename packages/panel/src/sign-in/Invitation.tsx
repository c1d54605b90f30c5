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

/** Returns a link's invitation. Null if the link is no longer valid, undefined while loading. */
export const useInvitation = (token = takeLinkToken()): InvitationPreview | null | undefined =>
  useQuery(invitationOptions(token.trim())).data

/** True if the user is signing in to open an invitation. */
export const isInvitationPath = (next: string | undefined): boolean =>
  next !== undefined && /^\/invitation(?:[?#]|$)/.test(next)

export const invalidInvitationText =
  "This invitation was used, withdrawn or replaced, or it has expired. Ask for a new invitation."

export const InvitationFacts = ({
  invitation: { email, invited_by, role, workspace_name }
}: {
  readonly invitation: InvitationPreview
}) => (
  <>
    <b>
      <bdi>{invited_by}</bdi>
    </b>{" "}
    invites you to{" "}
    <b>
      <bdi>{workspace_name}</bdi>
    </b>{" "}
    as {role === "viewer" ? "a" : "an"} {role}. The invitation is for <bdi>{email}</bdi>.
  </>
)

/** Describes the invitation on the pages where the invited user signs in or creates an account. */
export const InvitationDescription = ({
  invitation
}: {
  readonly invitation: InvitationPreview | null | undefined
}) =>
  invitation === null ? (
    invalidInvitationText
  ) : invitation === undefined ? (
    "You are invited to a workspace."
  ) : (
    <>
      <InvitationFacts invitation={invitation} /> Sign in to join, or create an account with this
      email address.
    </>
  )
