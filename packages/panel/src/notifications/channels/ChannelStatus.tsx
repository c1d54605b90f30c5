import type { NotificationChannel } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"

export const ChannelStatus = ({
  channel: { confirmed, paused, paused_reason }
}: {
  readonly channel: Pick<NotificationChannel, "confirmed" | "paused" | "paused_reason">
}) =>
  paused ? (
    <Status of="paused" tone={paused_reason === null ? "none" : "bad"} />
  ) : confirmed ? (
    <Status of="active" />
  ) : (
    <Status of="unconfirmed" tone="warn" />
  )
