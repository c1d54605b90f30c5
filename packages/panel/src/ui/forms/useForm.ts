import { ValidationError } from "@scheduling/sdk"
import { type FormEvent, useRef, useState } from "react"

/**
 * The values of a form, and what the service says of them. An issue that the service has with a field
 * is shown at that field, everything else above the button.
 */
export const useForm = <Values extends object>({
  initial,
  send
}: {
  readonly initial: Values
  readonly send: (values: Values) => Promise<unknown>
}) => {
  const [values, setValues] = useState(initial)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isSending = useRef(false)

  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }))

  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    if (isSending.current) return
    isSending.current = true
    setBusy(true)
    setError(undefined)
    try {
      await send(values)
    } catch (thrown) {
      setError(thrown)
    } finally {
      isSending.current = false
      setBusy(false)
    }
  }

  const issues = error instanceof ValidationError ? error.detail.issues : []
  const errorOf = (field: keyof Values & string): string | undefined =>
    issues.find(({ path }) => path[0] === field)?.message

  /** What goes to a text field of this name. */
  const text = (field: keyof Values & string) => ({
    name: field,
    value: String(values[field] ?? ""),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      set({ [field]: event.target.value } as Partial<Values>)
  })

  const isAtAField = issues.length > 0 && issues.every(({ path }) => String(path[0]) in initial)

  return {
    values,
    set,
    submit,
    isBusy,
    errorOf,
    text,
    /** What went wrong, whether or not a field shows it. */
    error,
    problem: isAtAField ? undefined : error
  }
}
