import { useEffect, useRef, useState } from "react"
import { Button } from "../actions/Button.tsx"
import { capitalize } from "../values/format.ts"
import type { EditConflicts } from "./useEdits.ts"

/**
 * Shows the fields that someone else changed since the form was opened, and asks which values to
 * keep.
 */
export const ConcurrentEdits = ({
  edits: { clashes, latest, settle, taken }
}: {
  readonly edits: EditConflicts
}) => {
  const box = useRef<HTMLDivElement>(null)
  const labelOf = useLabels(box, [...clashes, ...taken])
  const isAsking = clashes.length > 0
  useEffect(() => {
    if (isAsking) box.current?.scrollIntoView({ block: "nearest" })
  }, [isAsking])
  return (
    <div ref={box} className="empty:hidden">
      {isAsking ? (
        <div
          role="alert"
          className="flex flex-col gap-3 rounded-lg border border-warn/40 tint-warn px-3.5 py-3"
        >
          <p>Someone else changed the same fields. Which values do you want to keep?</p>
          <dl className="grid grid-cols-[fit-content(12rem)_1fr] gap-x-4 gap-y-1.5 text-sm">
            {clashes.map((field) => (
              <div key={field} className="contents">
                <dt className="font-medium">{labelOf(field)}</dt>
                <dd className="min-w-0 wrap-anywhere">
                  {shown(new Map(Object.entries(latest)).get(field))}
                </dd>
              </div>
            ))}
          </dl>
          <div className="flex flex-wrap gap-2">
            <Button size="small" onClick={() => settle("mine")}>
              Keep mine
            </Button>
            <Button size="small" onClick={() => settle("theirs")}>
              Take theirs
            </Button>
          </div>
        </div>
      ) : (
        taken.length > 0 && (
          <p role="status" className="text-sm text-soft">
            Someone else changed {taken.map(labelOf).join(", ")}. The form shows the new values.
          </p>
        )
      )}
    </div>
  )
}

/** Shows the value that someone else saved, if it is a string or a number. */
const shown = (value: unknown) =>
  typeof value === "string" && value !== "" ? (
    <>
      Theirs:{" "}
      <bdi className="font-mono">{value.length > 200 ? `${value.slice(0, 200)}…` : value}</bdi>
    </>
  ) : typeof value === "number" ? (
    `Theirs: ${value}`
  ) : value === "" || value === null ? (
    "Theirs: empty"
  ) : (
    "Changed by both"
  )

/** Returns the fields' labels, read from the surrounding form. */
const useLabels = (
  box: { readonly current: HTMLElement | null },
  fields: ReadonlyArray<string>
): ((field: string) => string) => {
  const [labels, setLabels] = useState<Readonly<Record<string, string>>>({})
  const key = fields.join(" ")
  useEffect(() => {
    const form = box.current?.closest("form")
    const found = key.split(" ").flatMap((field) => {
      const label = form?.querySelector<HTMLInputElement>(`[name="${field}"]`)?.labels?.[0]
      return label?.textContent ? [[field, label.textContent]] : []
    })
    setLabels(Object.fromEntries(found))
  }, [box, key])
  return (field) => labels[field] ?? capitalize(field.replaceAll("_", " "))
}
