import { Context } from "effect"
import { AccountRates } from "../../http/index.ts"
import { dayMs } from "../../core/index.ts"
import type { PingDetails } from "./outcome.ts"

/** How many bytes of ping bodies this node stores in a day. */
export const BodyLimits = Context.Reference<{ readonly each: number; readonly account: number }>(
  "@scheduling/server/monitoring/heartbeat/BodyLimits",
  { defaultValue: () => ({ each: 100_000_000, account: 400_000_000 }) }
)

/** The workspace that keeps the body, and the lane of its account. */
export interface BodyOwner {
  readonly workspace_id: string
  readonly lane: bigint
}

/**
 * Bounds the bodies that are stored, because a ping needs no credential but its URL. The workspace of
 * a ping is known only after it was written. So bodies are charged afterwards, and the bodies of a
 * workspace that has used up its budget are dropped.
 */
export class BodyBudget {
  readonly #rates: AccountRates
  readonly #overdrawnUntil = new Map<string, number>()

  constructor(limits: Context.Service.Shape<typeof BodyLimits>) {
    this.#rates = new AccountRates(limits, dayMs)
  }

  /** The workspaces whose bodies are not kept now. */
  overdrawn(nowMs: number): ReadonlySet<string> {
    for (const [workspaceId, until] of this.#overdrawnUntil) {
      if (until <= nowMs) this.#overdrawnUntil.delete(workspaceId)
    }
    return new Set(this.#overdrawnUntil.keys())
  }

  /** The part of a ping's body that is kept, charged to the ping's workspace. */
  keep(owner: BodyOwner, details: PingDetails, nowMs: number): PingDetails {
    if ((this.#overdrawnUntil.get(owner.workspace_id) ?? 0) > nowMs) return withoutBody(details)
    this.charge(owner, details, nowMs)
    return details
  }

  /** Charges a body that was kept. */
  charge({ lane, workspace_id }: BodyOwner, { body }: PingDetails, nowMs: number): void {
    if (body === undefined) return
    const forMs = this.#rates.charge(workspace_id, lane, nowMs, Buffer.byteLength(body))
    if (forMs > 0) this.#overdrawnUntil.set(workspace_id, nowMs + forMs)
  }
}

const withoutBody = ({ body, ...details }: PingDetails): PingDetails =>
  body === undefined ? details : { ...details, body_dropped: true }
