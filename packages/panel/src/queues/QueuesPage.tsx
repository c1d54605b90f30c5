import type { Queue } from "@scheduling/sdk"
import { ListOrdered, Plus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Only } from "../ui/role.tsx"
import { Snippets } from "../ui/values/Code.tsx"
import { Status } from "../ui/values/Status.tsx"
import { limitInWords } from "./limitInWords.ts"
import { askForQueuesMs, queueListOptions } from "./queries.ts"
import { QueueMenu } from "./QueueMenu.tsx"
import { QueueSheet } from "./QueueSheet.tsx"

export const QueuesPage = () => {
  const { workspaceId } = useWorkspace()
  const [isMaking, setMaking] = useState(false)
  const { error, refetch, ...list } = useList({
    ...queueListOptions(workspaceId),
    refetchInterval: askForQueuesMs
  })
  const create = (
    <Only role="editor">
      <Button look="main" icon={<Plus className="size-4" />} onClick={() => setMaking(true)}>
        New queue
      </Button>
    </Only>
  )
  return (
    <Page
      title="Queues"
      description="Limits that tasks and chains share: how many runs go on at once, and how often one starts."
      actions={create}
    >
      {error === null ? (
        <List
          {...list}
          label="Queues"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            <Empty title="No queues yet" icon={<ListOrdered className="size-5" />} action={create}>
              <p className="mb-6">
                Tasks that call the same server name the same queue, so that the server never gets
                more calls at once than it can handle.
              </p>
              <Examples />
            </Empty>
          }
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
      {isMaking && <QueueSheet onClose={() => setMaking(false)} />}
    </Page>
  )
}

const Examples = () => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets
        label="Create a queue"
        snippets={[
          [
            "curl",
            `curl ${location.origin}/v1/workspaces/${workspaceId}/queues \\
  -H "authorization: Bearer $API_KEY" \\
  -H "content-type: application/json" \\
  -d '{"name": "Billing server", "max_concurrency": 2}'`
          ],
          [
            "TypeScript",
            `const queue = await client.queues.create({ name: "Billing server", max_concurrency: 2 })
await client.cron.update(taskId, { queue_id: queue.id })`
          ]
        ]}
      />
    </div>
  )
}

const isFull = ({ max_concurrency, running }: Queue) =>
  max_concurrency !== null && running >= max_concurrency

const statusOf = (queue: Queue) => {
  if (queue.paused) return <Status of="paused" />
  if (queue.waiting > 0) return <Status of="waiting" tone={isFull(queue) ? "warn" : "live"} />
  return queue.running > 0 ? <Status of="running" /> : <Status of="idle" />
}

/** The service counts no further. */
const countedTo = 10_000

const waitingIn = ({ waiting }: Queue) => (waiting >= countedTo ? `${countedTo}+` : waiting)

const columns: ReadonlyArray<Column<Queue>> = [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0",
    cell: statusOf
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: (queue) => (
      <>
        <span className="block truncate font-medium">{queue.name}</span>
        <span className="block truncate text-xs text-faint max-sm:hidden">
          {limitInWords(queue)}
        </span>
        <span className="block truncate text-xs text-faint nums sm:hidden">
          {queue.running} running, {waitingIn(queue)} waiting
        </span>
      </>
    )
  },
  {
    key: "running",
    head: "Running",
    className: "w-18 shrink-0 text-right nums max-sm:hidden",
    cell: ({ running }) => running
  },
  {
    key: "waiting",
    head: "Waiting",
    className: "w-18 shrink-0 text-right nums max-sm:hidden",
    cell: waitingIn
  },
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (queue) => <QueueMenu queue={queue} />
  }
]
