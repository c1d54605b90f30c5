const second = 1000
const day = 86_400_000

/** A period, from `start` (inclusive) to `end` (exclusive), in which a zone has one UTC offset. */
export interface OffsetPeriod {
  readonly start: number
  readonly end: number
  readonly offset: number
  /**
   * How far clocks sprang forward at `start`. The local times in between did not exist. Usually 0.
   */
  readonly skipped: number
  /** The instant until which clocks repeat local times from before `start`. */
  readonly repeatsUntil: number
}

/**
 * Time is divided into blocks, so that clock changes are only computed for the blocks that are
 * used.
 */
const blockLength = 400 * day

/**
 * Sampling at this distance finds every change, because no two changes since 1970 were within 7
 * days (America/Recife 2000).
 */
const sampleDistance = 6 * day

/**
 * A block also looks for changes this long before its start, which is more than the largest change
 * (Kwajalein 1969).
 */
const lookBack = 2 * day

/** More than the number of names in the IANA database. */
const maxZones = 700
const maxBlocksOfZone = 32

const blocksOfZones = new Map<string, Map<number, ReadonlyArray<OffsetPeriod>>>()

/**
 * Returns the period that contains an instant. A period also ends at the end of a block, even
 * without a clock change.
 */
export const offsetPeriodAt = (timezone: string, instant: number): OffsetPeriod => {
  const number = Math.floor(instant / blockLength)
  const block = blocksOfZones.get(timezone)?.get(number) ?? loadBlock(timezone, number)
  for (const period of block) {
    if (instant < period.end) return period
  }
  throw new RangeError(`${instant} is not a time`)
}

/** Loads a block. Takes about 100 µs, once per zone and block. */
const loadBlock = (timezone: string, number: number): ReadonlyArray<OffsetPeriod> => {
  const offsetAt = offsetsOf(timezone)
  const start = number * blockLength
  const block = offsetPeriodsBetween(start, start + blockLength, offsetAt)
  if (blocksOfZones.size >= maxZones) blocksOfZones.clear()
  const blocks = blocksOfZones.get(timezone) ?? new Map<number, ReadonlyArray<OffsetPeriod>>()
  if (blocks.size >= maxBlocksOfZone) blocks.clear()
  blocks.set(number, block)
  blocksOfZones.set(timezone, blocks)
  return block
}

/**
 * Returns the periods from `from` (inclusive) to `to` (exclusive). The first and the last period
 * are trimmed to this range.
 */
export const offsetPeriodsBetween = (
  from: number,
  to: number,
  offsetAt: (instant: number) => number
): ReadonlyArray<OffsetPeriod> => {
  const stretches: Array<OffsetPeriod> = []
  let start = from - lookBack
  let offset = offsetAt(start)
  let skipped = 0
  let repeatsUntil = start
  const close = (end: number): void => {
    if (end > from) {
      const cut = start < from
      stretches.push({
        start: cut ? from : start,
        end,
        offset,
        skipped: cut ? 0 : skipped,
        repeatsUntil
      })
    }
  }
  for (let sample = start; sample < to - 1;) {
    const previous = sample
    sample = Math.min(sample + sampleDistance, to - 1)
    const next = offsetAt(sample)
    if (next !== offset) {
      const change = changeBetween(previous, sample, offset, offsetAt)
      close(change)
      start = change
      skipped = Math.max(0, next - offset)
      repeatsUntil = change + Math.max(0, offset - next)
      offset = next
    }
  }
  close(to)
  return stretches
}

/** Returns the first instant with a different offset. Changes happen on whole seconds. */
const changeBetween = (
  from: number,
  to: number,
  offset: number,
  offsetAt: (instant: number) => number
): number => {
  let before = Math.floor(from / second)
  let after = Math.ceil(to / second)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle * second) === offset) before = middle
    else after = middle
  }
  return after * second
}

/** A formatter takes tens of kB and 50 µs to create, so only the latest is cached. */
let lastFormatter: readonly [timezone: string, formatter: Intl.DateTimeFormat] | undefined

const offsetsOf = (timezone: string): ((instant: number) => number) => {
  if (lastFormatter?.[0] !== timezone) {
    const options = { timeZone: timezone, timeZoneName: "longOffset", hour: "numeric" } as const
    lastFormatter = [timezone, new Intl.DateTimeFormat("en-US", options)]
  }
  const formatter = lastFormatter[1]
  return (instant) => parseOffset(formatter.format(instant))
}

/**
 * Parses the end of "1 PM GMT+05:45". UTC may appear as plain "GMT", and historical offsets include
 * seconds.
 */
const parseOffset = (text: string): number => {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)
  if (match === null) throw new Error(`no offset in ${JSON.stringify(text)}`)
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match
  const size = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  return (sign === "-" ? -size : size) * second
}
