import type { NotificationChannel } from "@scheduling/sdk"
import { Status } from "../../ui/values/Status.tsx"

export const ChannelState = ({
  channel: { confirmed, disabled_reason, enabled }
}: {
  readonly channel: Pick<NotificationChannel, "confirmed" | "disabled_reason" | "enabled">
}) =>
  !enabled ? (
    <Status of="disabled" tone={disabled_reason === null ? "none" : "bad"} />
  ) : confirmed ? (
    <Status of="active" />
  ) : (
    <Status of="unconfirmed" tone="warn" />
  )
