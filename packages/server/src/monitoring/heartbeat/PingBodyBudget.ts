import { Context } from "effect"
import { AccountRateLimits } from "../../http/index.ts"
import { dayMs } from "../../core/index.ts"
import type { PingDetails } from "./heartbeatEvents.ts"

/**
 * How many bytes of ping bodies this node stores per day, for each workspace and for each account.
 */
export const PingBodyLimits = Context.Reference<{
  readonly each: number
  readonly account: number
}>("@scheduling/server/monitoring/heartbeat/PingBodyLimits", {
  defaultValue: () => ({ each: 100_000_000, account: 400_000_000 })
})

/** The workspace that stores a body, and the lane that identifies its account. */
export interface PingBodyOwner {
  readonly workspace_id: string
  readonly lane: bigint
}

/**
 * Limits the stored ping bodies, because anybody with a ping URL can send them. The workspace that
 * a ping belongs to is known only after the ping was written, so a body is charged afterwards. Once
 * a workspace has exceeded its budget, the bodies of further pings are dropped.
 */
export class PingBodyBudget {
  readonly #rates: AccountRateLimits
  readonly #overdrawnUntil = new Map<string, number>()

  constructor(limits: Context.Service.Shape<typeof PingBodyLimits>) {
    this.#rates = new AccountRateLimits(limits, dayMs)
  }

  overdrawn(nowMs: number): ReadonlySet<string> {
    for (const [workspaceId, until] of this.#overdrawnUntil) {
      if (until <= nowMs) this.#overdrawnUntil.delete(workspaceId)
    }
    return new Set(this.#overdrawnUntil.keys())
  }

  /** Charges the body to the ping's workspace, or drops the body if the budget is used up. */
  keep(owner: PingBodyOwner, details: PingDetails, nowMs: number): PingDetails {
    if ((this.#overdrawnUntil.get(owner.workspace_id) ?? 0) > nowMs) return withoutBody(details)
    this.charge(owner, details, nowMs)
    return details
  }

  /** Charges a body that has already been stored. */
  charge({ lane, workspace_id }: PingBodyOwner, { body }: PingDetails, nowMs: number): void {
    if (body === undefined) return
    const forMs = this.#rates.charge(workspace_id, lane, nowMs, Buffer.byteLength(body))
    if (forMs > 0) this.#overdrawnUntil.set(workspace_id, nowMs + forMs)
  }
}

const withoutBody = ({ body, ...details }: PingDetails): PingDetails =>
  body === undefined ? details : { ...details, body_dropped: true }
