import type { AuditEvent, VersionSummary } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { ChevronRight } from "lucide-react"
import type { ReactNode } from "react"
import { changesOfPeriodOptions, listChangedFields } from "../data/changes.ts"
import { useWorkspace } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"
import { taskKinds } from "../data/tasks.ts"
import {
  definitionKey,
  definitionOptions,
  resourceOf,
  type TaskOrMonitor,
  taskOrMonitorLink
} from "../data/targets.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { formatDuration } from "../ui/values/format.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { useHasRole } from "../ui/role.tsx"
import { ChangeSentence } from "./ChangeSentence.tsx"
import { RestoreButton } from "./RestoreButton.tsx"
import { definitionVersionsOptions } from "./useDefinitionAt.ts"
import { Author } from "./Versions.tsx"

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
 * Returns the changes of the failed record since its last success, or in the 24 hours before the
 * failure if there was no success. Undefined while they are loading.
 */
const useOwnChanges = ({ from, subject, to }: Failure) => {
  const { workspaceId } = useWorkspace()
  const { data, isPending } = useQuery(definitionVersionsOptions(workspaceId, subject))
  if (isPending) return undefined
  const end = Date.parse(to)
  const start = from === undefined ? end - dayMs : Date.parse(from)
  const versions = (data ?? []).filter(({ changes, updated_at }) => {
    const at = Date.parse(updated_at)
    return changes.length > 0 && at >= start && at <= end
  })
  const latest = data?.[0]
  return {
    versions,
    /** True if the record was changed again after the failure. */
    isChangedAgain: latest !== undefined && Date.parse(latest.updated_at) > end
  }
}

/**
 * Shows how the failed task or monitor was changed before the failure. Shows nothing if it was not.
 */
export const OwnChangesBefore = (failure: Failure) => {
  const { subject, to } = failure
  const { workspaceId } = useWorkspace()
  const own = useOwnChanges(failure)
  if (own === undefined || own.versions.length === 0) return null
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
        {own.versions.slice(0, maxShown).map((version) => (
          <Change
            key={version.version}
            version={version}
            end={Date.parse(to)}
            action={
              own.isChangedAgain ? (
                <p className="text-sm text-faint">Changed again after the failure.</p>
              ) : (
                <RestoreBefore subject={subject} version={version.version} />
              )
            }
          />
        ))}
      </Card>
    </Section>
  )
}

const Change = ({
  action,
  end,
  version: { changes, updated_at, updated_by }
}: {
  readonly version: VersionSummary
  readonly end: number
  readonly action: ReactNode
}) => (
  <div className="flex flex-col items-start gap-3 p-5">
    <div className="flex w-full flex-wrap items-baseline justify-between gap-x-6">
      <p className="min-w-0 wrap-anywhere text-soft">
        <span className="font-medium text-ink">
          <Author actor={updated_by} />
        </span>{" "}
        changed {listChangedFields(changes)}
      </p>
      <BeforeFailure at={updated_at} end={end} />
    </div>
    <div className="w-full">
      <Changes changes={changes} />
    </div>
    {action}
  </div>
)

const RestoreBefore = ({
  subject,
  version
}: {
  readonly subject: TaskOrMonitor
  readonly version: number
}) => {
  const { api, workspaceId } = useWorkspace()
  const { data: record } = useQuery(definitionOptions(workspaceId, subject))
  return (
    <RestoreButton
      label="Restore the version before"
      name={record?.name ?? "the task"}
      version={version - 1}
      restore={async () => {
        await resourceOf(api, subject.kind).restoreVersion(subject.id, String(version - 1))
        await queryClient.invalidateQueries({ queryKey: definitionKey(workspaceId, subject) })
      }}
    />
  )
}

/** The maximum number of changes of other records that are shown. */
const maxOthersShown = 10

/** If there are more changes of other records, they are collapsed. */
const maxExpanded = 2

/**
 * Returns the period since the last success, but at least the last hour and at most the last 24
 * hours before the failure.
 */
const periodBefore = ({ from, to }: Failure) => {
  const end = Date.parse(to)
  const start = from === undefined ? end : Date.parse(from)
  const bounded = Math.max(end - dayMs, Math.min(end - hourMs, start))
  const name =
    bounded === end - hourMs
      ? "in the hour before"
      : bounded === end - dayMs
        ? "in the 24 hours before"
        : "since the last success"
  return {
    name,
    period: { from: new Date(bounded).toISOString(), to: new Date(end).toISOString() }
  }
}

/** Returns a function that says whether a change is of a secret that the task or monitor uses. */
const useIsUsedSecret = (subject: TaskOrMonitor) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(definitionOptions(workspaceId, subject))
  const definition = JSON.stringify(data ?? {})
  return ({ subject_id, subject_kind }: AuditEvent): boolean =>
    subject_kind === "secret" && new RegExp(`\\bsecrets\\.${subject_id}\\b`).test(definition)
}

/**
 * Shows how other records, such as secrets, were changed before the failure. Shows nothing if none
 * was changed, or if the user may not read the audit log.
 */
export const OtherChangesBefore = (failure: Failure) =>
  useHasRole()("admin") ? <OtherChanges {...failure} /> : null

const OtherChanges = (failure: Failure) => {
  const { workspaceId } = useWorkspace()
  const own = useOwnChanges(failure)
  const { name, period } = periodBefore(failure)
  const { data = [] } = useQuery(changesOfPeriodOptions(workspaceId, period))
  const isUsed = useIsUsedSecret(failure.subject)
  const others = data
    .filter((event) => event.subject_id !== failure.subject.id)
    .toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a)))
  if (own === undefined || others.length === 0) return null
  return (
    <Section title="Other changes">
      <Card>
        <details className="group" open={own.versions.length === 0 || others.length <= maxExpanded}>
          <summary className="flex list-none items-center gap-2 px-5 py-3 text-soft hover:text-ink [&::-webkit-details-marker]:hidden">
            <ChevronRight
              aria-hidden
              className="size-4 shrink-0 transition-transform duration-100 group-open:rotate-90"
            />
            {others.length === 1
              ? `1 change to another record ${name}`
              : `${others.length} changes to other records ${name}`}
          </summary>
          <ul
            aria-label="Changes to other records"
            className="divide-y divide-line border-t border-line"
          >
            {others.slice(0, maxOthersShown).map((event) => (
              <li
                key={event.id}
                className="relative flex flex-wrap items-baseline justify-between gap-x-6 px-5 py-2.5"
              >
                <p className="min-w-0 wrap-anywhere">
                  <ChangeSentence event={event} />
                  {isUsed(event) && (
                    <span className="text-soft">
                      , which {failure.subject.kind in taskKinds ? "this task" : "this monitor"}{" "}
                      uses
                    </span>
                  )}
                </p>
                <BeforeFailure at={event.created_at} end={Date.parse(failure.to)} />
              </li>
            ))}
            {others.length > maxOthersShown && (
              <li className="px-5 py-2.5">
                <ButtonLink size="small" to="/w/$workspaceId/audit" params={{ workspaceId }}>
                  Show all in the audit log
                </ButtonLink>
              </li>
            )}
          </ul>
        </details>
      </Card>
    </Section>
  )
}

const BeforeFailure = ({ at, end }: { readonly at: string; readonly end: number }) => (
  <span className="shrink-0 text-sm whitespace-nowrap text-faint">
    {formatDuration(end - Date.parse(at))} before, <ShortTime at={at} />
  </span>
)
