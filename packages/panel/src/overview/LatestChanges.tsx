import type { AuditEvent } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { latestDefinitionChangesOptions } from "../data/changes.ts"
import { useWorkspace } from "../data/client.ts"
import { Card, Section } from "../ui/layout/Page.tsx"
import { type Column, List, rowTextClass } from "../ui/lists/List.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { ChangeSentence } from "../versions/ChangeSentence.tsx"

/** The latest changes of definitions and secrets, with their authors. */
export const LatestChanges = () => {
  const { workspaceId } = useWorkspace()
  const changes = useQuery(latestDefinitionChangesOptions(workspaceId))
  return (
    <Section
      title="Latest changes"
      actions={
        <Link
          to="/w/$workspaceId/audit"
          params={{ workspaceId }}
          className="text-sm font-medium text-live hover:underline"
        >
          Show the audit log
        </Link>
      }
    >
      <List
        label="Latest changes"
        columns={columns}
        rows={changes.data ?? []}
        error={changes.error}
        refetch={changes.refetch}
        empty={<Card className="px-4 py-3.5 text-soft">Nothing has been changed yet.</Card>}
      />
    </Section>
  )
}

const columns: ReadonlyArray<Column<AuditEvent>> = [
  {
    key: "change",
    head: "Change",
    className: "grow basis-0",
    cell: (event) => (
      <span className={rowTextClass}>
        <ChangeSentence event={event} />
      </span>
    )
  },
  {
    key: "time",
    head: "Time",
    className: "w-28 shrink-0",
    cell: ({ created_at }) => <RelativeTime at={created_at} />
  }
]
