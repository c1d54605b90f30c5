import { useEffect, useEffectEvent, useRef, useState } from "react"
import { deleteDraft, saveDraft, readDraft } from "./drafts.ts"
import {
  type FormState,
  isSameValue,
  type MergedFormState,
  mergeLatest,
  resolveConflicts
} from "./merge.ts"

/** The changes that other users made to the record while it is being edited. */
export interface EditConflicts {
  /** Fields that only others changed. The form shows the new values. */
  readonly taken: ReadonlyArray<string>
  /** Fields that both this user and others changed. */
  readonly clashes: ReadonlyArray<string>
  /** The record as it was last read. */
  readonly latest: object
  readonly settle: (keeps: "mine" | "theirs") => void
}

/**
 * Manages a form's values and the record that it edits. With `follows`, other users' changes to the
 * record are merged into the form.
 */
export const useEdits = <Values extends object>(
  record: Values,
  {
    draftKey,
    follows,
    isBusy
  }: {
    readonly follows: boolean
    readonly isBusy: boolean
    /** The draft's key. Undefined if the form does not keep drafts. */
    readonly draftKey: string | undefined
  }
) => {
  const [draft] = useState(() => readDraft<Values>(draftKey))
  const [isRestored, setRestored] = useState(draft !== undefined)
  const [edited, setEdited] = useState<FormState<Values>>(draft ?? { base: record, values: record })
  // A ref, because the user may continue typing while the record is refetched.
  const now = useRef(edited)
  const put = (next: FormState<Values>) => {
    now.current = next
    setEdited(next)
    if (isSameValue(next.base, next.values)) deleteDraft(draftKey)
    else saveDraft(draftKey, next)
  }
  // Leaving the page discards the input. Reloading the page does not run this cleanup.
  useEffect(() => () => deleteDraft(draftKey), [draftKey])
  const [latest, setLatest] = useState(edited.base)
  const [taken, setTaken] = useState<EditConflicts["taken"]>([])
  const [clashes, setClashes] = useState<EditConflicts["clashes"]>([])
  // True after submitting. The next record is then the submitted one, possibly normalized by the
  // service, rather than a change by another user.
  const isSent = useRef(false)

  const merge = (next: Values): MergedFormState<Values> => {
    const merged = mergeLatest(now.current, next)
    put({ base: merged.base, values: merged.values })
    setLatest(next)
    setClashes(merged.clashes)
    if (!isSent.current && merged.taken.length > 0) {
      setTaken((before) => [...new Set([...before, ...merged.taken])])
    }
    return merged
  }

  const follow = useEffectEvent(() => {
    if (follows && !isBusy && !isSameValue(record, latest) && !isOlder(record, latest)) {
      merge(record)
    }
  })
  const key = follows ? JSON.stringify(record) : ""
  useEffect(() => follow(), [key, isBusy])

  return {
    ...edited,
    merge,
    /** Discards a restored draft. Undefined if none was restored. */
    discard: isRestored
      ? () => {
          setRestored(false)
          setClashes([])
          setLatest(record)
          put({ base: record, values: record })
        }
      : undefined,
    edits: {
      taken,
      clashes,
      latest,
      settle: (keeps) => {
        put(resolveConflicts(now.current, latest, clashes, keeps))
        setClashes([])
      }
    } satisfies EditConflicts,
    change: (change: Partial<Values>) => {
      isSent.current = false
      const { base, values } = now.current
      put({ base, values: { ...values, ...change } })
    },
    wasSent: (sent: Values) => {
      isSent.current = true
      setTaken([])
      put({ base: sent, values: now.current.values })
    }
  }
}

/** Returns true if a record is older than another one. An early response can arrive late. */
const isOlder = (record: { readonly version?: number }, other: { readonly version?: number }) =>
  (record.version ?? 0) < (other.version ?? 0)
