import type { ReactNode } from "react"
import { maskedValue } from "./maskedValue.ts"

interface Change {
  readonly field: string
  readonly old: unknown
  readonly new: unknown
}

/** Splits a text into words and the characters between them. */
const tokensOf = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}_]+|[^]/gu) ?? []

/**
 * Returns the number of characters at the start and at the end of a text that are equal in another
 * text. Compares whole words, so that one changed character marks its whole word.
 */
const equalEndsOf = (text: string, other: string | undefined) => {
  if (other === undefined) return { start: 0, end: 0 }
  const [own, others] = [tokensOf(text), tokensOf(other)]
  const limit = Math.min(own.length, others.length)
  let first = 0
  while (first < limit && own[first] === others[first]) first++
  let last = 0
  while (last < limit - first && own.at(-1 - last) === others.at(-1 - last)) last++
  const lengthOf = (tokens: ReadonlyArray<string>) => tokens.join("").length
  return { start: lengthOf(own.slice(0, first)), end: lengthOf(own.slice(own.length - last)) }
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
              <Side
                sign="−"
                label="Old value"
                look="text-bad"
                marked="bg-bad/20"
                value={change.old}
                other={change.new}
              />
              <Side
                sign="+"
                label="New value"
                look="text-ok"
                marked="bg-ok/20"
                value={change.new}
                other={change.old}
              />
            </>
          )}
        </div>
      ))}
    </dl>
  )

/** Shows a value and marks the part that differs from the other value. */
const Side = ({
  label,
  look,
  marked,
  other,
  sign,
  value
}: {
  readonly sign: string
  readonly label: string
  readonly look: string
  readonly marked: string
  readonly value: unknown
  readonly other: unknown
}): ReactNode => {
  if (isNone(value)) return null
  const text = textOf(value)
  const { end, start } = equalEndsOf(text, isNone(other) ? undefined : textOf(other))
  const different = text.slice(start, text.length - end)
  return (
    <dd className="mt-1 flex min-w-0 gap-2 rounded-lg border border-line bg-sunken px-3 py-1.5">
      <span aria-hidden className={`font-mono text-sm select-none ${look}`}>
        {sign}
      </span>
      <span className="sr-only">{label}: </span>
      <pre className="max-h-60 min-w-0 grow overflow-auto font-mono text-sm break-words whitespace-pre-wrap">
        {/* If nothing is equal, a mark would say nothing. */}
        {start + end === 0 || different === "" ? (
          text
        ) : (
          <>
            {text.slice(0, start)}
            <mark className={`rounded-xs text-inherit ${marked}`}>{different}</mark>
            {text.slice(text.length - end)}
          </>
        )}
      </pre>
    </dd>
  )
}

const isNone = (value: unknown) => value === null || value === undefined

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (typeof value === "object" && value !== null && "sha256" in value && "bytes" in value) {
    return `${String(value.bytes)} bytes, too long for the log (SHA-256 ${String(value.sha256)})`
  }
  return JSON.stringify(value, null, 2)
}
