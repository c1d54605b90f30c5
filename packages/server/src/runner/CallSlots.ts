/**
 * Whoever shares something may hold this many times as much of it as is still free. So one alone gets
 * four fifths, two get four ninths each, and however many there are, a newcomer finds room. (Dynamic
 * thresholds, as switches share their buffers.)
 */
const threshold = 4

/** A call that goes on for so long is slow. */
const slowMs = 1_000

/** What is remembered of shares and targets whose calls have ended: the ones heard of last. */
const maxRemembered = 20_000

/** How long a share whose calls were slow is not taken for a newcomer. */
const rememberSlowMs = 10 * 60_000

/** What a target keeps however slow it is: its answers are how it gets more again. */
const leastOfTarget = 4

/**
 * Where places are free again at once, so many times as many calls may have slots: they are asked
 * about and made ready while others are under way.
 */
const quickAhead = 4

export interface SlotLimits {
  readonly slots: number
  /** Connections to one origin. */
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
  /** Halved each second that calls are slow, one more with each quick answer. */
  limit: number
  halvedAtMs: number
  answersQuickly: boolean
}

interface Slot {
  readonly share: number
  readonly target: string | null
  readonly sinceMs: number
  isSlow: boolean
  isQuick: boolean
}

/**
 * Who may have a call slot. Shares have dynamic thresholds, over all slots and at each target, and
 * slots are kept back, each kind from the one before it:
 *
 * 1. Targets that are slow, or that nothing is known of: half of the slots, less what unproven and
 *    slow calls hold already.
 * 2. Targets that answer quickly: all but one sixteenth.
 * 3. Shares that have no call at all and had no slow one lately: all of them.
 *
 * So calls that never end cannot take what others need, whatever they call, until they are spread
 * over as many shares as half of the slots.
 */
export class CallSlots {
  readonly #limits: SlotLimits
  readonly #shares = new Map<number, Share>()
  readonly #targets = new Map<string, Target>()
  /** In the order of their starts. */
  readonly #slots = new Map<string, Slot>()
  /** Those that may still turn out to be slow, in the same order. */
  readonly #young = new Map<string, Slot>()
  readonly #slowTargets = new Set<Target>()
  #slow = 0
  /** Neither slow nor to a target that answers quickly. */
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

  /** How many calls go on for long. */
  get slow(): number {
    return this.#slow
  }

  hasRoom(share: number, target: string | null, nowMs: number): boolean {
    if (this.free <= 0) return false
    const at = target === null ? undefined : this.#targets.get(target)
    if (at !== undefined && !this.#hasPlace(at, share)) return false
    const holder = this.#shares.get(share)
    if (isNewcomer(holder, nowMs)) return true
    if (at !== undefined && this.#isPressed && at.inSlots >= at.limit) return false
    return (holder?.inSlots ?? 0) < threshold * this.#roomFor(at)
  }

  /** Whether the share may have no slot, whatever it calls. */
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
      share,
      target,
      sinceMs: nowMs,
      isSlow: false,
      isQuick: at !== undefined && isQuick(at)
    }
    if (!slot.isQuick) this.#unproven++
    this.#slots.set(id, slot)
    this.#young.set(id, slot)
  }

  /** `answered`: the call had an end of its own, and was not cut off or given up. */
  vacate(id: string, nowMs: number, answered: boolean): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#young.delete(id)
    const holder = this.#shareOf(slot.share)
    holder.inSlots--
    const at = slot.target === null ? undefined : this.#targetOf(slot.target)
    if (at !== undefined) {
      at.inSlots--
      const left = (at.byShare.get(slot.share) ?? 1) - 1
      if (left === 0) at.byShare.delete(slot.share)
      else at.byShare.set(slot.share, left)
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

  /** Finds out which calls are slow by now. */
  watch(nowMs: number): void {
    for (const [id, slot] of this.#young) {
      if (slot.sinceMs > nowMs - slowMs) break
      this.#young.delete(id)
      slot.isSlow = true
      this.#slow++
      if (!slot.isQuick) this.#unproven--
      if (slot.target === null) continue
      const at = this.#targetOf(slot.target)
      at.slow++
      at.answersQuickly = false
      this.#slowTargets.add(at)
    }
    for (const at of this.#slowTargets) {
      if (at.slow === 0) this.#slowTargets.delete(at)
      else if (at.halvedAtMs <= nowMs - slowMs) {
        at.halvedAtMs = nowMs
        at.limit = Math.max(leastOfTarget, Math.floor(at.limit / 2))
      }
    }
  }

  /** Shares that have slots or had slow calls lately. */
  shares(): IterableIterator<number> {
    return this.#shares.keys()
  }

  /** What all but newcomers may have. */
  get #open(): number {
    return this.#limits.slots - Math.floor(this.#limits.slots / 16)
  }

  get #isPressed(): boolean {
    return this.#slow >= this.#limits.slots / 4
  }

  #hasPlace(at: Target, share: number): boolean {
    const ahead = isQuick(at) ? quickAhead : 1
    const places = ahead * this.#limits.perTarget - at.inSlots
    return places > 0 && (at.byShare.get(share) ?? 0) < threshold * places
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
