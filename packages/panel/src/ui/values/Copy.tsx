import { Check, Copy } from "lucide-react"
import { useState } from "react"
import { IconButton } from "../actions/Button.tsx"
import { classes } from "../classes.ts"

/** Copies, and says for a moment that it has. */
const useCopy = (text: string) => {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    window.setTimeout(() => setDone(false), 1_500)
  }
  return { isDone, copy }
}

export const CopyButton = ({
  className,
  label = "Copy",
  onCopy,
  text
}: {
  readonly text: string
  readonly onCopy?: (() => void) | undefined
  readonly label?: string
  readonly className?: string
}) => {
  const { copy, isDone } = useCopy(text)
  return (
    <IconButton
      label={isDone ? "Copied" : label}
      onClick={async () => {
        await copy()
        onCopy?.()
      }}
      {...(className !== undefined && { className })}
    >
      {isDone ? <Check className="size-4 text-ok" /> : <Copy className="size-4" />}
    </IconButton>
  )
}

/** A short text, such as an id, that is copied by a press. */
export const CopyText = ({
  className,
  text
}: {
  readonly text: string
  readonly className?: string
}) => {
  const { copy, isDone } = useCopy(text)
  return (
    <button
      type="button"
      onClick={copy}
      title="Copy"
      className={classes(
        "max-w-full truncate rounded font-mono text-xs hover:underline",
        className
      )}
    >
      {isDone ? "copied" : text}
    </button>
  )
}
