import type { Claimed, Outcome } from "./Claimed.ts"
import { kinds } from "../kinds.ts"
import type { ChannelResult } from "../Kind.ts"
import { holdMs, waitMs, windowMs } from "./waits.ts"
import { settingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"

/**
 * What an attempt comes to: when the delivery is tried again, and how long its channel is left alone.
 * A channel that fails is asked less and less often, whatever waits for it, and a delivery that it
 * refuses alone holds up nothing else for long. `dice` is from 0 to 1.
 */
export const outcomeOf = (
  { channel, delivery }: Claimed,
  verdict: ChannelResult,
  now: Date,
  dice: number
): Outcome => {
  const kind = kinds[channel.kind]
  const at = (ms: number) => new Date(now.getTime() + ms)
  const groupSeconds = channel.group_seconds ?? settingsDefaults.group_seconds
  const asked = verdict.after_seconds === null ? null : verdict.after_seconds * 1_000
  const base = { channel, delivery, verdict, changes: verdict.changes ?? {}, now }

  if (verdict.outcome === "again") {
    const failures = channel.failures + 1
    const due_at = at(asked ?? waitMs(delivery.attempts_count, dice))
    return {
      ...base,
      status: due_at < delivery.give_up_at ? "queued" : "failed",
      due_at,
      held_until: at(Math.max(asked ?? holdMs(failures), kind.spacingMs)),
      failures,
      window_ms: channel.window_ms
    }
  }
  const gathers = windowMs(groupSeconds, {
    windowMs: channel.window_ms,
    quietForMs: channel.sent_at === null ? null : now.getTime() - channel.sent_at.getTime()
  })
  const window_ms = kind.keepsIncidents ? 0 : gathers
  return {
    ...base,
    status: verdict.outcome === "delivered" ? "delivered" : "failed",
    due_at: now,
    held_until: at(Math.max(window_ms, kind.spacingMs)),
    failures: 0,
    window_ms
  }
}
