import type { VersionSummary, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf, useWorkspace } from "../data/client.ts"
import { isPermanentError } from "../data/queries.ts"
import { resourceOf, type TaskOrMonitor, taskOrMonitorLink } from "../data/targets.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { formatDuration } from "../ui/values/format.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { Author } from "./Versions.tsx"

/** `at` is part of the key, so that the list is fetched again after a later failure. */
const versionsOptions = (workspaceId: WorkspaceId, { id, kind }: TaskOrMonitor, at: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "versions", id, at],
    retry: (count, error) => count < 1 && !isPermanentError(error),
    queryFn: async ({ signal }) =>
      (await resourceOf(clientOf(workspaceId), kind).listVersions(id, { signal })).data
  })

const dayMs = 86_400_000

/** If a record was changed more often before a failure, only its latest changes are shown. */
const maxShown = 3

/**
 * Shows the changes that users made to a task or monitor before a failure: since its last success,
 * or in the 24 hours before the failure if there was no success. Shows nothing if nothing changed.
 */
export const ChangesBefore = ({
  from,
  subject,
  to
}: {
  readonly subject: TaskOrMonitor
  /** When the last success began. Undefined if there was none. */
  readonly from: string | undefined
  /** When the failure began. */
  readonly to: string
}) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(versionsOptions(workspaceId, subject, to))
  const end = Date.parse(to)
  const start = from === undefined ? end - dayMs : Date.parse(from)
  const changed = (data ?? []).filter(({ changes, updated_at }) => {
    const at = Date.parse(updated_at)
    return changes.length > 0 && at >= start && at <= end
  })
  if (changed.length === 0) return null
  return (
    <Section
      title="Changed before the failure"
      actions={
        <ButtonLink size="small" {...taskOrMonitorLink(workspaceId, subject)}>
          Show versions
        </ButtonLink>
      }
    >
      <Card className="divide-y divide-line">
        {changed.slice(0, maxShown).map((version) => (
          <Change key={version.version} version={version} end={end} />
        ))}
      </Card>
    </Section>
  )
}

const Change = ({
  end,
  version: { changes, updated_at, updated_by }
}: {
  readonly version: VersionSummary
  readonly end: number
}) => (
  <div className="flex flex-col gap-3 p-5">
    <p className="wrap-anywhere">
      <span className="font-medium">
        <Author actor={updated_by} />
      </span>{" "}
      changed {changes.map(({ field }) => field.replaceAll("_", " ")).join(", ")}{" "}
      <span className="font-medium">
        {formatDuration(end - Date.parse(updated_at))} before the failure
      </span>
      , <ShortTime at={updated_at} className="text-faint" />
    </p>
    <Changes changes={changes} />
  </div>
)
