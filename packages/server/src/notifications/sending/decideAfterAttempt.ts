import { notificationSettingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { dayMs } from "../../core/index.ts"
import type { ChannelResult } from "../kinds/ChannelKind.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"

/** How long a delivery is retried after it first became due. */
export const deliveryRetryPeriodMs = dayMs

/** The fields of a delivery and its channel that determine retries. A callback has no channel. */
export interface AttemptedDelivery {
  readonly channel_kind: DeliveryKind
  /** The number of attempts, including the latest. */
  readonly attempts_count: number
  readonly give_up_at: Date
  /** The grouping interval in the workspace's settings. */
  readonly group_seconds: number | null
  /** The channel's number of consecutive failed attempts. */
  readonly failures: number
  /** How long events were grouped after the channel's latest message. */
  readonly window_ms: number
  /** When the channel's latest message was sent. */
  readonly sent_at: Date | null
}

/** The result of an attempt, and what it changes about the delivery and its channel. */
export interface AttemptOutcome {
  readonly result: ChannelResult
  readonly status: "delivered" | "failed" | "queued"
  /** When the delivery is retried. */
  readonly due_at: Date
  /** Nothing is sent to the channel before this time. */
  readonly held_until: Date
  readonly failures: number
  readonly window_ms: number
  readonly now: Date
}

/**
 * Decides from an attempt's result when the delivery is retried, and for how long nothing is sent
 * to its channel. A failing channel is retried with increasing delays, regardless of how many
 * deliveries wait for it. One rejected delivery delays other deliveries only briefly. `random` is a
 * number from 0 to 1.
 */
export const decideAfterAttempt = (
  delivery: AttemptedDelivery,
  result: ChannelResult,
  now: Date,
  random: number
): AttemptOutcome => {
  const { attempts_count, give_up_at, group_seconds, sent_at, window_ms } = delivery
  const { keepsIncidents, spacingMs } = channelKinds[delivery.channel_kind]
  const msFromNow = (ms: number) => new Date(now.getTime() + ms)

  if (result.outcome === "again") {
    const askedMs = result.after_seconds === null ? null : result.after_seconds * 1_000
    const failures = delivery.failures + 1
    const due_at = msFromNow(askedMs ?? deliveryRetryDelayMs(attempts_count, random))
    return {
      result,
      status: due_at < give_up_at ? "queued" : "failed",
      due_at,
      held_until: msFromNow(Math.max(askedMs ?? channelHoldMs(failures), spacingMs)),
      failures,
      window_ms,
      now
    }
  }
  const window = keepsIncidents
    ? 0
    : nextGroupingMs(group_seconds ?? notificationSettingsDefaults.group_seconds, {
        groupingMs: window_ms,
        quietForMs: sent_at === null ? null : now.getTime() - sent_at.getTime()
      })
  return {
    result,
    status: result.outcome === "delivered" ? "delivered" : "failed",
    due_at: now,
    held_until: msFromNow(Math.max(window, spacingMs)),
    failures: 0,
    window_ms: window,
    now
  }
}

const longestWaitMs = 30 * 60_000
const longestHoldMs = 5 * 60_000

/** Returns the delay before the next attempt. `random`, from 0 to 1, adds jitter. */
export const deliveryRetryDelayMs = (attempts: number, random: number): number =>
  Math.min(longestWaitMs, 2_000 * 2 ** Math.min(attempts - 1, 20)) * (0.8 + 0.4 * random)

/** Returns how long nothing is sent to a channel after consecutive failures. */
export const channelHoldMs = (failures: number): number =>
  Math.min(longestHoldMs, 1_000 * 2 ** Math.min(failures - 1, 20))

/**
 * Returns how long events are grouped after a message. The first period is short, so that the
 * second of many messages is sent soon. It doubles with each message, to keep the number of
 * messages low.
 */
export const nextGroupingMs = (
  groupSeconds: number,
  before: { readonly groupingMs: number; readonly quietForMs: number | null }
): number => {
  const longest = groupSeconds * 1_000
  const isQuiet = before.quietForMs === null || before.quietForMs > 2 * longest
  return isQuiet || before.groupingMs === 0
    ? longest / 10
    : Math.min(longest, before.groupingMs * 2)
}
