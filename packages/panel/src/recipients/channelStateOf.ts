import type { NotificationRecipient } from "@scheduling/sdk"
import type { Tone } from "../ui/values/Status.tsx"

/** Describes whether messages sent to a channel arrive. */
export const channelStateOf = ({
  confirmed,
  last_delivery,
  paused,
  paused_reason
}: Pick<NotificationRecipient, "confirmed" | "last_delivery" | "paused" | "paused_reason">): {
  readonly word: string
  readonly tone: Tone
  readonly note?: string | null
} => {
  if (paused) {
    return { word: "Paused", tone: paused_reason === null ? "none" : "bad", note: paused_reason }
  }
  if (!confirmed) {
    return { word: "Unconfirmed", tone: "warn", note: "Its address has not been confirmed yet." }
  }
  if (last_delivery === null) return { word: "Not used yet", tone: "none" }
  return last_delivery.delivered
    ? { word: "Delivers", tone: "ok" }
    : { word: "Fails", tone: "bad", note: last_delivery.error }
}
