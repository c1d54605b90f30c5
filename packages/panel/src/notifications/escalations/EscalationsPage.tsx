import type { EscalationPolicy } from "@scheduling/sdk"
import { ListOrdered } from "lucide-react"
import { useState } from "react"
import { ApiExample } from "../../data/ApiExample.tsx"
import { useWorkspace } from "../../data/client.ts"
import { useChannelNames } from "../../data/names.ts"
import { useWholeList } from "../../data/queries.ts"
import { RowMenu } from "../../ui/actions/RowMenu.tsx"
import { useCreateSheet } from "../../ui/actions/useCreateSheet.tsx"
import { EmptyState } from "../../ui/layout/Page.tsx"
import {
  type Column,
  List,
  menuColumn,
  rowNameClass,
  rowDetailClass
} from "../../ui/lists/List.tsx"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { ShortTime } from "../../ui/values/Time.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { escalationsOptions, refetchNotifications } from "../queries.ts"
import { EscalationSheet } from "./EscalationSheet.tsx"

export const EscalationsPage = () => {
  const { workspaceId } = useWorkspace()
  const list = useWholeList(escalationsOptions(workspaceId))
  const [first, second = first] = useChannelNames(workspaceId).keys()
  const create = useCreateSheet("New escalation policy", (onClose) => (
    <EscalationSheet onClose={onClose} />
  ))
  return (
    <NotificationsPage name="escalations" actions={create.button}>
      <List
        {...list}
        label="Escalation policies"
        columns={columns}
        empty={
          <EmptyState
            title="No escalation policies yet"
            icon={<ListOrdered />}
            action={create.button}
          >
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
      {create.sheet}
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
