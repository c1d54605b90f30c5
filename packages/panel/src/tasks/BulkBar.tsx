import { X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Button, IconButton } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { messageOf } from "../ui/messages/Problem.tsx"
import { notify, notifyProblem } from "../ui/messages/toast.ts"

export interface BulkAction<Row> {
  readonly name: string
  readonly icon: ReactNode
  /** The past participle for the confirmation message: `paused`. */
  readonly done: string
  readonly act: (row: Row) => Promise<unknown>
  /** The consequences of an irreversible action, which then requires confirmation. */
  readonly warning?: string
}

const tasksOf = (count: number) => (count === 1 ? "1 task" : `${count} tasks`)

/** The number of parallel requests. More would slow down the other users of the workspace. */
const concurrency = 4

/** Applies an action to many rows and reports the progress. */
const useBulk = <Row,>(onDone: () => void) => {
  const [progress, setProgress] = useState<string>()
  const start = async ({ act, done }: BulkAction<Row>, rows: ReadonlyArray<Row>) => {
    const waiting = rows.values()
    const problems: Array<unknown> = []
    let finished = 0
    setProgress(`0 of ${rows.length}`)
    const work = async () => {
      for (const row of waiting) {
        await act(row).catch((error: unknown) => problems.push(error))
        setProgress(`${++finished} of ${rows.length}`)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    setProgress(undefined)
    onDone()
    const succeeded = rows.length - problems.length
    if (succeeded > 0) notify(`${tasksOf(succeeded)} ${succeeded === 1 ? "was" : "were"} ${done}`)
    if (problems.length > 0) {
      const failed = `${problems.length} of ${tasksOf(rows.length)} failed`
      notifyProblem(new Error(`${failed}: ${messageOf(problems[0])}`))
    }
  }
  return { progress, start }
}

export const BulkBar = <Row,>({
  actions,
  chosen,
  more,
  onClear,
  onDone
}: {
  readonly chosen: ReadonlyArray<Row>
  /** Selects the matching rows that are not loaded yet. Undefined if all are loaded. */
  readonly more?: { readonly choose: () => void; readonly isBusy: boolean } | undefined
  readonly actions: ReadonlyArray<BulkAction<Row>>
  readonly onClear: () => void
  readonly onDone: () => void
}) => {
  const [asked, ask] = useState<BulkAction<Row>>()
  const { progress, start } = useBulk<Row>(onDone)
  return (
    <>
      <div
        role="toolbar"
        aria-label="Selected"
        className="sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line bg-raised p-2 pl-4 shadow-float appear"
      >
        <span role="status" className="mr-2 font-medium whitespace-nowrap nums">
          {progress ?? `${chosen.length}${more === undefined ? "" : " loaded"} selected`}
        </span>
        {more !== undefined && progress === undefined && (
          <Button size="small" busy={more.isBusy} onClick={more.choose}>
            Select all matching tasks
          </Button>
        )}
        {actions.map((action) => (
          <Button
            key={action.name}
            size="small"
            look={action.warning === undefined ? "plain" : "danger"}
            icon={action.icon}
            disabled={progress !== undefined}
            onClick={() =>
              action.warning === undefined ? void start(action, chosen) : ask(action)
            }
          >
            {action.name}
          </Button>
        ))}
        <IconButton label="Clear the selection" onClick={onClear}>
          <X className="size-4" />
        </IconButton>
      </div>
      <Confirm
        isOpen={asked !== undefined}
        onClose={() => ask(undefined)}
        title={`${asked?.name} ${tasksOf(chosen.length)}?`}
        action={`${asked?.name} ${tasksOf(chosen.length)}`}
        onConfirm={async () => asked && start(asked, chosen)}
      >
        {asked?.warning}
      </Confirm>
    </>
  )
}
