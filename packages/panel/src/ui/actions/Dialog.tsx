import { X } from "lucide-react"
import { type ReactNode, useEffect, useId, useRef, useState } from "react"
import { Button, IconButton } from "./Button.tsx"
import { classes } from "../classes.ts"
import { stripDirectionMarks } from "../values/stripDirectionMarks.ts"
import { Problem } from "../messages/Problem.tsx"
import { showErrorToast } from "../messages/toast.ts"

/** A native dialog, which traps the focus and restores it when closed. */
export const Dialog = ({
  children,
  isOpen,
  label,
  onClose,
  place = "centre"
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly label: string
  readonly children: ReactNode
  readonly place?: "centre" | "top" | "side"
}) => {
  const ref = useRef<HTMLDialogElement>(null)
  const isTyped = useRef(false)
  // The content is not rendered until the dialog is opened for the first time. A list has one
  // dialog per row, and most are never opened.
  const [wasOpened, setOpened] = useState(isOpen)
  if (isOpen && !wasOpened) setOpened(true)
  useEffect(() => {
    isTyped.current = false
    if (isOpen) {
      ref.current?.showModal()
      // Focus the first input, because the browser would focus the close button, which is the first
      // element.
      ref.current?.querySelector<HTMLElement>("form :is(input, select, textarea)")?.focus()
    } else ref.current?.close()
  }, [isOpen])
  if (!wasOpened) return null
  return (
    <dialog
      ref={ref}
      aria-label={label}
      // On Escape, the browser closes the dialog before notifying React. Events from nested dialogs
      // bubble up to here too.
      onCancel={(event) => {
        if (event.target !== ref.current) return
        event.preventDefault()
        onClose()
      }}
      // If the dialog was reopened before this event arrived, it must not be closed.
      onClose={(event) => event.target === ref.current && !ref.current.open && onClose()}
      onInput={({ target }) => {
        const holder = (target as Element).closest("form, dialog")
        if (holder instanceof HTMLFormElement) isTyped.current = true
      }}
      // A click on the backdrop targets the dialog itself. It does not close a dialog with unsaved
      // input.
      onPointerDown={(event) => event.target === ref.current && !isTyped.current && onClose()}
      className={classes(
        "scroll-pb-20 border-line bg-raised p-0 text-ink shadow-float backdrop:bg-black/35 backdrop:backdrop-blur-[2px] open:appear",
        place === "side"
          ? "mr-auto h-dvh max-h-dvh w-72 border-r"
          : "mx-auto w-[min(36rem,calc(100vw-2rem))] rounded-xl border",
        place === "top" && "mt-[12vh] mb-auto",
        place === "centre" && "my-auto max-h-[calc(100dvh-2rem)]"
      )}
    >
      {isOpen && children}
    </dialog>
  )
}

export const Sheet = ({
  children,
  isOpen,
  onClose,
  title
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
}) => (
  <Dialog isOpen={isOpen} onClose={onClose} label={title}>
    <header className="flex items-center justify-between gap-4 px-5 pt-4">
      <h2 className="min-w-0 text-lg font-semibold wrap-anywhere">{stripDirectionMarks(title)}</h2>
      <IconButton label="Close" onClick={onClose}>
        <X className="size-4" />
      </IconButton>
    </header>
    <div className="px-5 pt-2 pb-5">{children}</div>
  </Dialog>
)

/** Asks for confirmation of an irreversible action. The children describe its consequences. */
export const Confirm = ({
  isOpen,
  title,
  ...question
}: QuestionProps & {
  readonly isOpen: boolean
  readonly title: string
}) => (
  <Sheet isOpen={isOpen} onClose={question.onClose} title={title}>
    <Question {...question} />
  </Sheet>
)

interface QuestionProps {
  readonly onClose: () => void
  readonly children: ReactNode
  readonly action: string
  readonly onConfirm: () => Promise<unknown>
  /** A word that the user must type before confirming. Used if a lot of data would be lost. */
  readonly word?: string
}

const Question = ({ action, children, onClose, onConfirm, word }: QuestionProps) => {
  const [problem, setProblem] = useState<unknown>()
  const [typed, setTyped] = useState("")
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const confirm = async () => {
    setProblem(undefined)
    try {
      await onConfirm()
      // The dialog may have been closed, and opened again for another question.
      if (box.current !== null) onClose()
    } catch (error) {
      if (box.current === null) showErrorToast(error)
      else setProblem(error)
    }
  }
  return (
    <div ref={box} className="flex flex-col gap-4">
      <div className="text-soft">{children}</div>
      {word !== undefined && (
        <label htmlFor={id} className="flex flex-col gap-1.5 text-sm text-soft">
          <span>
            Type <b className="font-mono text-ink">{word}</b> to confirm
          </span>
          <input
            id={id}
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
            className="h-9 rounded-lg border border-line bg-surface px-3 text-base pointer-coarse:h-10 pointer-coarse:text-lg"
          />
        </label>
      )}
      <Problem error={problem} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Not now</Button>
        <Button look="danger" disabled={word !== undefined && typed !== word} onClick={confirm}>
          {action}
        </Button>
      </div>
    </div>
  )
}
