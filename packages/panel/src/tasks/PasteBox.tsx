import { ClipboardPaste } from "lucide-react"
import { useState } from "react"
import { Field, Textarea } from "../ui/Field.tsx"
import { type Pasted, readPasted } from "./paste.ts"

/** Fills a form from a curl command or a line of a crontab. */
export const PasteBox = ({ onPaste }: { readonly onPaste: (pasted: Pasted) => void }) => {
  const [text, setText] = useState("")
  const isUnknown = text.trim() !== "" && readPasted(text) === undefined
  return (
    <details className="group">
      <summary className="inline-flex list-none items-center gap-2 rounded-md text-sm font-medium text-live hover:underline [&::-webkit-details-marker]:hidden">
        <ClipboardPaste className="size-4" />
        Paste a curl command or a crontab line
      </summary>
      <div className="mt-3">
        <Field
          label="curl or crontab"
          error={isUnknown ? "This is neither a curl command nor a line of a crontab." : undefined}
        >
          <Textarea
            mono
            rows={3}
            spellCheck={false}
            value={text}
            placeholder={`0 3 * * * curl -fsS -X POST https://api.example.com/jobs/nightly`}
            onChange={(event) => {
              setText(event.target.value)
              const pasted = readPasted(event.target.value)
              if (pasted !== undefined) onPaste(pasted)
            }}
          />
        </Field>
      </div>
    </details>
  )
}
