/**
 * A share is the set of accounts that were registered from one IP address. It may hold this many
 * times as many slots as are free. A share that is alone therefore gets four fifths of the slots,
 * two shares get four ninths each, and a new share always finds a free slot. (Network switches
 * divide their buffers in the same way, with dynamic thresholds.)
 */
const threshold = 4

/** A call that takes this long is slow. */
const slowMs = 1_000

/**
 * The maximum number of shares, and of targets, that are remembered. If there are more, the oldest
 * without a call are forgotten.
 */
const maxRemembered = 20_000

/**
 * How long after the end of a slow call a share does not count as a newcomer, so that it cannot use
 * the reserved slots.
 */
const rememberSlowMs = 10 * 60_000

/**
 * The minimum number of slots of a slow target. It must not be 0, because only responses can raise
 * the limit of the target again.
 */
const minSlotsOfTarget = 4

/**
 * How many slots per connection the calls to a quick target may use. Calls without a connection
 * pass the start guard and are prepared while other calls are in progress.
 */
const quickAhead = 4

export interface SlotLimits {
  readonly slots: number
  /** Maximum number of connections to one origin. */
  readonly perTarget: number
}

interface Share {
  inSlots: number
  slowUntilMs: number
}

interface Target {
  inSlots: number
  slow: number
  readonly byShare: Map<number, number>
  /**
   * The maximum number of slots. It is halved each second in which calls are slow, and raised by
   * one with each quick response.
   */
  limit: number
  halvedAtMs: number
  answersQuickly: boolean
}

interface Slot {
  readonly holder: Share
  readonly share: number
  readonly at: Target | undefined
  readonly sinceMs: number
  isSlow: boolean
  isQuick: boolean
}

/**
 * Decides which calls get a slot. Shares have dynamic thresholds, for all slots together and for
 * the slots of each target. In addition, each kind of call leaves some slots to the kinds listed
 * after it:
 *
 * 1. Calls to slow or unknown targets may use half of the slots, minus the slots of unproven and
 *    slow calls.
 * 2. Calls to targets that respond quickly may use all but one sixteenth of the slots.
 * 3. Calls of shares that have no call in progress, and had no slow call lately, may use all slots.
 *
 * Calls that never finish can therefore take all slots only if they come from at least half as many
 * shares as there are slots, whatever their targets are.
 */
