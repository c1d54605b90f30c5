import { X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Button, IconButton } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { messageOf } from "../ui/messages/Problem.tsx"
import { tell, tellProblem } from "../ui/messages/toast.ts"

/** What can be done with many at once. */
export interface BulkAction<Row> {
  readonly name: string
  readonly icon: ReactNode
  /** What became of one: `is paused`. */
  readonly done: string
  readonly act: (row: Row) => Promise<unknown>
  /** What it would do, where it cannot be undone. */
  readonly warning?: string
}

/** A few at once, so that nobody else of the workspace waits. */
const atOnce = 4

/** Does the same to all, and says how far it is. */
const useBulk = <Row,>(onDone: () => void) => {
  const [progress, setProgress] = useState<string>()
  const start = async ({ act, done }: BulkAction<Row>, rows: ReadonlyArray<Row>) => {
    const waiting = rows.values()
    const problems: Array<unknown> = []
    let ended = 0
    setProgress(`0 of ${rows.length}`)
    const work = async () => {
      for (const row of waiting) {
        await act(row).catch((error: unknown) => problems.push(error))
        setProgress(`${++ended} of ${rows.length}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    setProgress(undefined)
    onDone()
    const [problem] = problems
    const well = rows.length - problems.length
    if (well > 0) tell(well === 1 ? `1 ${done}` : `${well} ${done.replace(/^is |^was /, plural)}`)
    if (problem !== undefined) {
      tellProblem(new Error(`${problems.length} of ${rows.length} failed: ${messageOf(problem)}`))
    }
  }
  return { progress, start }
}

const plural = (verb: string) => (verb === "is " ? "are " : "were ")

/** Above a list, while some of its rows are chosen. */
export const BulkBar = <Row,>({
  actions,
  chosen,
  more,
  onClear,
  onDone
}: {
  readonly chosen: ReadonlyArray<Row>
  /** Chooses what matches and was not read yet, if there is any. */
  readonly more?: { readonly choose: () => void; readonly isBusy: boolean } | undefined
  readonly actions: ReadonlyArray<BulkAction<Row>>
  readonly onClear: () => void
  readonly onDone: () => void
}) => {
  const [asked, ask] = useState<BulkAction<Row>>()
  const { progress, start } = useBulk<Row>(onDone)
  const many = chosen.length === 1 ? "1 task" : `${chosen.length} tasks`
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
            Select all that match
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
        title={`${asked?.name} ${many}?`}
        action={asked?.name ?? ""}
        onConfirm={async () => asked && start(asked, chosen)}
      >
        {asked?.warning}
      </Confirm>
    </>
  )
}
