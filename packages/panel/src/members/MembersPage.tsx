import type { CreatedInvitation, Invitation, Member, Role } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Plus, Trash2, UserMinus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { meOptions, useList } from "../data/queries.ts"
import { Button, IconButton } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Select } from "../ui/forms/Field.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Empty, Page, Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { ShownOnce } from "../ui/values/ShownOnce.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { Ago, At } from "../ui/values/Time.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { InviteSheet } from "./InviteSheet.tsx"
import { invitationListOptions, memberListOptions, membersChanged } from "./queries.ts"
import { roleNames } from "./roles.ts"
import { Only } from "../ui/role.tsx"

export const MembersPage = () => {
  const [isInviting, setInviting] = useState(false)
  const [invited, setInvited] = useState<CreatedInvitation>()
  return (
    <Page
      title="Members"
      description="Who shares this workspace, and what each of them may do."
      actions={
        <Only role="admin">
          <Button
            look="main"
            icon={<Plus className="size-4" />}
            onClick={() => {
              setInvited(undefined)
              setInviting(true)
            }}
          >
            Invite somebody
          </Button>
        </Only>
      }
    >
      <div className="flex flex-col gap-8">
        {invited?.token != null && <ShownInvitation invited={invited} token={invited.token} />}
        <Members />
        <Only role="admin" waits>
          <Invitations />
        </Only>
      </div>
      <InviteSheet
        isOpen={isInviting}
        onClose={() => setInviting(false)}
        onInvited={(created) => {
          setInvited(created)
          if (created.token === null) tell(`A mail was sent to ${created.email}`)
        }}
      />
    </Page>
  )
}

const ShownInvitation = ({
  invited: { email },
  token
}: {
  readonly invited: CreatedInvitation
  readonly token: string
}) => (
  <ShownOnce
    title={`Hand this link to ${email}. It cannot be shown again.`}
    label="link"
    secret={`${location.origin}/invitation#${token}`}
  >
    <p className="text-sm text-soft">
      This service sends no mail. The link works once, for the account with this email.
    </p>
  </ShownOnce>
)

const Members = () => {
  const { workspaceId } = useWorkspace()
  const { error, refetch, ...list } = useList(memberListOptions(workspaceId))
  return error === null ? (
    <List
      {...list}
      label="Members"
      columns={memberColumns}
      keyOf={({ id }) => id}
      empty={<Empty title="No members" />}
    />
  ) : (
    <Problem error={error} retry={refetch} />
  )
}

const Invitations = () => {
  const { workspaceId } = useWorkspace()
  const { error, refetch, ...list } = useList(invitationListOptions(workspaceId))
  if (error === null && list.rows.length === 0) return null
  return (
    <Section title="Invited">
      {error === null ? (
        <List
          {...list}
          label="Invitations"
          columns={invitationColumns}
          keyOf={({ id }) => id}
          empty={<Empty title="Nobody is invited" />}
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Section>
  )
}

const MemberRole = ({ member: { email, id, name, role } }: { readonly member: Member }) => {
  const { api, workspaceId } = useWorkspace()
  const change = async (next: Role) => {
    await attempt(() => api.members.update(id, { role: next }), `${name ?? email} is ${next} now`)
    await membersChanged(workspaceId)
  }
  return (
    <Only role="admin" instead={<Badge>{role}</Badge>}>
      <Select
        aria-label={`Role of ${name ?? email}`}
        options={roleNames}
        value={role}
        onChange={({ target }) => void change(target.value as Role)}
      />
    </Only>
  )
}

const RemoveMember = ({ member: { email, id, name } }: { readonly member: Member }) => {
  const { api, workspaceId } = useWorkspace()
  const { data: me } = useQuery(meOptions)
  const [isOpen, setOpen] = useState(false)
  if (me?.id === id) return <Badge>you</Badge>
  return (
    <Only role="admin">
      <IconButton label={`Remove ${name ?? email}`} onClick={() => setOpen(true)}>
        <UserMinus className="size-4" />
      </IconButton>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Remove ${name ?? email}?`}
        action="Remove"
        onConfirm={async () => {
          await api.members.remove(id)
          tell(`${name ?? email} was removed`)
          await membersChanged(workspaceId)
        }}
      >
        Their next request is refused. API keys that they made go on working, because keys belong to
        the workspace. Invitations that they made end.
      </Confirm>
    </Only>
  )
}

const RemoveInvitation = ({ invitation: { email, id } }: { readonly invitation: Invitation }) => {
  const { api, workspaceId } = useWorkspace()
  return (
    <IconButton
      label={`Withdraw the invitation for ${email}`}
      onClick={async () => {
        await attempt(() => api.invitations.remove(id), "The invitation was withdrawn")
        await membersChanged(workspaceId)
      }}
    >
      <Trash2 className="size-4" />
    </IconButton>
  )
}

const memberColumns: ReadonlyArray<Column<Member>> = [
  {
    key: "who",
    head: "Name",
    className: "grow basis-0",
    cell: ({ email, name }) => (
      <>
        <span className="block truncate font-medium">{name ?? email}</span>
        <span className="block truncate text-xs text-faint">{email}</span>
      </>
    )
  },
  {
    key: "joined",
    head: "Since",
    className: "w-32 shrink-0 max-sm:hidden",
    cell: ({ joined_at }) => <At at={joined_at} />
  },
  {
    key: "role",
    head: "Role",
    className: "w-28 shrink-0",
    cell: (member) => <MemberRole member={member} />
  },
  {
    key: "remove",
    head: <span className="sr-only">Actions</span>,
    className: "w-10 shrink-0",
    cell: (member) => <RemoveMember member={member} />
  }
]

const invitationColumns: ReadonlyArray<Column<Invitation>> = [
  {
    key: "email",
    head: "Email",
    className: "grow basis-0 truncate font-medium",
    cell: ({ email }) => email
  },
  {
    key: "role",
    head: "Role",
    className: "w-20 shrink-0",
    cell: ({ role }) => <Badge>{role}</Badge>
  },
  {
    key: "ends",
    head: "Ends",
    className: "w-24 shrink-0 max-sm:hidden",
    cell: ({ expires_at }) => <Ago at={expires_at} />
  },
  {
    key: "remove",
    head: <span className="sr-only">Actions</span>,
    className: "w-10 shrink-0",
    cell: (invitation) => <RemoveInvitation invitation={invitation} />
  }
]
