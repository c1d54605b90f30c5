import type { EscalationPolicy } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { ListOrdered, Plus } from "lucide-react"
import { useState } from "react"
import { ApiExample } from "../../data/ApiExample.tsx"
import { useWorkspace } from "../../data/client.ts"
import { useChannelNames } from "../../data/names.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { RowMenu } from "../../ui/actions/RowMenu.tsx"
import { EmptyState } from "../../ui/layout/Page.tsx"
import {
  type Column,
  List,
  menuColumn,
  rowNameClass,
  rowDetailClass
} from "../../ui/lists/List.tsx"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { RoleGate } from "../../ui/role.tsx"
import { ShortTime } from "../../ui/values/Time.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { escalationsOptions, refetchNotifications } from "../queries.ts"
import { EscalationSheet } from "./EscalationSheet.tsx"

export const EscalationsPage = () => {
  const { workspaceId } = useWorkspace()
  const [isCreating, setCreating] = useState(false)
  const { data, error, isPending, refetch } = useQuery(escalationsOptions(workspaceId))
  const [first, second = first] = useChannelNames(workspaceId).keys()
  const create = (
    <RoleGate role="editor">
      <Button look="main" icon={<Plus />} onClick={() => setCreating(true)}>
        New escalation policy
      </Button>
    </RoleGate>
  )
  return (
    <NotificationsPage name="escalations" actions={create}>
      <List
        label="Escalation policies"
        rows={data ?? []}
        isLoading={isPending}
        error={error}
        refetch={refetch}
        columns={columns}
        empty={
          <EmptyState title="No escalation policies yet" icon={<ListOrdered />} action={create}>
            <p className="mb-6">
              An escalation policy notifies people step by step until somebody acknowledges the
              incident. Notification rules decide which incidents use it.
            </p>
            {first !== undefined && (
              <ApiExample
                label="Create an escalation policy"
                path="escalations"
                method="escalations.upsert"
                name="on-call"
                input={{
                  name: "On call",
                  steps: [
                    { after_seconds: 0, channel_ids: [first] },
                    { after_seconds: 600, channel_ids: [second] }
                  ]
                }}
              />
            )}
          </EmptyState>
        }
      />
      {isCreating && <EscalationSheet onClose={() => setCreating(false)} />}
    </NotificationsPage>
  )
}

const PolicyMenu = ({ policy }: { readonly policy: EscalationPolicy }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  return (
    <>
      <RowMenu
        name={policy.name}
        role="editor"
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          await api.escalations.delete(policy.key)
          showSuccessToast(`${policy.name} was deleted`)
          await refetchNotifications(workspaceId)
        }}
        warning="Open incidents are not escalated further. A policy that a rule uses cannot be deleted."
      />
      {isEditing && <EscalationSheet policy={policy} onClose={() => setEditing(false)} />}
    </>
  )
}

const stepsOf = ({ repeat_count, steps }: EscalationPolicy): string => {
  const rounds = repeat_count === 0 ? "" : `, repeated ${repeat_count} times`
  return `${steps.length} ${steps.length === 1 ? "step" : "steps"}${rounds}`
}

const columns: ReadonlyArray<Column<EscalationPolicy>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ key, name }) => (
      <>
        <span className={rowNameClass}>
          <bdi>{name}</bdi>
        </span>
        <span className={rowDetailClass}>
          <bdi>{key}</bdi>
        </span>
      </>
    )
  },
  {
    key: "steps",
    head: "Steps",
    className: "w-24 shrink-0",
    cell: stepsOf
  },
  {
    key: "updated",
    head: "Changed",
    className: "w-40 shrink-0 max-sm:hidden",
    cell: ({ updated_at }) => <ShortTime at={updated_at} />
  },
  menuColumn((policy) => <PolicyMenu policy={policy} />)
]
