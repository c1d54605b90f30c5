import type { Monitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { HeartPulse, Plus, X } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { monitorKindNames, monitorKinds } from "../data/monitorKinds.ts"
import { useList } from "../data/queries.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { CountFilter } from "../ui/lists/CountFilter.tsx"
import { Choice } from "../ui/forms/Field.tsx"
import { Filters, NameFilter } from "../ui/lists/Filters.tsx"
import { type Column, List, rowLink } from "../ui/lists/List.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { Ago, None } from "../ui/values/Time.tsx"
import { monitorLink } from "./links.ts"
import { MonitorExamples } from "./MonitorExamples.tsx"
import { MonitorMenu } from "./MonitorMenu.tsx"
import { monitorCountsOptions, monitorListOptions } from "./queries.ts"
import { type MonitorSearch, monitorSearch, monitorStatuses } from "./search.ts"
import { Only } from "../ui/role.tsx"

export const MonitorListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/monitors" })
  const navigate = useNavigate({ from: "/w/$workspaceId/monitors" })
  const { error, refetch, ...list } = useList(monitorListOptions(workspaceId, search))
  const counts = useQuery(monitorCountsOptions(workspaceId)).data
  const narrow = (change: {
    readonly [Key in keyof MonitorSearch]: MonitorSearch[Key] | undefined
  }) =>
    void navigate({ search: (before) => monitorSearch({ ...before, ...change }), replace: true })
  const isNarrowed = Object.keys(search).length > 0
  const create = (
    <Only role="editor">
      {monitorKindNames.toReversed().map((kind) => {
        const { create: label, icon: Icon } = monitorKinds[kind]
        const isMain = kind === "heartbeat"
        return (
          <ButtonLink
            key={kind}
            to="/w/$workspaceId/monitors/$kind/new"
            params={{ workspaceId, kind }}
            icon={isMain ? <Plus className="size-4" /> : <Icon className="size-4" />}
            {...(isMain && { look: "main", className: "max-sm:order-first" })}
          >
            {label}
          </ButtonLink>
        )
      })}
    </Only>
  )
  return (
    <Page
      title="Monitors"
      description="What runs elsewhere, and whether it still does."
      actions={create}
    >
      {(isNarrowed || list.isLoading || list.rows.length > 0) && (
        <Filters>
          <NameFilter
            label="Filter by name"
            value={search.name}
            onChange={(name) => narrow({ name })}
          />
          <Choice
            label="Kind"
            value={search.kind ?? "all"}
            options={kindOptions}
            onChange={(kind) => narrow({ kind: kind === "all" ? undefined : kind })}
          />
          {counts !== undefined && (
            <CountFilter
              label="Status"
              chosen={search.status}
              counts={monitorStatuses.map((status) => [status, words[status], counts[status]])}
              onChange={(status) => narrow({ status })}
            />
          )}
          {search.tag !== undefined && (
            <Button icon={<X className="size-4" />} onClick={() => narrow({ tag: undefined })}>
              Tag: {search.tag}
            </Button>
          )}
        </Filters>
      )}
      {error === null ? (
        <List
          {...list}
          label="Monitors"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            isNarrowed ? (
              <Empty title="No monitor fits the filters" />
            ) : (
              <Empty
                title="No monitors yet"
                icon={<HeartPulse className="size-5" />}
                action={create}
              >
                <p className="mb-6">
                  {monitorKindNames.map((kind) => monitorKinds[kind].purpose).join(" ")}
                </p>
                <MonitorExamples />
              </Empty>
            )
          }
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Page>
  )
}

const kindOptions = [
  ["all", "All"] as const,
  ...monitorKindNames.map((kind) => [kind, monitorKinds[kind].plural] as const)
]

const words = {
  new: "New",
  up: "Up",
  late: "Late",
  warning: "Warning",
  down: "Down",
  paused: "Paused"
} as const

const columns: ReadonlyArray<Column<Monitor>> = [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0",
    cell: ({ last_change_at, status }) => (
      <>
        <Status of={status} />
        {last_change_at !== null && (
          <Ago at={last_change_at} className="block pl-4 text-xs text-faint" />
        )}
      </>
    )
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: (monitor) => (
      <>
        <Link {...monitorLink(monitor)} className={`block truncate font-medium ${rowLink}`}>
          {monitor.name}
        </Link>
        <span className="block truncate text-xs text-faint">{monitorKinds[monitor.kind].name}</span>
      </>
    )
  },
  {
    key: "tags",
    head: "Tags",
    className: "w-48 shrink-0 max-lg:hidden",
    cell: ({ tags, workspace_id }) => (
      <span className="relative flex gap-1 overflow-hidden">
        {tags.map((tag) => (
          <Link
            key={tag}
            to="/w/$workspaceId/monitors"
            params={{ workspaceId: workspace_id }}
            search={{ tag }}
          >
            <Badge>{tag}</Badge>
          </Link>
        ))}
      </span>
    )
  },
  {
    key: "next",
    head: "Next",
    className: "w-32 shrink-0 max-sm:hidden",
    cell: ({ kind, next_check_at }) =>
      next_check_at === null ? (
        <None />
      ) : (
        <>
          <Ago at={next_check_at} />
          <span className="block text-xs text-faint">{monitorKinds[kind].next}</span>
        </>
      )
  },
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (monitor) => <MonitorMenu monitor={monitor} />
  }
]
