import { ClipboardPaste } from "lucide-react"
import { useState } from "react"
import { Field, Textarea } from "../../ui/forms/Field.tsx"
import { Fold } from "../../ui/layout/Fold.tsx"
import { newCall } from "./callValues.ts"
import { readPasted, readPastedCall } from "./paste.ts"
import type { Pasted, Reading } from "./Reading.ts"

/** Fills a form from a curl command or a line of a crontab. */
export const PasteBox = ({
  hasSchedule = false,
  onPaste
}: {
  /** Whether the form takes the schedule of a line too. */
  readonly hasSchedule?: boolean
  readonly onPaste: (pasted: Pasted) => void
}) => {
  const read = hasSchedule ? readPasted : readPastedCall
  const [text, setText] = useState("")
  const [hasCall, setHasCall] = useState(false)
  const reading = read(text)
  const isUnknown = text.trim() !== "" && reading === undefined
  const paste = (next: string) => {
    setText(next)
    const values = read(next)?.values
    if (values === undefined) return
    // The call of what was pasted before does not belong to this schedule.
    onPaste(hasCall ? { ...emptyCall, ...values } : values)
    setHasCall(values.url !== undefined)
  }
  return (
    <Fold
      icon={<ClipboardPaste className="size-4" />}
      summary={`Paste a curl command${hasSchedule ? " or a crontab line" : ""}`}
    >
      <div className="flex flex-col gap-1.5">
        <Field
          label={hasSchedule ? "curl or crontab" : "Command"}
          error={isUnknown ? unknown(hasSchedule) : undefined}
        >
          <Textarea
            mono
            rows={3}
            spellCheck={false}
            value={text}
            placeholder={`${hasSchedule ? "0 3 * * * " : ""}curl -fsS -X POST https://api.example.com/jobs/nightly`}
            onChange={(event) => paste(event.target.value)}
          />
        </Field>
        <p role="status" className="text-sm break-words text-soft">
          {reading !== undefined && inWords(reading)}
        </p>
      </div>
    </Fold>
  )
}

const unknown = (hasSchedule: boolean) =>
  hasSchedule
    ? "This is neither a curl command nor a line of a crontab."
    : "This is no curl command with a URL."

const { body, headers, method, timeout_seconds, url } = newCall
const emptyCall = { body, headers, method, timeout_seconds, url }

const inWords = ({ filled, ignored }: Reading) =>
  `Filled in: ${filled.join(", ")}.` +
  (ignored.length === 0 ? "" : ` Ignored: ${ignored.join(", ")}.`)
