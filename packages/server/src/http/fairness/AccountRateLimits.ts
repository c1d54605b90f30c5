import { RateLimits, type RateLimitState } from "./RateLimits.ts"

/**
 * Limits the rate of each credential or workspace, and of its account as a whole, because
 * workspaces are free and each may have many credentials.
 */
export class AccountRateLimits {
  readonly #each: RateLimits
  readonly #accounts: RateLimits<bigint>

  constructor(limits: { readonly each: number; readonly account: number }, windowMs?: number) {
    this.#each = new RateLimits(limits.each, windowMs)
    this.#accounts = new RateLimits(limits.account, windowMs)
  }

  /**
   * Takes from both buckets, and returns the state of the one that has less left. The account's
   * bucket comes last, so that a rejected request of one credential takes nothing from the
   * account's other credentials.
   */
  take(id: string, lane: bigint, nowMs: number, amount = 1): RateLimitState {
    const own = this.#each.take(id, nowMs, amount)
    if (own.isOver) return own
    const ofAccount = this.#accounts.take(lane, nowMs, amount)
    return ofAccount.isOver || ofAccount.remaining < own.remaining ? ofAccount : own
  }

  /**
   * Charges the amount to both buckets. Returns how many milliseconds pass until neither is
   * overdrawn.
   */
  charge(id: string, lane: bigint, nowMs: number, amount: number): number {
    return Math.max(
      this.#each.charge(id, nowMs, amount),
      this.#accounts.charge(lane, nowMs, amount)
    )
  }
}
