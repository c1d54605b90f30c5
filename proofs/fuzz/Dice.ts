/** Random choices determined by a seed. */
export interface Dice {
  /** Returns an integer from 0 to `count - 1`. */
  readonly below: (count: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(list: readonly [A, ...Array<A>]) => A
  /** Returns one item of the list, favouring later items. Undefined if the list is empty. */
  readonly pickLate: <A>(list: ReadonlyArray<A>) => A | undefined
  /**
   * Returns independent dice that depend only on the seed and the label, regardless of earlier
   * rolls.
   */
  readonly fork: (label: string | number) => Dice
}

export const diceFrom = (seed: string): Dice => {
  let state = hash(seed)
  const roll = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(roll() * count)
  return {
    below,
    chance: (probability) => roll() < probability,
    pick: (list) => list[below(list.length)] ?? list[0],
    pickLate: (list) => list[list.length - 1 - Math.floor(roll() ** 2 * list.length)],
    fork: (label) => diceFrom(`${seed}/${label}`)
  }
}

/** Hashes a string with FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return value
}
