import { useEffect, useEffectEvent, useRef, useState } from "react"
import { type Edited, isSame, type Merged, mergeLatest, resolveConflicts } from "./merge.ts"

export interface Edits {
  /** Fields that only others changed. The form shows the new values. */
  readonly taken: ReadonlyArray<string>
  /** Fields that both this user and others changed. */
  readonly clashes: ReadonlyArray<string>
  /** The record as it was last read. */
  readonly latest: object
  readonly settle: (keeps: "mine" | "theirs") => void
}

/**
 * Manages the values of a form and the record that it edits. If `follows`, changes by others are
 * merged in.
 */
export const useEdits = <Values extends object>(
  record: Values,
  { follows, isBusy }: { readonly follows: boolean; readonly isBusy: boolean }
) => {
  const [edited, setEdited] = useState<Edited<Values>>({ base: record, values: record })
  // The user may continue typing while the record is refetched.
  const now = useRef(edited)
  const put = (next: Edited<Values>) => {
    now.current = next
    setEdited(next)
  }
  const [latest, setLatest] = useState(record)
  const [taken, setTaken] = useState<Edits["taken"]>([])
  const [clashes, setClashes] = useState<Edits["clashes"]>([])
  // After submitting, the next record is the submitted one, possibly normalized by the service.
  const isSent = useRef(false)

  const merge = (next: Values): Merged<Values> => {
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
    if (follows && !isBusy && !isSame(record, latest)) merge(record)
  })
  const key = follows ? JSON.stringify(record) : ""
  useEffect(() => follow(), [key, isBusy])

  return {
    ...edited,
    merge,
    edits: {
      taken,
      clashes,
      latest,
      settle: (keeps) => {
        put(resolveConflicts(now.current, latest, clashes, keeps))
        setClashes([])
      }
    } satisfies Edits,
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
