import { ClipboardPaste } from "lucide-react"
import { useState } from "react"
import { Field, Textarea } from "../../ui/forms/Field.tsx"
import { Fold } from "../../ui/layout/Fold.tsx"
import { type Pasted, readPasted } from "./paste.ts"

/** Fills a form from a curl command or a line of a crontab. */
export const PasteBox = ({ onPaste }: { readonly onPaste: (pasted: Pasted) => void }) => {
  const [text, setText] = useState("")
  const isUnknown = text.trim() !== "" && readPasted(text) === undefined
  return (
    <Fold
      icon={<ClipboardPaste className="size-4" />}
      summary="Paste a curl command or a crontab line"
    >
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
    </Fold>
  )
}
