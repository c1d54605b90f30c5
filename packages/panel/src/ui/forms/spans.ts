export const durationUnits = [
  ["1", "seconds"],
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"]
] as const

export interface DurationLimits {
  /** The bounds in seconds. */
  readonly min: number
  readonly max: number
}

/** Returns why a duration is out of range, in the field's unit. */
export const durationRangeError = (
  seconds: number | null,
  unit: string,
  { max, min }: DurationLimits
): string | undefined => {
  if (seconds === null) return undefined
  if (seconds < min) return `Enter at least ${inUnit(min, unit, Math.ceil)}.`
  return seconds > max ? `Enter at most ${inUnit(max, unit, Math.floor)}.` : undefined
}

/**
 * Converts seconds to the unit. `round` rounds to two decimals so that the result stays in range.
 */
const inUnit = (seconds: number, unit: string, round: (value: number) => number) => {
  const amount = round((seconds / Number(unit)) * 100) / 100
  const name = durationUnits.find(([known]) => known === unit)?.[1] ?? "seconds"
  return `${amount.toLocaleString("en")} ${amount === 1 ? name.slice(0, -1) : name}`
}
