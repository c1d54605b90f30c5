import { Check, Copy } from "lucide-react"
import { createContext, use, useState } from "react"
import { IconButton } from "../actions/Button.tsx"
import { classes } from "../classes.ts"

/**
 * Called when a copy button is clicked. The browser's `copy` event reports only copied selections.
 */
export const OnCopy = createContext<(() => void) | undefined>(undefined)

/** Copies text, and briefly reports success. */
const useCopy = (text: string) => {
  const [isDone, setDone] = useState(false)
  const whenCopied = use(OnCopy)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    whenCopied?.()
    setDone(true)
    window.setTimeout(() => setDone(false), 1_500)
  }
  return { isDone, copy }
}

export const CopyButton = ({
  className,
  label = "Copy",
  text
}: {
  readonly text: string
  readonly label?: string
  readonly className?: string
}) => {
  const { copy, isDone } = useCopy(text)
  return (
    <IconButton
      label={isDone ? "Copied" : label}
      onClick={copy}
      {...(className !== undefined && { className })}
    >
      {isDone ? <Check className="size-4 text-ok" /> : <Copy className="size-4" />}
    </IconButton>
  )
}

export const CopyableText = ({
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
        "max-w-full rounded text-left font-mono text-xs break-all hover:underline",
        className
      )}
    >
      {isDone ? "copied" : text}
    </button>
  )
}
