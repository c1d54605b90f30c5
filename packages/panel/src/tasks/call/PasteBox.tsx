import { ClipboardPaste } from "lucide-react"
import { useState } from "react"
import { Field, Textarea } from "../../ui/forms/Field.tsx"
import { CollapsibleSection } from "../../ui/layout/CollapsibleSection.tsx"
import { newCallValues } from "./callValues.ts"
import { parsePaste, parsePastedCall } from "./paste.ts"
import type { PastedValues } from "./parseCurl.ts"

/** Fills in a form from a curl command or a crontab line. */
export const PasteBox = ({
  hasSchedule = false,
  onPaste
}: {
  /** True if the form has a schedule field that a crontab line can fill in. */
  readonly hasSchedule?: boolean
  readonly onPaste: (pasted: PastedValues) => void
}) => {
  const read = hasSchedule ? parsePaste : parsePastedCall
  const [text, setText] = useState("")
  const [hasCall, setHasCall] = useState(false)
  const reading = read(text)
  const isUnknown = text.trim() !== "" && reading === undefined
  const paste = (next: string) => {
    setText(next)
    const values = read(next)?.values
    if (values === undefined) return
    // Reset the call that was filled in by the previous paste, because it does not belong to the
    // new text.
    onPaste(hasCall ? { ...emptyCall, ...values } : values)
    setHasCall(values.url !== undefined)
  }
  return (
    <CollapsibleSection
      icon={<ClipboardPaste />}
      summary={`Paste a curl command${hasSchedule ? " or a crontab line" : ""}`}
    >
      <div className="flex flex-col gap-1.5">
        <Field
          label={hasSchedule ? "Command or crontab line" : "Command"}
          error={
            isUnknown
              ? `This is not a curl command with a URL${hasSchedule ? " or a crontab line" : ""}.`
              : undefined
          }
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
          {reading !== undefined &&
            `Filled in: ${reading.filled.join(", ")}.${reading.ignored.length === 0 ? "" : ` Ignored: ${reading.ignored.join(", ")}.`}`}
        </p>
      </div>
    </CollapsibleSection>
  )
}

const { body, headers, method, timeout_seconds, url } = newCallValues
const emptyCall = { body, headers, method, timeout_seconds, url }
