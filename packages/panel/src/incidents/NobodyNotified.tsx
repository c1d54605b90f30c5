import type { IncidentSubject } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { TriangleAlert } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { definitionOptions } from "../data/targets.ts"
import { taskKinds } from "../data/tasks.ts"
import { isAnyoneNotified, problemEventOf, recipientsOptions } from "../recipients/queries.ts"
import { RoleGate } from "../ui/role.tsx"

/** Warns if nobody is notified about problems of a task or monitor. */
export const NobodyNotified = ({ subject }: { readonly subject: IncidentSubject }) => {
  const { workspaceId } = useWorkspace()
  const { data: definition } = useQuery(definitionOptions(workspaceId, subject))
  const tag = definition?.tags ?? []
  const { data: recipients } = useQuery({
    ...recipientsOptions(workspaceId, {
      event: problemEventOf(subject.kind),
      subject_id: subject.id,
      ...(tag.length > 0 && { tag })
    }),
    enabled: definition !== undefined
  })
  if (recipients === undefined || isAnyoneNotified(recipients)) return null
  return (
    <p className="mb-6 flex items-baseline gap-2.5 rounded-lg border border-warn/30 tint-warn px-4 py-2.5">
      <TriangleAlert aria-hidden className="size-4 shrink-0 self-center text-warn" />
      <span>
        Nobody is notified about this {subject.kind in taskKinds ? "task" : "monitor"}.{" "}
        <RoleGate role="editor">
          <Link
            to="/w/$workspaceId/notifications/rules"
            params={{ workspaceId }}
            className="font-medium whitespace-nowrap text-live hover:underline"
          >
            Change the rules
          </Link>
        </RoleGate>
      </span>
    </p>
  )
}
