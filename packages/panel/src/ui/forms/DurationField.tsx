import { type ReactNode, useState } from "react"
import { Field, Input, Select } from "./Field.tsx"
import { type DurationLimits, durationRangeError, durationUnits } from "./spans.ts"

const unitOf = (seconds: number): string =>
  durationUnits.toReversed().find(([unit]) => seconds > 0 && seconds % Number(unit) === 0)?.[0] ??
  "60"

/** Returns a duration as it is shown: in the largest unit of which it is a multiple. */
const amountOf = (seconds: number | null) => {
  const unit = unitOf(seconds ?? 0)
  return { seconds, unit, text: seconds === null ? "" : String(seconds / Number(unit)) }
}

/**
 * Edits a duration as an amount and a unit. The value is in seconds, or null if the field is empty.
 */
export const DurationField = ({
  error,
  hint,
  isOptional = false,
  label,
  limits,
  onChange,
  value: seconds
}: {
  readonly label: string
  readonly hint?: ReactNode
  readonly error: string | undefined
  readonly value: number | null
  readonly onChange: (seconds: number | null) => void
  readonly isOptional?: boolean
  readonly limits: DurationLimits
}) => {
  const [typed, setTyped] = useState(() => amountOf(seconds))
  // The form may have taken over the value that another user saved.
  const { text, unit } = typed.seconds === seconds ? typed : amountOf(seconds)
  const change = (nextText: string, nextUnit: string) => {
    const next = nextText === "" ? null : Math.round(Number(nextText) * Number(nextUnit))
    setTyped({ seconds: next, text: nextText, unit: nextUnit })
    onChange(next)
  }
  return (
    <Field label={label} hint={hint} error={error}>
      <div className="flex gap-2">
        <Input
          refusal={durationRangeError(seconds, unit, limits)}
          type="number"
          step="any"
          required={!isOptional}
          value={text}
          onChange={({ target }) => change(target.value, unit)}
        />
        <Select
          id={undefined}
          aria-label={`${label}: unit`}
          options={durationUnits}
          value={unit}
          onChange={({ target }) => change(text, target.value)}
          className="shrink-0"
        />
      </div>
    </Field>
  )
}