export class CallSlots {
  readonly #limits: SlotLimits
  readonly #shares = new Map<number, Share>()
  readonly #targets = new Map<string, Target>()
  /** The used slots by run, in the order in which the calls started. */
  readonly #slots = new Map<string, Slot>()
  /** Calls that may still turn out to be slow, in the same order. */
  readonly #young = new Map<string, Slot>()
  readonly #slowTargets = new Set<Target>()
  #slow = 0
  /** The number of calls that are not yet slow and whose target does not respond quickly. */
  #unproven = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#slots.size
  }

  get free(): number {
    return this.#limits.slots - this.#slots.size
  }

  get slow(): number {
    return this.#slow
  }

  hasRoom(share: number, target: string | null, nowMs: number): boolean {
    return this.roomOf(share, target, nowMs) > 0
  }

  /** Returns how many more calls of the share may have slots, if they all go to that target. */
  roomOf(share: number, target: string | null, nowMs: number): number {
    if (this.free <= 0) return 0
    const at = target === null ? undefined : this.#targets.get(target)
    const atTarget = target === null ? Infinity : this.#roomAt(at, share)
    if (atTarget <= 0) return 0
    const holder = this.#shares.get(share)
    const atLeast = isNewcomer(holder, nowMs) ? 1 : 0
    const untilLimit = at !== undefined && this.#isPressed ? at.limit - at.inSlots : Infinity
    const inSlots = slotsWithinThreshold(this.#roomFor(at), holder?.inSlots ?? 0)
    return Math.max(atLeast, Math.min(atTarget, untilLimit, inSlots))
  }

  /** Returns whether the share gets no slot, whatever the target. */
  isClosedTo(share: number, nowMs: number): boolean {
    if (this.free <= 0) return true
    const holder = this.#shares.get(share)
    if (isNewcomer(holder, nowMs)) return false
    return (holder?.inSlots ?? 0) >= threshold * (this.#open - this.taken)
  }

  occupy(id: string, share: number, target: string | null, nowMs: number): void {
    if (this.#slots.has(id)) return
    const holder = this.#shareOf(share)
    holder.inSlots++
    const at = target === null ? undefined : this.#targetOf(target)
    if (at !== undefined) {
      at.inSlots++
      at.byShare.set(share, (at.byShare.get(share) ?? 0) + 1)
    }
    const slot: Slot = {
      holder,
      share,
      at,
      sinceMs: nowMs,
      isSlow: false,
      isQuick: at !== undefined && isQuick(at)
    }
    if (!slot.isQuick) this.#unproven++
    this.#slots.set(id, slot)
    this.#young.set(id, slot)
  }

  /** Whether the target responded quickly when the call got its slot. */
  isQuick(id: string): boolean {
    return this.#slots.get(id)?.isQuick === true
  }

  /**
   * Frees the slot of a call. `answered` is true if the call finished by itself, and false if it
   * was aborted or given up.
   */
  vacate(id: string, nowMs: number, answered: boolean): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#young.delete(id)
    const { at, holder, share } = slot
    holder.inSlots--
    if (at !== undefined) {
      at.inSlots--
      const left = (at.byShare.get(share) ?? 1) - 1
      if (left === 0) at.byShare.delete(share)
      else at.byShare.set(share, left)
    }
    if (slot.isSlow) {
      this.#slow--
      holder.slowUntilMs = nowMs + rememberSlowMs
      if (at !== undefined) at.slow--
    } else {
      if (!slot.isQuick) this.#unproven--
      if (answered && at !== undefined) {
        at.answersQuickly = true
        at.limit = Math.min(this.#limits.perTarget, at.limit + 1)
      }
    }
    forgetOldest(this.#shares)
    forgetOldest(this.#targets)
  }

  /** Marks calls that have taken too long as slow. */
  watch(nowMs: number): void {
    for (const [id, slot] of this.#young) {
      if (slot.sinceMs > nowMs - slowMs) break
      this.#young.delete(id)
      slot.isSlow = true
      this.#slow++
      if (!slot.isQuick) this.#unproven--
      const { at } = slot
      if (at === undefined) continue
      at.slow++
      at.answersQuickly = false
      this.#slowTargets.add(at)
    }
    for (const at of this.#slowTargets) {
      if (at.slow === 0) this.#slowTargets.delete(at)
      else if (at.halvedAtMs <= nowMs - slowMs) {
        at.halvedAtMs = nowMs
        at.limit = Math.max(minSlotsOfTarget, Math.floor(at.limit / 2))
      }
    }
  }

  /** Shares that have slots or have recently had some. */
  shares(): IterableIterator<number> {
    return this.#shares.keys()
  }

  /** The number of slots that are not reserved for newcomers. */
  get #open(): number {
    return this.#limits.slots - Math.floor(this.#limits.slots / 16)
  }

  get #isPressed(): boolean {
    return this.#slow >= this.#limits.slots / 4
  }

  #roomAt(at: Target | undefined, share: number): number {
    const { perTarget } = this.#limits
    if (at === undefined) return slotsWithinThreshold(perTarget, 0)
    const places = (isQuick(at) ? quickAhead : 1) * perTarget - at.inSlots
    return slotsWithinThreshold(places, at.byShare.get(share) ?? 0)
  }

  #roomFor(at: Target | undefined): number {
    const open = this.#open - this.taken
    if (at !== undefined && isQuick(at)) return open
    return Math.min(open, this.#limits.slots / 2 - this.#slow - this.#unproven)
  }

  #shareOf(share: number): Share {
    let found = this.#shares.get(share)
    if (found === undefined) {
      found = { inSlots: 0, slowUntilMs: 0 }
      this.#shares.set(share, found)
    }
    return found
  }

  #targetOf(target: string): Target {
    let found = this.#targets.get(target)
    if (found === undefined) {
      found = {
        inSlots: 0,
        slow: 0,
        byShare: new Map(),
        limit: this.#limits.perTarget,
        halvedAtMs: Number.NEGATIVE_INFINITY,
        answersQuickly: false
      }
      this.#targets.set(target, found)
    }
    return found
  }
}

/**
 * Returns how many more slots a holder of `held` slots may get. Each of them reduces `free` by one.
 */
const slotsWithinThreshold = (free: number, held: number): number =>
  Math.ceil((threshold * free - held) / (threshold + 1))

const forgetOldest = <Key>(remembered: Map<Key, { readonly inSlots: number }>): void => {
  if (remembered.size <= maxRemembered) return
  for (const [key, { inSlots }] of remembered) {
    if (remembered.size <= maxRemembered / 2) return
    if (inSlots === 0) remembered.delete(key)
  }
}

const isNewcomer = (share: Share | undefined, nowMs: number): boolean =>
  share === undefined || (share.inSlots === 0 && share.slowUntilMs <= nowMs)

const isQuick = (target: Target): boolean => target.answersQuickly && target.slow === 0
