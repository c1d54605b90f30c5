import type { ChannelRow } from "../channels/ChannelsRepo.ts"
import type { Fields } from "../channels/ChannelSecrets.ts"
import type { ChannelResult } from "../Kind.ts"
import type { ToldEvent } from "../Message.ts"

/** A channel that this node may send to until the lease ends, and what it has to send. */
export interface Claimed {
  readonly channel: ChannelRow & {
    readonly lease: string
    readonly share: number
    readonly failures: number
    readonly window_ms: number
    readonly sent_at: Date | null
    readonly workspace_name: string
    readonly group_seconds: number | null
  }
  readonly delivery: ClaimedDelivery
}

export interface ClaimedDelivery {
  readonly id: string
  readonly channel_id: string
  readonly begun: number
  readonly ended: number
  readonly other: number
  readonly shown: ReadonlyArray<ToldEvent>
  readonly incident_key: string | null
  readonly attempts_count: number
  readonly give_up_at: Date
  readonly created_at: Date
}

/** What is to be written about an attempt. The fence: the lease of the channel still holds. */
export interface Outcome {
  readonly channel: Claimed["channel"]
  readonly delivery: ClaimedDelivery
  readonly verdict: ChannelResult
  readonly status: "delivered" | "failed" | "queued"
  /** When it is tried again. */
  readonly due_at: Date
  /** Nothing at all is sent to the channel before. */
  readonly held_until: Date
  readonly failures: number
  readonly window_ms: number
  readonly changes: Fields
  readonly now: Date
}
