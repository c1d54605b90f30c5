import type { AuditEvent, ExecutionKind } from "@scheduling/sdk"
import { Link, type LinkProps } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"
import { Author } from "./Versions.tsx"

type SubjectKind = AuditEvent["subject_kind"]

/** The kinds of records that decide whether tasks and monitors work, with their nouns. */
const nouns: Partial<Record<SubjectKind, string>> = {
  cron_task: "cron task",
  delayed_task: "delayed task",
  chain: "chain",
  queue: "queue",
  monitor: "monitor",
  secret: "secret",
  worker: "worker",
  signing_secret: "signing secrets",
  ping_key: "ping key",
  workspace: "workspace"
}

const verbs = new Set(["updated", "paused", "resumed", "deleted", "rotated", "stopped"])

const verbOf = ({ action }: AuditEvent) => action.slice(action.indexOf(".") + 1)

/** Returns whether a change of an existing record can make tasks or monitors fail. */
export const canCauseFailures = (event: AuditEvent): boolean =>
  nouns[event.subject_kind] !== undefined && verbs.has(verbOf(event))

/** Says in one sentence who changed which record, with a link to it. */
export const ChangeSentence = ({ event }: { readonly event: AuditEvent }) => {
  const { name } = event.details
  const verb = verbOf(event)
  const link = useSubjectLink(event)
  const fields = event.changes.map(({ field }) => field.replaceAll("_", " ")).join(", ")
  return (
    <>
      <span className="font-medium">
        <Author actor={event.actor} />
      </span>{" "}
      {verb === "updated" ? (fields === "" ? "changed" : `changed ${fields} of`) : verb} the{" "}
      {nouns[event.subject_kind] ?? event.subject_kind.replaceAll("_", " ")}{" "}
      {typeof name === "string" && (
        <Link {...link} className="font-medium underline-offset-2 hover:underline">
          <bdi>{name}</bdi>
        </Link>
      )}
    </>
  )
}

const taskKindOf: Partial<Record<SubjectKind, ExecutionKind>> = {
  cron_task: "cron",
  delayed_task: "delayed",
  chain: "chain"
}

/** Returns the link to a changed record, or to its events if it has no page of its own. */
const useSubjectLink = ({ action, subject_id, subject_kind }: AuditEvent): LinkProps => {
  const { workspaceId } = useWorkspace()
  const kind = taskKindOf[subject_kind]
  if (kind !== undefined && subject_id !== null && !action.endsWith(".deleted"))
    return taskLink(workspaceId, kind, subject_id)
  if (subject_kind === "secret") return { to: "/w/$workspaceId/secrets", params: { workspaceId } }
  return {
    to: "/w/$workspaceId/audit",
    params: { workspaceId },
    search: subject_id === null ? {} : { subject_id }
  }
}
