import { useState } from "react"
import { useNavigate } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { client } from "../data/client.ts"
import { meOptions, queryClient, workspacesOptions } from "../data/queries.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { AuthPage, textLinkClass } from "./AuthPage.tsx"
import { InvitationFacts, invalidInvitationText, useInvitation } from "./Invitation.tsx"
import { takeLinkToken } from "./linkToken.ts"
import { useSignOut } from "./useSignOut.ts"

/**
 * The page that an invitation link opens. Users who are not signed in are redirected to sign in
 * first.
 */
export const InvitationPage = () => {
  const [linkToken] = useState(takeLinkToken)
  const navigate = useNavigate()
  const { data: me } = useQuery(meOptions)
  const form = useForm({
    initial: { token: linkToken },
    send: async ({ token }) => {
      const { id, name } = await client.invitations.accept({ token: token.trim() })
      await queryClient.invalidateQueries(workspacesOptions)
      showSuccessToast(`You are a member of ${name}.`)
      await navigate({ to: "/w/$workspaceId", params: { workspaceId: id } })
    }
  })
  const invitation = useInvitation(form.values.token)
  const signOut = useSignOut()
  const changeAccount = async () => {
    await signOut({ next: "/invitation" })
    queryClient.clear()
  }
  return (
    <AuthPage
      title="Join a workspace"
      description={
        invitation ? (
          <InvitationFacts invitation={invitation} />
        ) : (
          me && `You join as ${me.email}. The invitation must be for this email address.`
        )
      }
      below={
        <button type="button" className={textLinkClass} onClick={() => void changeAccount()}>
          Sign in with another account
        </button>
      }
    >
      <AuthForm form={form} action="Join workspace">
        {linkToken === "" && (
          <Field label="Token" hint="The token from the invitation." error={form.errorOf("token")}>
            <Input {...form.text("token")} mono required autoFocus />
          </Field>
        )}
        {me !== undefined && invitation && me.email !== invitation.email && (
          <p className="text-sm text-warn">
            You are signed in as <bdi>{me.email}</bdi>. Sign in as <bdi>{invitation.email}</bdi> to
            join.
          </p>
        )}
        {invitation === null && <p className="text-sm text-warn">{invalidInvitationText}</p>}
      </AuthForm>
    </AuthPage>
  )
}
