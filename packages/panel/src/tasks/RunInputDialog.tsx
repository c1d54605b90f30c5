import type { RunRequest } from "@scheduling/sdk"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Textarea } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { useForm } from "../ui/forms/useForm.ts"

interface Props {
  readonly onClose: () => void
  readonly onRun: (request: RunRequest) => Promise<unknown>
}

/** Asks for a run's input, as JSON. */
export const RunInputDialog = ({
  isOpen,
  name,
  ...props
}: Props & { readonly isOpen: boolean; readonly name: string }) => (
  <Sheet isOpen={isOpen} onClose={props.onClose} title={`Run ${name} with an input`}>
    <RunInputForm {...props} />
  </Sheet>
)

const RunInputForm = ({ onClose, onRun }: Props) => {
  const form = useForm({
    initial: { input: "{}" },
    send: async ({ input }) => {
      await onRun(requestIn(input))
      onClose()
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field
        label="Input, as JSON"
        hint="The input is stored with the run. Calls can use it as {{ input }} or {{ input.key }}."
        error={form.errorOf("input")}
      >
        <Textarea mono {...form.text("input")} />
      </Field>
      <FormFooter form={form} action="Run now" />
    </form>
  )
}

const requestIn = (text: string): RunRequest => {
  try {
    return { input: JSON.parse(text) }
  } catch {
    throw new FieldProblem("input", "The input is not valid JSON.")
  }
}
