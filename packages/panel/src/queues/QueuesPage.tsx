import type { Queue } from "@scheduling/sdk"
import { ListOrdered } from "lucide-react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { useCreateSheet } from "../ui/actions/useCreateSheet.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowDetailClass, rowNameClass } from "../ui/lists/List.tsx"
import { Status } from "../ui/values/Status.tsx"
import { ElapsedTime } from "../ui/values/Time.tsx"
import { PausedBy } from "../versions/PausedBy.tsx"
import { describeLimits } from "./describeLimits.ts"
import { pollQueuesMs, queueQueries } from "./queries.ts"
import { QueueMenu, ResumeQueueButton } from "./QueueMenu.tsx"
import { QueueSheet } from "./QueueSheet.tsx"

export const QueuesPage = () => {
  const { workspaceId } = useWorkspace()
  const list = useList({
    ...queueQueries.list(workspaceId),
    refetchInterval: pollQueuesMs
  })
  const hasPaused = list.rows.some(({ paused }) => paused)
  const create = useCreateSheet("New queue", (onClose) => <QueueSheet onClose={onClose} />)
  return (
    <Page
      title="Queues"
      description="Limits that tasks and chains share: how many runs are active, and how many start per second."
      actions={create.button}
    >
      <List
        {...list}
        label="Queues"
        columns={hasPaused ? columnsWithResume : columns}
        empty={
          <EmptyState title="No queues yet" icon={<ListOrdered />} action={create.button}>
            <p className="mb-6">
              Give tasks that call the same server the same queue, so that the server never gets
              more concurrent calls than it can handle.
            </p>
            <ApiExample
              label="Create a queue"
              path="queues"
              method="queues.create"
              input={{ name: "Billing server", max_concurrency: 2 }}
            />
          </EmptyState>
        }
      />
      {create.sheet}
    </Page>
  )
}

const isFull = ({ max_concurrency, running }: Queue) =>
  max_concurrency !== null && running >= max_concurrency

const statusOf = (queue: Queue) => {
  if (queue.paused) return <Status of="paused" tone={queue.waiting > 0 ? "warn" : "none"} />
  if (queue.waiting > 0) return <Status of="waiting" tone={isFull(queue) ? "warn" : "live"} />
  return queue.running > 0 ? <Status of="running" /> : <Status of="idle" />
}

/** Who paused a queue and when. */
const Paused = ({ queue }: { readonly queue: Queue }) => {
  const { api, workspaceId } = useWorkspace()
  const queryKey = queueQueries.all(workspaceId)
  return (
    <>
      {" · paused "}
      <PausedBy record={queue} resource={api.queues} queryKey={queryKey} />
    </>
  )
}

/** The maximum number of waiting runs that the API counts. */
const countLimit = 10_000

const waitingIn = ({ waiting }: Queue) => (waiting >= countLimit ? `${countLimit}+` : waiting)

/** How long the run that has waited longest has waited. Shows nothing if no run waits. */
const LongestWait = ({ queue: { waiting_since } }: { readonly queue: Queue }) =>
  waiting_since !== null && <ElapsedTime at={waiting_since} />

const facts: ReadonlyArray<Column<Queue>> = [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0",
    belowOnPhone: "plain",
    cell: statusOf
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: (queue) => (
      <>
        <span className={rowNameClass}>{queue.name}</span>
        <span className={`${rowDetailClass} max-sm:hidden`}>
          {describeLimits(queue)}
          {queue.paused && <Paused queue={queue} />}
        </span>
        <span className="block truncate text-xs text-faint nums sm:hidden">
          {queue.running} running, {waitingIn(queue)} waiting <LongestWait queue={queue} />
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
    key: "longest",
    head: "Longest wait",
    className: "w-24 shrink-0 text-right max-sm:hidden",
    cell: (queue) => <LongestWait queue={queue} />
  }
]

const menu = menuColumn<Queue>((queue) => <QueueMenu queue={queue} />)

const columns = [...facts, menu]

const columnsWithResume: ReadonlyArray<Column<Queue>> = [
  ...facts,
  {
    key: "resume",
    head: <span className="sr-only">Resume</span>,
    className: "relative w-10 shrink-0 sm:w-24 sm:text-right",
    cell: (queue) => queue.paused && <ResumeQueueButton queue={queue} />
  },
  menu
]
