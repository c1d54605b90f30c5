import type { InvitationPreview } from "@scheduling/sdk"
import { InvitationFacts } from "./InvitationFacts.tsx"

/** For an invited person who is not signed in. */
export const Invited = ({
  invitation
}: {
  readonly invitation: InvitationPreview | null | undefined
}) =>
  invitation === null ? (
    "This invitation was used, withdrawn or replaced, or it has expired. Ask for another one."
  ) : invitation === undefined ? (
    "You are invited to a workspace."
  ) : (
    <>
      <InvitationFacts invitation={invitation} /> Sign in to join, or create an account with this
      address.
    </>
  )
