import { useBlocker } from "@tanstack/react-router"
import { X } from "lucide-react"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { Button, IconButton } from "../actions/Button.tsx"
import { Confirm, Sheet } from "../actions/Dialog.tsx"
import { messageOf } from "../messages/Problem.tsx"
import { showErrorToast, showSuccessToast } from "../messages/toast.ts"

export interface BulkAction<Row> {
  readonly name: string
  readonly icon: ReactNode
  /** The past participle for the confirmation message: `paused`. */
  readonly done: string
  readonly act: (row: Row) => Promise<unknown>
  /** Returns the ids of the rows that the action applies to. Defaults to all rows. */
  readonly idsOf?: (rows: ReadonlyArray<Row>) => ReadonlySet<string>
  /** The consequences of an irreversible action, which then requires confirmation. */
  readonly warning?: string
}

interface Failure<Row> {
  readonly row: Row
  readonly error: unknown
}

/** A finished action's failed rows, out of `count` rows. */
interface Outcome<Row> {
  readonly count: number
  readonly failures: ReadonlyArray<Failure<Row>>
}

const countOf = (count: number, noun: string) =>
  count === 1 ? `1 ${noun}` : `${count.toLocaleString("en")} ${noun}s`

const failureTitle = (failed: number, count: number, noun: string) =>
  `${failed} of ${countOf(count, noun)} failed`

/** The maximum number of failed rows that are named. */
const maxNamed = 200

/** The maximum number of parallel requests. More would slow down the workspace's other users. */
const concurrency = 4

/** Applies an action to many rows and reports progress. */
const useBulk = <Row,>(noun: string, onDone: () => void) => {
  const [progress, setProgress] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome<Row>>()
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: progress !== undefined })
  const start = async ({ act, done }: BulkAction<Row>, rows: ReadonlyArray<Row>) => {
    const waiting = rows.values()
    const failures: Array<Failure<Row>> = []
    let finished = 0
    setProgress(`0 of ${rows.length}`)
    const work = async () => {
      for (const row of waiting) {
        await act(row).catch((error: unknown) => failures.push({ row, error }))
        setProgress(`${++finished} of ${rows.length}`)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    setProgress(undefined)
    onDone()
    const succeeded = rows.length - failures.length
    if (succeeded > 0) {
      showSuccessToast(`${countOf(succeeded, noun)} ${succeeded === 1 ? "was" : "were"} ${done}`)
    }
    if (failures.length === 0) return
    if (isLeft.current) showErrorToast(failureTitle(failures.length, rows.length, noun))
    else setOutcome({ count: rows.length, failures })
  }
  return { progress, start, outcome, close: () => setOutcome(undefined) }
}

/** The actions for the selected rows. Shows nothing if no row is selected. */
export const BulkBar = <Row extends { readonly id: string }>({
  actions,
  chosen,
  more,
  nameOf,
  noun,
  onClear,
  onDone
}: {
  /** The noun for a row: `task`. */
  readonly noun: string
  /** Returns the name of a failed row. */
  readonly nameOf: (row: Row) => ReactNode
  readonly chosen: ReadonlyArray<Row>
  /** Selects the matching rows that are not loaded yet. Undefined if all are loaded. */
  readonly more?:
    | {
        readonly choose: () => unknown
        readonly isBusy?: boolean
        /** The number of matching rows, if known. */
        readonly count?: string
      }
    | undefined
  readonly actions: ReadonlyArray<BulkAction<Row>>
  readonly onClear: () => void
  readonly onDone: () => void
}) => {
  const [asked, ask] = useState<BulkAction<Row>>()
  const rowsOf = (action: BulkAction<Row> | undefined) => {
    const ids = action?.idsOf?.(chosen)
    return ids === undefined ? chosen : chosen.filter(({ id }) => ids.has(id))
  }
  const askedRows = rowsOf(asked)
  const { close, outcome, progress, start } = useBulk<Row>(noun, onDone)
  return (
    <>
      {(chosen.length > 0 || progress !== undefined) && (
        <div
          role="toolbar"
          aria-label="Selected"
          className="sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line bg-raised p-2 pl-4 shadow-float appear"
        >
          <span role="status" className="mr-2 font-medium whitespace-nowrap nums">
            {progress ??
              `${chosen.length.toLocaleString("en")}${more === undefined ? "" : " loaded"} selected`}
          </span>
          {more !== undefined && progress === undefined && (
            <Button size="small" busy={more.isBusy ?? false} onClick={more.choose}>
              Select all {more.count} matching {noun}s
            </Button>
          )}
          {actions.map((action) => {
            const rows = rowsOf(action)
            return (
              <Button
                key={action.name}
                size="small"
                look={action.warning === undefined ? "plain" : "danger"}
                icon={action.icon}
                disabled={progress !== undefined || rows.length === 0}
                onClick={() =>
                  action.warning === undefined ? void start(action, rows) : ask(action)
                }
              >
                {action.name}
                {rows.length > 0 && rows.length < chosen.length && ` ${rows.length}`}
              </Button>
            )
          })}
          <IconButton label="Clear the selection" onClick={onClear}>
            <X className="size-4" />
          </IconButton>
        </div>
      )}
      <Confirm
        isOpen={asked !== undefined}
        onClose={() => ask(undefined)}
        title={`${asked?.name} ${countOf(askedRows.length, noun)}?`}
        action={`${asked?.name} ${countOf(askedRows.length, noun)}`}
        onConfirm={async () => {
          // The dialog closes, and the bar shows the progress.
          if (asked !== undefined) void start(asked, askedRows)
        }}
      >
        {asked?.warning}
      </Confirm>
      <Sheet
        isOpen={outcome !== undefined}
        onClose={close}
        title={failureTitle(outcome?.failures.length ?? 0, outcome?.count ?? 0, noun)}
      >
        <ul className="flex max-h-96 flex-col gap-2 overflow-y-auto">
          {outcome?.failures.slice(0, maxNamed).map(({ error, row }, index) => (
            <li key={index} className="min-w-0 wrap-anywhere">
              <span className="font-medium">{nameOf(row)}</span>
              <span className="block text-sm text-soft">{messageOf(error)}</span>
            </li>
          ))}
        </ul>
      </Sheet>
    </>
  )
}
