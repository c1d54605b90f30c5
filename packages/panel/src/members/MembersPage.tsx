import type { CreatedInvitation, Invitation, Member, Role } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Plus, Trash2, UserMinus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { meOptions, useList } from "../data/queries.ts"
import { Button, IconButton } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Select } from "../ui/forms/Field.tsx"
import { type Column, List, rowDetailClass, rowNameClass } from "../ui/lists/List.tsx"
import { Page, Section } from "../ui/layout/Page.tsx"
import { SecretShownOnce } from "../ui/values/SecretShownOnce.tsx"
import { capitalize } from "../ui/values/format.ts"
import { Badge } from "../ui/values/Status.tsx"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { InviteSheet } from "./InviteSheet.tsx"
import { invitationListOptions, memberListOptions, refetchMembers } from "./queries.ts"
import { roleNames } from "./roles.ts"
import { ServiceAccounts } from "./ServiceAccounts.tsx"
import { RoleGate } from "../ui/role.tsx"

export const MembersPage = () => {
  const [isInviting, setInviting] = useState(false)
  const [invited, setInvited] = useState<CreatedInvitation>()
  return (
    <Page
      title="Members"
      description="The people and service accounts in this workspace, and their roles."
      actions={
        <RoleGate role="admin">
          <Button
            look="main"
            icon={<Plus />}
            onClick={() => {
              setInvited(undefined)
              setInviting(true)
            }}
          >
            Invite a member
          </Button>
        </RoleGate>
      }
    >
      <div className="flex flex-col gap-8">
        {invited?.token != null && <ShownInvitation invited={invited} token={invited.token} />}
        <Members />
        <RoleGate role="admin" waits>
          <Invitations />
          <ServiceAccounts />
        </RoleGate>
      </div>
      {isInviting && (
        <InviteSheet
          onClose={() => setInviting(false)}
          onInvited={(created) => {
            setInvited(created)
            if (created.token === null)
              showSuccessToast(`An invitation was sent to ${created.email}`)
          }}
        />
      )}
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
  <SecretShownOnce
    title={`Send this link to ${email}. It cannot be shown again.`}
    label="link"
    secret={`${location.origin}/invitation#${token}`}
  >
    <p className="text-sm text-soft">
      This service cannot send email. The link works once, and only for the account with this email
      address.
    </p>
  </SecretShownOnce>
)

const Members = () => {
  const { workspaceId } = useWorkspace()
  const list = useList(memberListOptions(workspaceId))
  return <List {...list} label="Members" columns={memberColumns} empty={null} />
}

const Invitations = () => {
  const { workspaceId } = useWorkspace()
  const list = useList(invitationListOptions(workspaceId))
  if (list.error === null && list.rows.length === 0) return null
  return (
    <Section title="Invitations">
      <List {...list} label="Invitations" columns={invitationColumns} empty={null} />
    </Section>
  )
}

const MemberRole = ({ member: { email, id, name, role } }: { readonly member: Member }) => {
  const { api, workspaceId } = useWorkspace()
  const change = async (next: Role) => {
    await runWithToast(
      () => api.members.update(id, { role: next }),
      `${name ?? email} now has the role ${next}`
    )
    await refetchMembers(workspaceId)
  }
  return (
    <RoleGate role="admin" instead={<Badge>{capitalize(role)}</Badge>}>
      <Select
        aria-label={`Role of ${name ?? email}`}
        options={roleNames}
        value={role}
        onChange={({ target }) => void change(target.value as Role)}
      />
    </RoleGate>
  )
}

const RemoveMember = ({ member: { email, id, name } }: { readonly member: Member }) => {
  const { api, workspaceId } = useWorkspace()
  const { data: me } = useQuery(meOptions)
  const [isOpen, setOpen] = useState(false)
  if (me?.id === id) return <Badge>you</Badge>
  return (
    <RoleGate role="admin">
      <IconButton label={`Remove ${name ?? email}`} onClick={() => setOpen(true)}>
        <UserMinus className="size-4" />
      </IconButton>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Remove ${name ?? email}?`}
        action="Remove member"
        onConfirm={async () => {
          await api.members.delete(id)
          showSuccessToast(`${name ?? email} was removed`)
          await refetchMembers(workspaceId)
        }}
      >
        They lose access immediately. API keys that they created keep working, because keys belong
        to the workspace. Invitations that they created are withdrawn.
      </Confirm>
    </RoleGate>
  )
}

const RemoveInvitation = ({ invitation: { email, id } }: { readonly invitation: Invitation }) => {
  const { api, workspaceId } = useWorkspace()
  return (
    <IconButton
      label={`Withdraw the invitation for ${email}`}
      onClick={async () => {
        await runWithToast(() => api.invitations.delete(id), "The invitation was withdrawn")
        await refetchMembers(workspaceId)
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
        <span className={rowNameClass}>{name ?? email}</span>
        {name !== null && <span className={rowDetailClass}>{email}</span>}
      </>
    )
  },
  {
    key: "joined",
    head: "Joined",
    className: "w-32 shrink-0 max-sm:hidden",
    cell: ({ joined_at }) => <ShortTime at={joined_at} />
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
    className: "grow basis-0",
    cell: ({ email }) => <span className={rowNameClass}>{email}</span>
  },
  {
    key: "role",
    head: "Role",
    className: "w-20 shrink-0",
    cell: ({ role }) => <Badge>{capitalize(role)}</Badge>
  },
  {
    key: "ends",
    head: "Expires",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ expires_at }) => <RelativeTime at={expires_at} />
  },
  {
    key: "remove",
    head: <span className="sr-only">Actions</span>,
    className: "w-10 shrink-0",
    cell: (invitation) => <RemoveInvitation invitation={invitation} />
  }
]
