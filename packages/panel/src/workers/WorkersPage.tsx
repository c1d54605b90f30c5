import type { CreatedWorker, Worker, WorkerId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { Cpu, Plus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Snippets } from "../ui/values/Code.tsx"
import { type Column, List, rowLink } from "../ui/lists/List.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { Ago, None } from "../ui/values/Time.tsx"
import { askForWorkersMs, workerListOptions } from "./queries.ts"
import { ShownToken } from "./ShownToken.tsx"
import { WorkerMenu } from "./WorkerMenu.tsx"
import { WorkerSheet } from "./WorkerSheets.tsx"
import { Only } from "../ui/role.tsx"

export const WorkersPage = () => {
  const { workspaceId } = useWorkspace()
  const [created, setCreated] = useState<CreatedWorker>()
  const [isMaking, setMaking] = useState(false)
  const { error, refetch, ...list } = useList({
    ...workerListOptions(workspaceId),
    refetchInterval: askForWorkersMs
  })
  const create = (
    <Only role="admin">
      <Button look="main" icon={<Plus className="size-4" />} onClick={() => setMaking(true)}>
        New worker
      </Button>
    </Only>
  )
  return (
    <Page
      title="Workers"
      description="Agents that you run where this service cannot reach. They make the calls there."
      actions={create}
    >
      <div className="flex flex-col gap-6">
        {created !== undefined && <ShownToken created={created} />}
        {error === null ? (
          <List
            {...list}
            label="Workers"
            columns={columnsWith(setCreated)}
            keyOf={({ id }) => id}
            empty={
              <Empty title="No workers yet" icon={<Cpu className="size-5" />} action={create}>
                <p className="mb-6">
                  A worker asks for its runs from inside your network, so that no port has to be
                  open.
                </p>
                <Examples />
              </Empty>
            }
          />
        ) : (
          <Problem error={error} retry={refetch} />
        )}
      </div>
      {isMaking && <WorkerSheet onClose={() => setMaking(false)} onCreated={setCreated} />}
    </Page>
  )
}

const Examples = () => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets
        label="Create a worker"
        snippets={[
          [
            "curl",
            `curl ${location.origin}/v1/workspaces/${workspaceId}/workers \\
  -H "authorization: Bearer $ACCESS_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"name": "Office, rack 2", "labels": ["office"]}'`
          ]
        ]}
      />
    </div>
  )
}

const WorkerName = ({ name, workerId }: { readonly workerId: WorkerId; readonly name: string }) => {
  const { workspaceId } = useWorkspace()
  return (
    <Link
      to="/w/$workspaceId/workers/$workerId"
      params={{ workspaceId, workerId }}
      className={`block truncate font-medium ${rowLink}`}
    >
      {name}
    </Link>
  )
}

const columnsWith = (
  onCreated: (created: CreatedWorker) => void
): ReadonlyArray<Column<Worker>> => [
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    cell: ({ last_seen_at, status }) => (
      <>
        <Status of={status} />
        {last_seen_at !== null && (
          <Ago at={last_seen_at} className="block pl-4 text-xs text-faint" />
        )}
      </>
    )
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ host, id, name, token_prefix, version }) => (
      <>
        <WorkerName workerId={id} name={name} />
        <span className="block truncate font-mono text-xs text-faint">
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
    className: "w-20 shrink-0 text-right nums max-sm:hidden",
    cell: ({ running, slots }) => (slots === null ? <None /> : `${running} of ${slots}`)
  },
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (worker) => <WorkerMenu worker={worker} onCreated={onCreated} />
  }
]
