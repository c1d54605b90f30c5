import type { RunRequest } from "@scheduling/sdk"
import { useState } from "react"
import { Button } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Textarea } from "../ui/forms/Field.tsx"
import { Problem } from "../ui/messages/Problem.tsx"

/** Asks for a run's input, as JSON. */
export const RunInputDialog = ({
  isOpen,
  name,
  onClose,
  onRun
}: {
  readonly isOpen: boolean
  readonly name: string
  readonly onClose: () => void
  readonly onRun: (request: RunRequest) => Promise<unknown>
}) => {
  const [text, setText] = useState("{}")
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const [error, setError] = useState<string>()

  const run = async () => {
    const request = requestIn(text)
    if (request === undefined) return setError("The input is not valid JSON.")
    setBusy(true)
    try {
      await onRun(request)
      onClose()
    } catch (rejected) {
      setProblem(rejected)
    }
    setBusy(false)
  }

  return (
    <Sheet isOpen={isOpen} onClose={onClose} title={`Run ${name} with an input`}>
      <form
        className="flex flex-col items-start gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          setError(undefined)
          setProblem(undefined)
          void run()
        }}
      >
        <div className="w-full">
          <Field
            label="Input, as JSON"
            hint="The input is stored with the run. Calls can use it as {{ input }} or {{ input.key }}."
            error={error}
          >
            <Textarea mono value={text} onChange={(event) => setText(event.target.value)} />
          </Field>
        </div>
        <Problem error={problem} />
        <Button type="submit" look="main" busy={isBusy}>
          Run now
        </Button>
      </form>
    </Sheet>
  )
}

const requestIn = (text: string): RunRequest | undefined => {
  try {
    return { input: JSON.parse(text) }
  } catch {
    return undefined
  }
}
