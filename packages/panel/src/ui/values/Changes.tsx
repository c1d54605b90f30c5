import type { ReactNode } from "react"
import { maskedValue } from "./maskedValue.ts"

interface Change {
  readonly field: string
  readonly old: unknown
  readonly new: unknown
}

/** Lists changed fields, with the old value above the new one. */
export const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) =>
  changes.length === 0 ? null : (
    <dl aria-label="Changed fields" className="flex flex-col gap-3">
      {changes.map((change) => (
        <div key={change.field} className="min-w-0">
          <dt className="font-mono text-sm font-medium">{change.field}</dt>
          {change.old === maskedValue && change.new === maskedValue ? (
            <dd className="mt-1 text-sm">New value set</dd>
          ) : (
            <>
              <Side mark="−" label="Old value" look="text-bad" value={change.old} />
              <Side mark="+" label="New value" look="text-ok" value={change.new} />
            </>
          )}
        </div>
      ))}
    </dl>
  )

const Side = ({
  label,
  look,
  mark,
  value
}: {
  readonly mark: string
  readonly label: string
  readonly look: string
  readonly value: unknown
}): ReactNode =>
  value === null || value === undefined ? null : (
    <dd className="mt-1 flex min-w-0 gap-2 rounded-lg border border-line bg-sunken px-3 py-1.5">
      <span aria-hidden className={`font-mono text-sm select-none ${look}`}>
        {mark}
      </span>
      <span className="sr-only">{label}: </span>
      <pre className="max-h-60 min-w-0 grow overflow-auto font-mono text-sm break-words whitespace-pre-wrap">
        {textOf(value)}
      </pre>
    </dd>
  )

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (typeof value === "object" && value !== null && "sha256" in value && "bytes" in value) {
    return `${String(value.bytes)} bytes, too long for the log (SHA-256 ${String(value.sha256)})`
  }
  return JSON.stringify(value, null, 2)
}
