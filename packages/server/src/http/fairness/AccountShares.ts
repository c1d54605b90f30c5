/**
 * Divides a resource that accounts hold for a long time, such as open streams. An account may hold
 * at most a quarter of the free capacity. All accounts that were registered from one public address
 * together may hold at most the free capacity. A new account therefore always finds some capacity.
 */
export class AccountShares {
  held = 0
  readonly #accounts = new Map<bigint, number>()
  readonly #addresses = new Map<bigint, number>()
  readonly #all: number

  constructor(all: number) {
    this.#all = all
  }

  get free(): number {
    return this.#all - this.held
  }

  /** Returns true if the lane's account may hold one more unit of the resource. */
  mayHold(lane: bigint): boolean {
    const ofAccount = this.#accounts.get(lane) ?? 0
    const ofAddress = this.#addresses.get(addressOf(lane)) ?? 0
    return 4 * ofAccount < this.free && ofAddress < this.free
  }

  change(lane: bigint, by: 1 | -1): void {
    this.held += by
    changeHeld(this.#accounts, lane, by)
    changeHeld(this.#addresses, addressOf(lane), by)
  }
}

/**
 * Returns the upper half of a lane, which all accounts registered from one public address share.
 */
const addressOf = (lane: bigint): bigint => lane >> 32n

/** Changes the amount that a key holds. A key that holds nothing is removed. */
export const changeHeld = <Key>(held: Map<Key, number>, key: Key, by: number): void => {
  const count = (held.get(key) ?? 0) + by
  if (count === 0) held.delete(key)
  else held.set(key, count)
}
