import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { Cpu } from "lucide-react"
import { useState } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import {
  type Column,
  List,
  menuColumn,
  rowTitleClass,
  rowDetailClass,
  statusDetailClass
} from "../ui/lists/List.tsx"
import { useCreateSheet } from "../ui/actions/useCreateSheet.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { RelativeTime, EmptyValue } from "../ui/values/Time.tsx"
import { pollWorkersMs, workerQueries } from "./queries.ts"
import { CreatedTokenNotice } from "./CreatedTokenNotice.tsx"
import { WorkerMenu } from "./WorkerMenu.tsx"
import { WorkerSheet } from "./WorkerSheet.tsx"

export const WorkersPage = () => {
  const { workspaceId } = useWorkspace()
  const [created, setCreated] = useState<CreatedWorker>()
  const list = useList({
    ...workerQueries.list(workspaceId),
    refetchInterval: pollWorkersMs
  })
  const create = useCreateSheet(
    "New worker",
    (onClose) => <WorkerSheet onClose={onClose} onCreated={setCreated} />,
    "admin"
  )
  return (
    <Page
      title="Workers"
      description="Workers make calls in networks that this service cannot reach."
      actions={create.button}
    >
      <div className="flex flex-col gap-6">
        {created !== undefined && <CreatedTokenNotice created={created} />}
        <List
          {...list}
          label="Workers"
          columns={columnsWith(workspaceId, setCreated)}
          empty={
            <EmptyState title="No workers yet" icon={<Cpu />} action={create.button}>
              <p className="mb-6">
                Start an agent in your network. It fetches its runs from this service, so you need
                no open port. Tasks can then run on it, and process monitors can use it.
              </p>
              <ApiExample
                label="Create a worker"
                path="workers"
                method="workers.create"
                input={{ name: "Office, rack 2", labels: ["office"] }}
                isForUsers
              />
            </EmptyState>
          }
        />
      </div>
      {create.sheet}
    </Page>
  )
}

const columnsWith = (
  workspaceId: string,
  onCreated: (created: CreatedWorker) => void
): ReadonlyArray<Column<Worker>> => [
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0 lg:w-40",
    belowOnPhone: "plain",
    cell: ({ last_seen_at, status }) => (
      <>
        <Status of={status} />
        {last_seen_at !== null && <RelativeTime at={last_seen_at} className={statusDetailClass} />}
      </>
    )
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ host, id, name, token_prefix, version }) => (
      <>
        <Link
          to="/w/$workspaceId/workers/$workerId"
          params={{ workspaceId, workerId: id }}
          className={rowTitleClass}
        >
          {name}
        </Link>
        <span className={`${rowDetailClass} font-mono`}>
          {host === null ? `${token_prefix}…` : `${host} · ${version ?? ""}`}
        </span>
      </>
    )
  },
  {
    key: "labels",
    head: "Labels",
    className: "w-56 shrink-0 max-lg:hidden",
    cell: ({ labels }) => (
      <span className="flex gap-1 overflow-hidden">
        {labels.map((label) => (
          <Badge key={label}>{label}</Badge>
        ))}
      </span>
    )
  },
  {
    key: "running",
    head: "Running",
    className: "w-20 shrink-0 text-right nums",
    belowOnPhone: "labelled",
    cell: ({ running, slots }) => (slots === null ? <EmptyValue /> : `${running} of ${slots}`)
  },
  menuColumn((worker) => <WorkerMenu worker={worker} onCreated={onCreated} />)
]
