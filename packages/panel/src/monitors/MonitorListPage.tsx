import type { Monitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { ChevronDown, HeartPulse, Plus, X } from "lucide-react"
import { useMemo } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { allMonitorKinds, monitorKinds } from "../data/monitorKinds.ts"
import { openReasonsOptions } from "../incidents/queries.ts"
import { Button, ButtonLink, buttonClasses } from "../ui/actions/Button.tsx"
import { Menu, MenuItem } from "../ui/actions/Menu.tsx"
import { CountFilter } from "../ui/lists/CountFilter.tsx"
import { Select } from "../ui/forms/Field.tsx"
import { Filters, NameFilter } from "../ui/lists/Filters.tsx"
import {
  type Column,
  List,
  menuColumn,
  rowTitleClass,
  rowDetailClass,
  statusDetailClass
} from "../ui/lists/List.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { capitalize } from "../ui/values/format.ts"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { useIsPhone } from "../ui/layout/screenWidth.ts"
import { Badge, Status } from "../ui/values/Status.tsx"
import { ElapsedTime, EmptyValue, RelativeTime } from "../ui/values/Time.tsx"
import { monitorLink } from "./links.ts"
import { MonitorMenu } from "./MonitorMenu.tsx"
import { monitorCountsOptions, useMonitorList } from "./queries.ts"
import { monitorSearch, monitorStatuses } from "./search.ts"
import { RoleGate } from "../ui/role.tsx"

export const MonitorListPage = () => {
  const { workspaceId } = useWorkspace()
  const { filter, isFiltered, search } = useFilters(monitorSearch)
  const list = useMonitorList(workspaceId, search)
  const reasons = useQuery(openReasonsOptions(workspaceId)).data
  const columns = useMemo(() => columnsWith(reasons), [reasons])
  const counts = useQuery(monitorCountsOptions(workspaceId)).data
  const create = (
    <RoleGate role="editor">
      <CreateMenu />
    </RoleGate>
  )
  return (
    <Page
      title="Monitors"
      description="Jobs, websites, servers, certificates and processes that this service monitors."
      actions={create}
    >
      {(isFiltered || list.isLoading || list.rows.length > 0) && (
        <Filters>
          <NameFilter
            label="Filter by name"
            value={search.name}
            onChange={(name) => filter({ name })}
          />
          <Select
            aria-label="Kind"
            value={search.kind ?? "all"}
            options={kindOptions}
            onChange={({ target }) => filter({ kind: target.value })}
          />
          {counts !== undefined && (
            <CountFilter
              label="Status"
              chosen={search.status === undefined ? [] : [search.status]}
              counts={monitorStatuses.map((status) => [status, capitalize(status), counts[status]])}
              onToggle={(status) =>
                filter({ status: status === search.status ? undefined : status })
              }
            />
          )}
          {search.tag !== undefined && (
            <Button icon={<X />} onClick={() => filter({ tag: undefined })}>
              Tag: {search.tag}
            </Button>
          )}
        </Filters>
      )}
      <List
        {...list}
        label="Monitors"
        columns={columns}
        empty={
          isFiltered ? (
            <EmptyState title="No monitors match the filters" />
          ) : (
            <EmptyState title="No monitors yet" icon={<HeartPulse />} action={create}>
              <p className="mb-6">
                {allMonitorKinds.map((kind) => monitorKinds[kind].purpose).join(" ")}
              </p>
              <ApiExample
                label="Create a heartbeat monitor"
                path="monitors/heartbeat"
                method="heartbeatMonitors.create"
                input={{ name: "Nightly backup", schedule: "0 3 * * *", grace_seconds: 600 }}
              />
            </EmptyState>
          )
        }
      />
    </Page>
  )
}

/** The kinds that most users start with. Each has its own button, for which a phone has no room. */
const firstKinds = ["http", "heartbeat"] as const
const firstKindsOnPhone = ["heartbeat"] as const

const CreateMenu = () => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const first = useIsPhone() ? firstKindsOnPhone : firstKinds
  const others = allMonitorKinds.filter((kind) => !first.some((one) => one === kind))
  const to = "/w/$workspaceId/monitors/$kind/new"
  return (
    <>
      <Menu
        label="Other kinds of monitors"
        className={buttonClasses({}, undefined)}
        button={
          <span className="flex items-center gap-1.5" aria-hidden>
            Other kinds
            <ChevronDown className="size-4" />
          </span>
        }
      >
        {others.map((kind) => {
          const { create, icon: Icon } = monitorKinds[kind]
          return (
            <MenuItem
              key={kind}
              icon={<Icon />}
              onSelect={() => void navigate({ to, params: { workspaceId, kind } })}
            >
              {create}
            </MenuItem>
          )
        })}
      </Menu>
      {first.map((kind) => (
        <ButtonLink
          key={kind}
          to={to}
          params={{ workspaceId, kind }}
          icon={<Plus className="size-4" />}
          {...(kind === "heartbeat" && { look: "main", className: "max-sm:order-first" })}
        >
          {monitorKinds[kind].create}
        </ButtonLink>
      ))}
    </>
  )
}

/** Why a monitor has an open incident. */
const Reason = ({ text }: { readonly text: string | undefined }) =>
  text !== undefined && (
    <span className="ml-3" title={text}>
      <ApiMessage text={text} />
    </span>
  )

const kindOptions = [
  ["all", "All kinds"] as const,
  ...allMonitorKinds.map((kind) => [kind, monitorKinds[kind].plural] as const)
]

/** `reasons` has the reasons of open incidents by incident id. */
const columnsWith = (
  reasons: ReadonlyMap<string, string> | undefined
): ReadonlyArray<Column<Monitor>> => [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0 lg:w-36",
    belowOnPhone: "plain",
    cell: ({ last_change_at, status }) => (
      <>
        <Status of={status} />
        {last_change_at !== null && (
          <ElapsedTime at={last_change_at} className={statusDetailClass} />
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
        <Link {...monitorLink(monitor)} className={rowTitleClass}>
          {monitor.name}
        </Link>
        <span className={rowDetailClass}>
          {monitorKinds[monitor.kind].name}
          <Reason text={reasons?.get(monitor.open_incident_id ?? "")} />
        </span>
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
    head: "Next check",
    className: "w-36 shrink-0 max-sm:hidden",
    cell: ({ kind, next_check_at }) =>
      next_check_at === null ? (
        <EmptyValue />
      ) : (
        <span className="whitespace-nowrap">
          {kind === "heartbeat" ? "Ping due " : kind === "process" ? "Report due " : ""}
          <RelativeTime at={next_check_at} />
        </span>
      )
  },
  menuColumn((monitor) => <MonitorMenu monitor={monitor} />)
]
