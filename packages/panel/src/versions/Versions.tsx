import type { Actor, VersionList, VersionSummary } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { ChevronRight } from "lucide-react"
import { listChangedFields } from "../data/changes.ts"
import { useWorkspace } from "../data/client.ts"
import { actorName, useMemberNames } from "../data/names.ts"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { capitalize } from "../ui/values/format.ts"
import { Badge } from "../ui/values/Status.tsx"
import { ExactTime, ShortTime } from "../ui/values/Time.tsx"
import { RestoreButton } from "./RestoreButton.tsx"

/** The SDK methods for a kind of record's versions. */
export interface VersionedResource {
  readonly listVersions: (
    id: string,
    options: { readonly signal: AbortSignal }
  ) => PromiseLike<VersionList>
  readonly restoreVersion: (id: string, version: string) => PromiseLike<unknown>
}

interface Versioned {
  readonly id: string
  readonly name?: string | null
  readonly version: number
}

export interface VersionSource {
  readonly record: Versioned
  readonly resource: VersionedResource
  /** The query key for this kind of record, so that its versions are refetched together with it. */
  readonly queryKey: ReadonlyArray<string>
}

/** The query for a record's versions, newest first. */
export const versionsOptions = ({ queryKey, record, resource }: VersionSource) =>
  queryOptions({
    queryKey: [...queryKey, record.id, "versions", record.version],
    queryFn: ({ signal }) => Promise.resolve(resource.listVersions(record.id, { signal }))
  })

/** Shows the name of a change's author. */
export const Author = ({ actor }: { readonly actor: Actor | null }) => {
  const { workspaceId } = useWorkspace()
  return <>{actorName(actor, useMemberNames(workspaceId))}</>
}

/** Returns the facts about who created a record, who last changed it, and when. */
export const authorFacts = (record: {
  readonly created_at: string
  readonly created_by: Actor | null
  readonly updated_at: string
  readonly updated_by: Actor | null
}): FactsByName => ({
  Created: (
    <>
      <ShortTime at={record.created_at} />
      <span className="block text-faint">
        by <Author actor={record.created_by} />
      </span>
    </>
  ),
  Changed: record.updated_at !== record.created_at && (
    <>
      <ShortTime at={record.updated_at} />
      <span className="block text-faint">
        by <Author actor={record.updated_by} />
      </span>
    </>
  )
})

/** Lists a record's versions: who changed what, with a button that restores a version. */
export const Versions = ({
  onRestored,
  queryKey,
  record,
  resource
}: VersionSource & {
  /** Absent if the record can no longer be changed. */
  readonly onRestored?: (() => Promise<unknown>) | undefined
}) => {
  const query = useQuery(versionsOptions({ queryKey, record, resource }))
  const restore =
    onRestored &&
    (async ({ version }: VersionSummary) => {
      await resource.restoreVersion(record.id, String(version))
      await onRestored()
    })
  return (
    <Section title="Versions">
      <Loaded query={query} height="h-24">
        {({ data }) => (
          <Card>
            <ol aria-label="Versions" className="divide-y divide-line">
              {data.map((one, index) => (
                <Version
                  key={one.version}
                  version={one}
                  isCurrent={index === 0}
                  name={record.name ?? "the task"}
                  onRestore={restore && (() => restore(one))}
                />
              ))}
            </ol>
          </Card>
        )}
      </Loaded>
    </Section>
  )
}

const Version = ({
  isCurrent,
  name,
  onRestore,
  version: { changes, updated_at, updated_by, version }
}: {
  readonly version: VersionSummary
  readonly isCurrent: boolean
  readonly name: string
  readonly onRestore: (() => Promise<void>) | undefined
}) => (
  <li>
    <details className="group">
      <summary className="flex list-none gap-2 px-4 py-3 text-sm [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="mt-0.5 size-4 shrink-0 text-faint transition-transform duration-100 group-open:rotate-90"
        />
        <span className="min-w-0">
          <span className="flex items-center gap-2">
            <span className="font-medium">Version {version}</span>
            {isCurrent && <Badge>current</Badge>}
          </span>
          <span className="block text-faint">
            <ExactTime at={updated_at} /> by <Author actor={updated_by} />
          </span>
          {changes.length > 0 && (
            <span className="block truncate text-faint">
              {capitalize(listChangedFields(changes))}
            </span>
          )}
        </span>
      </summary>
      <div className="flex flex-col gap-3 px-4 pb-4">
        <Changes changes={changes} />
        {!isCurrent && onRestore !== undefined && (
          <RestoreButton
            label={`Restore version ${version}`}
            name={name}
            version={version}
            restore={onRestore}
          />
        )}
      </div>
    </details>
  </li>
)
