import { useState } from "react"
import { useNavigate } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { client } from "../data/client.ts"
import { meOptions, queries, workspacesOptions } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { tell } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { InvitationFacts } from "./InvitationFacts.tsx"
import { takeLinkToken } from "./linkToken.ts"
import { useInvitation } from "./useInvitation.ts"
import { session } from "../data/session.ts"

/** Where the link of an invitation leads. Who is not signed in does that first, and comes back. */
export const InvitationPage = () => {
  const [linkToken] = useState(takeLinkToken)
  const navigate = useNavigate()
  const { data: me } = useQuery(meOptions)
  const form = useForm({
    initial: { token: linkToken },
    send: async ({ token }) => {
      const { id, name } = await client.invitations.accept({ token: token.trim() })
      await queries.invalidateQueries(workspacesOptions)
      tell(`You are a member of ${name}.`)
      await navigate({ to: "/w/$workspaceId", params: { workspaceId: id } })
    }
  })
  const invitation = useInvitation(form.values.token)
  const signOut = async () => {
    await session.signOut()
    queries.clear()
  }
  return (
    <AuthPage
      title="Join a workspace"
      description={
        invitation ? (
          <InvitationFacts invitation={invitation} />
        ) : (
          me && `You join as ${me.email}. The invitation must be for this address.`
        )
      }
      below={
        <button type="button" className={textLink} onClick={signOut}>
          Sign in as somebody else
        </button>
      }
    >
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        {linkToken === "" && (
          <Field
            label="Invitation"
            hint="The token that you were given."
            error={form.errorOf("token")}
          >
            <Input {...form.text("token")} mono required autoFocus />
          </Field>
        )}
        {me !== undefined && invitation && me.email !== invitation.email && (
          <p className="text-sm text-warn">
            You are signed in as <bdi>{me.email}</bdi>. Sign in as <bdi>{invitation.email}</bdi> to
            join.
          </p>
        )}
        {invitation === null && (
          <p className="text-sm text-warn">
            This invitation was used, withdrawn or replaced, or it has expired. Ask for another one.
          </p>
        )}
        <Problem error={form.problem} />
        <Button type="submit" look="main" busy={form.isBusy}>
          Join
        </Button>
      </form>
    </AuthPage>
  )
}
