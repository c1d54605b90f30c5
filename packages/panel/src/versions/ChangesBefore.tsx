import type { VersionSummary, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { changesOfPeriodOptions, listChangedFields } from "../data/changes.ts"
import { clientOf, useWorkspace } from "../data/client.ts"
import { retryOnce } from "../data/queries.ts"
import { taskKinds } from "../data/tasks.ts"
import { resourceOf, type TaskOrMonitor, taskOrMonitorLink } from "../data/targets.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { formatDuration } from "../ui/values/format.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { useHasRole } from "../ui/role.tsx"
import { ChangeSentence } from "./ChangeSentence.tsx"
import { Author } from "./Versions.tsx"

/** `at` is part of the key, so that the list is fetched again after a later failure. */
const versionsOptions = (workspaceId: WorkspaceId, { id, kind }: TaskOrMonitor, at: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "versions", id, at],
    retry: retryOnce,
    queryFn: async ({ signal }) =>
      (await resourceOf(clientOf(workspaceId), kind).listVersions(id, { signal })).data
  })

const dayMs = 86_400_000
const hourMs = 3_600_000

/** If a record was changed more often before a failure, only its latest changes are shown. */
const maxShown = 3

interface Failure {
  readonly subject: TaskOrMonitor
  /** When the last success began. Undefined if there was none. */
  readonly from: string | undefined
  /** When the failure began. */
  readonly to: string
}

/**
 * Shows the changes that users made before a failure: first those of the failed task or monitor,
 * then those of other records, such as its secrets. Shows nothing if nothing changed.
 */
export const ChangesBefore = (failure: Failure) => {
  const may = useHasRole()
  return (
    <>
      <OwnChanges {...failure} />
      {may("admin") && <OtherChanges {...failure} />}
    </>
  )
}

/**
 * Shows the changes of the failed record since its last success, or in the 24 hours before the
 * failure if there was no success.
 */
const OwnChanges = ({ from, subject, to }: Failure) => {
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
          {subject.kind in taskKinds ? "Open task" : "Open monitor"}
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

/** The maximum number of changes of other records that are shown. */
const maxOthersShown = 5

/**
 * Returns the period since the last success, but at least the last hour and at most the last 24
 * hours before the failure.
 */
const periodBefore = ({ from, to }: Failure) => {
  const end = Date.parse(to)
  const start = from === undefined ? end : Date.parse(from)
  const bounded = Math.max(end - dayMs, Math.min(end - hourMs, start))
  return { from: new Date(bounded).toISOString(), to: new Date(end).toISOString() }
}

const OtherChanges = (failure: Failure) => {
  const { workspaceId } = useWorkspace()
  const { data = [] } = useQuery(changesOfPeriodOptions(workspaceId, periodBefore(failure)))
  const others = data.filter((event) => event.subject_id !== failure.subject.id)
  if (others.length === 0) return null
  return (
    <Section
      title="Changes to other records before the failure"
      actions={
        <ButtonLink size="small" to="/w/$workspaceId/audit" params={{ workspaceId }}>
          Audit log
        </ButtonLink>
      }
    >
      <Card className="flex flex-col gap-2 p-5">
        {others.slice(0, maxOthersShown).map((event) => (
          <p key={event.id} className="relative wrap-anywhere">
            <ChangeSentence event={event} />{" "}
            <BeforeFailure at={event.created_at} end={Date.parse(failure.to)} />
          </p>
        ))}
      </Card>
    </Section>
  )
}

const BeforeFailure = ({ at, end }: { readonly at: string; readonly end: number }) => (
  <>
    {formatDuration(end - Date.parse(at))} before the failure,{" "}
    <ShortTime at={at} className="text-faint" />
  </>
)

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
      changed {listChangedFields(changes)} <BeforeFailure at={updated_at} end={end} />
    </p>
    <Changes changes={changes} />
  </div>
)
