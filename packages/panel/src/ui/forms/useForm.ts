import { type FormEvent, useEffect, useRef, useState } from "react"
import { invalidFieldsIn, lead } from "./invalidFields.ts"
import { type Issue, issuesLeft, issuesOf } from "./issues.ts"
import { isSame } from "./merge.ts"
import { useEdits } from "./useEdits.ts"

/**
 * The values of a form, and what the service says of them. An issue that the service has with a field
 * is shown at that field until its value changes, everything else above the button.
 */
export const useForm = <Values extends object>({
  initial,
  latest,
  send
}: {
  /** For a form that changes a record: the record, as far as it is known now. */
  readonly initial: Values
  /** Reads the record that the form changes. A form that has it overwrites nobody's changes. */
  readonly latest?: (() => Promise<Values>) | undefined
  /** `before` is the record without the changes. */
  readonly send: (values: Values, before: Values) => Promise<unknown>
}) => {
  const [error, setError] = useState<unknown>()
  const [issues, setIssues] = useState<ReadonlyArray<Issue>>([])
  const [isBusy, setBusy] = useState(false)
  const isSending = useRef(false)
  const sentBy = useRef<HTMLFormElement>(null)
  const { attention, isElsewhere } = useAttention(sentBy, error, issues)
  const follows = latest !== undefined
  const { base, change, edits, merge, values, wasSent } = useEdits(initial, { follows, isBusy })

  const set = (fields: Partial<Values>) => {
    change(fields)
    setIssues((before) => issuesLeft(before, values, { ...values, ...fields }))
  }

  const submit = async (event?: FormEvent<HTMLFormElement>) => {
    event?.preventDefault()
    if (isSending.current) return
    isSending.current = true
    sentBy.current = event?.currentTarget ?? null
    setBusy(true)
    setError(undefined)
    setIssues([])
    try {
      const merged = latest === undefined ? undefined : merge(await latest())
      // The form asks what counts, and is sent again after that.
      if (merged !== undefined && merged.clashes.length > 0) return
      const sent = merged?.values ?? values
      await send(sent, merged?.base ?? base)
      wasSent(sent)
    } catch (thrown) {
      setError(thrown)
      setIssues(issuesOf(thrown))
    } finally {
      isSending.current = false
      setBusy(false)
    }
  }

  const errorAt = (...at: Issue["path"]): string | undefined =>
    issues.find(({ path }) => at.every((key, index) => path[index] === key))?.message

  /** What goes to a text field of this name. */
  const text = (field: keyof Values & string) => ({
    name: field,
    value: String(values[field] ?? ""),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      set({ [field]: event.target.value } as Partial<Values>)
  })

  const isAtFields = issuesOf(error).every(({ path }) => String(path[0]) in initial)
  const isRefused = issuesOf(error).length > 0

  return {
    values,
    set,
    submit,
    isBusy,
    /** Whether there is something that was not sent. */
    isChanged: !isSame(values, base),
    /** Fields that others changed meanwhile. */
    edits,
    errorOf: (field: keyof Values & string) => errorAt(field),
    /** What the service says of a value within a field. */
    errorAt,
    text,
    /** The names of the fields that show what is wrong with them. */
    attention,
    /** What went wrong, whether or not a field shows it. */
    error,
    /** What went wrong, if no field shows it. */
    problem: isRefused && isAtFields && !isElsewhere ? undefined : error
  }
}

/** Leads to the first field that was refused, and names all of them. */
const useAttention = (
  form: { readonly current: HTMLFormElement | null },
  error: unknown,
  issues: ReadonlyArray<Issue>
) => {
  const [attention, setAttention] = useState<ReadonlyArray<string>>([])
  const [isElsewhere, setElsewhere] = useState(false)
  const told = useRef<unknown>(undefined)
  useEffect(() => {
    if (form.current === null) return
    const fields = issues.length === 0 ? [] : invalidFieldsIn(form.current)
    setAttention(fields.map(({ name }) => name))
    if (error === told.current) return
    told.current = error
    setElsewhere(issues.length > 0 && fields.length === 0)
    const first = fields.find(({ control }) => control !== undefined)?.control
    if (first !== undefined) lead(first)
  }, [form, error, issues])
  return { attention, isElsewhere }
}
