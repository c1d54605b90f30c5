import { ApiError } from "@scheduling/sdk"
import { type FormEvent, useEffect, useRef, useState } from "react"
import { showErrorToast } from "../messages/toast.ts"
import { inputPropsOf } from "./inputProps.ts"
import { focusField, invalidFieldsIn } from "./invalidFields.ts"
import { type Issue, remainingIssues, issuesOf } from "./issues.ts"
import { isSameValue } from "./merge.ts"
import { useEdits } from "./useEdits.ts"

export type FormOf<Values extends object> = ReturnType<typeof useForm<Values>>

/**
 * Manages a form's values and submission. An issue with a field is shown below the field until its
 * value changes. All other problems are shown above the button.
 */
export const useForm = <Values extends object>({
  draftKey,
  initial,
  latest,
  send
}: {
  /** The key under which the tab keeps unsaved input, for long forms. */
  readonly draftKey?: string | undefined
  /** In a form that edits a record, the values of the record as it was last read. */
  readonly initial: Values
  /** Refetches the record before submitting, so that changes by others are not overwritten. */
  readonly latest?: (() => Promise<Values>) | undefined
  /** Submits the values. `before` is the record without the user's edits. */
  readonly send: (values: Values, before: Values) => Promise<unknown>
}) => {
  const [error, setError] = useState<unknown>()
  const [issues, setIssues] = useState<ReadonlyArray<Issue>>([])
  const [isBusy, setBusy] = useState(false)
  const isSending = useRef(false)
  const sentBy = useRef<HTMLFormElement>(null)
  const isClosed = useRef(false)
  useEffect(() => {
    isClosed.current = false
    return () => {
      isClosed.current = true
    }
  }, [])
  const { attention, isElsewhere } = useAttention(sentBy, error, issues)
  const follows = latest !== undefined
  const { base, change, discard, edits, merge, values, wasSent } = useEdits(initial, {
    draftKey,
    follows,
    isBusy
  })

  const set = (fields: Partial<Values>) => {
    change(fields)
    setIssues((before) => remainingIssues(before, values, { ...values, ...fields }))
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
      for (let tries = 0; ; tries++) {
        const merged = latest === undefined ? undefined : merge(await latest())
        // The user chooses between the conflicting values and then submits the form again.
        if (merged !== undefined && merged.clashes.length > 0) return
        const sent = merged?.values ?? values
        try {
          await send(sent, merged?.base ?? base)
          // A closed form must not save a draft of what was typed while it was submitted.
          return isClosed.current ? undefined : wasSent(sent)
        } catch (thrown) {
          // Someone else has saved the record since it was read, so merge their changes too.
          if (!isStale(thrown) || latest === undefined || tries === maxMerges) throw thrown
        }
      }
    } catch (thrown) {
      if (isClosed.current) return showErrorToast(thrown)
      setError(thrown)
      setIssues(issuesOf(thrown))
    } finally {
      isSending.current = false
      setBusy(false)
    }
  }

  const errorAt = (...at: Issue["path"]): string | undefined =>
    issues.find(({ path }) => at.every((key, index) => path[index] === key))?.message

  const errorOf = (field: keyof Values & string, ...within: ReadonlyArray<string>) =>
    errorAt(field, ...within)

  /** Returns the props for a field that is not a text input. */
  const field = <Name extends keyof Values & string>(name: Name) => ({
    value: values[name],
    onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
    error: errorAt(name)
  })

  const isAtFields = issuesOf(error).every(({ path }) => String(path[0]) in initial)
  const isRejected = issuesOf(error).length > 0

  return {
    values,
    set,
    submit,
    isBusy,
    isChanged: !isSameValue(values, base),
    discard,
    edits,
    errorOf,
    /** Returns the issue with a value within a field. */
    errorAt,
    text: inputPropsOf(values, set),
    group: { values, onChange: set, errorOf },
    field,
    attention,
    error,
    /** The error, unless fields show it. */
    problem: isRejected && isAtFields && !isElsewhere ? undefined : error
  }
}

const maxMerges = 3

const isStale = (error: unknown) => error instanceof ApiError && error.status === 412

/** Focuses the first field with an issue, and returns the names of all such fields. */
const useAttention = (
  form: { readonly current: HTMLFormElement | null },
  error: unknown,
  issues: ReadonlyArray<Issue>
) => {
  const [attention, setAttention] = useState<ReadonlyArray<string>>([])
  const [isElsewhere, setElsewhere] = useState(false)
  const handled = useRef<unknown>(undefined)
  useEffect(() => {
    if (form.current === null) return
    const fields = issues.length === 0 ? [] : invalidFieldsIn(form.current)
    setAttention(fields.map(({ name }) => name))
    if (error === handled.current) return
    handled.current = error
    setElsewhere(issues.length > 0 && fields.length === 0)
    const first = fields.find(({ control }) => control !== undefined)?.control
    if (first !== undefined) focusField(first)
  }, [form, error, issues])
  return { attention, isElsewhere }
}
