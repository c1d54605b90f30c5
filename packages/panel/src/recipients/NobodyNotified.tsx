import type { NotificationRecipient, NotificationRecipients } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { TriangleAlert } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { taskKinds } from "../data/tasks.ts"
import { RoleGate } from "../ui/role.tsx"
import { activeRecipientsOf, type RecipientsSubject, recipientsOptionsOf } from "./queries.ts"

/**
 * Warns that no message about a task or monitor reaches anybody. Shows nothing if a message would,
 * or if the task has a failure callback.
 */
export const NobodyNotified = ({ subject }: { readonly subject: RecipientsSubject }) => {
  const { workspaceId } = useWorkspace()
  const { data, isPlaceholderData } = useQuery(recipientsOptionsOf(workspaceId, subject))
  const hasCallback = subject.callback !== undefined && subject.callback !== ""
  if (data === undefined || isPlaceholderData || hasCallback) return null
  const hasRule = data.channels.length > 0 || data.escalations.length > 0
  const reason = hasRule ? reasonOf(data) : ""
  if (reason === undefined) return null
  return (
    <p className="mb-6 flex items-baseline gap-2.5 rounded-lg border border-warn/30 tint-warn px-4 py-2.5">
      <TriangleAlert aria-hidden className="size-4 shrink-0 self-center text-warn" />
      <span>
        Nobody is notified about this {subject.kind in taskKinds ? "task" : "monitor"}
        {reason}.{" "}
        <RoleGate role="editor">
          <Link
            to={`/w/$workspaceId/notifications${hasRule ? "" : "/rules"}`}
            params={{ workspaceId }}
            className="font-medium whitespace-nowrap text-live hover:underline"
          >
            {hasRule ? "Show the channels" : "Change the rules"}
          </Link>
        </RoleGate>
      </span>
    </p>
  )
}

/** Returns why the channels of the rules notify nobody, or undefined if they probably do. */
const reasonOf = (recipients: NotificationRecipients): string | undefined => {
  const active = activeRecipientsOf(recipients)
  if (active.length === 0) return ": none of its channels is active"
  return active.every(hasFailed) ? ": the last message to each of its channels failed" : undefined
}

const hasFailed = ({ last_delivery }: NotificationRecipient) => last_delivery?.delivered === false
