import type { AuditEvent } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { changedRecordLink, changedRecordName, describeChange } from "../data/changes.ts"
import { useWorkspace } from "../data/client.ts"
import { actorName, useMemberNames } from "../data/names.ts"
import { rowLinkClass } from "../ui/lists/List.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"

/** Says in one sentence who changed which record, with a link to it. */
export const ChangeSentence = ({ event }: { readonly event: AuditEvent }) => {
  const { workspaceId } = useWorkspace()
  const names = useMemberNames(workspaceId)
  const name = changedRecordName(event)
  const words = describeChange(event)
  const link = changedRecordLink(workspaceId, event)
  const text = name === undefined ? words : stripDirectionMarks(name)
  return (
    <>
      <span className="text-soft">
        {actorName(event.actor, names)} {name !== undefined && `${words} `}
      </span>
      {link === undefined ? (
        <span className="font-medium">{text}</span>
      ) : (
        <Link {...link} className={`font-medium ${rowLinkClass}`}>
          {text}
        </Link>
      )}
    </>
  )
}
