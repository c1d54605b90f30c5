import type { InvitationPreview } from "@scheduling/sdk"

/** Who invites whom, to which workspace and as what. */
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
