import type { MaintenanceWindow } from "@scheduling/sdk"
import { Construction } from "lucide-react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { bypassCache, useWholeList } from "../data/queries.ts"
import { useCreateSheet } from "../ui/actions/useCreateSheet.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowNameClass, rowDetailClass } from "../ui/lists/List.tsx"
import { formatDuration, plural } from "../ui/values/format.ts"
import { Status } from "../ui/values/Status.tsx"
import { ShortTime } from "../ui/values/Time.tsx"
import { MaintenanceMenu } from "./MaintenanceMenu.tsx"
import { MaintenanceSheet } from "./MaintenanceSheet.tsx"
import { maintenanceOptions } from "./queries.ts"

export const MaintenancePage = () => {
  const { workspaceId } = useWorkspace()
  const list = useWholeList(
    bypassCache({ ...maintenanceOptions(workspaceId), refetchInterval: 30_000 })
  )
  const create = useCreateSheet("New maintenance window", (onClose) => (
    <MaintenanceSheet onClose={onClose} />
  ))
  return (
    <Page
      title="Maintenance"
      description="Periods in which failures open no incidents and nobody is notified."
      actions={create.button}
    >
      <List
        {...list}
        label="Maintenance windows"
        columns={columns}
        empty={
          <EmptyState
            title="No maintenance windows yet"
            icon={<Construction />}
            action={create.button}
          >
            <p className="mb-6">
              Plan a period in which failures are expected. Monitors and tasks that still fail when
              it ends open incidents.
            </p>
            <ApiExample
              label="Create a maintenance window"
              path="maintenance"
              method="maintenance.upsert"
              name="db-upgrade"
              input={{
                name: "Database upgrade",
                schedule: "0 2 * * sun",
                duration_seconds: 3600,
                tags: ["database"]
              }}
            />
          </EmptyState>
        }
      />
      {create.sheet}
    </Page>
  )
}

const scopeOf = ({ everything, monitor_ids, tags, task_ids }: MaintenanceWindow): string =>
  everything
    ? "All monitors and tasks"
    : [
        ...(monitor_ids.length > 0 ? [plural(monitor_ids.length, "monitor")] : []),
        ...(task_ids.length > 0 ? [plural(task_ids.length, "task")] : []),
        ...(tags.length > 0 ? [`${tags.length === 1 ? "tag" : "tags"} ${tags.join(", ")}`] : [])
      ].join(", ")

const columns: ReadonlyArray<Column<MaintenanceWindow>> = [
  {
    key: "status",
    head: "Status",
    className: "w-32 shrink-0",
    belowOnPhone: "plain",
    cell: ({ is_active, next_starts_at }) =>
      is_active ? (
        <Status of="in progress" tone="warn" />
      ) : (
        <Status of={next_starts_at === null ? "over" : "planned"} tone="none" />
      )
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: (window) => (
      <>
        <span className={rowNameClass}>
          <bdi>{window.name}</bdi>
        </span>
        <span className={rowDetailClass}>
          <bdi>{scopeOf(window)}</bdi>
        </span>
      </>
    )
  },
  {
    key: "next",
    head: "Starts",
    className: "w-40 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ next_starts_at, starts_at }) => <ShortTime at={next_starts_at ?? starts_at} />
  },
  {
    key: "duration",
    head: "Duration",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ duration_seconds, ends_at, starts_at }) =>
      formatDuration(
        duration_seconds === null
          ? Date.parse(ends_at ?? "") - Date.parse(starts_at ?? "")
          : duration_seconds * 1_000
      )
  },
  menuColumn((window) => <MaintenanceMenu window={window} />)
]
