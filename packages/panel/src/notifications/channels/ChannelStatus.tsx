import type { NotificationChannel } from "@scheduling/sdk"
import { channelStateOf } from "../../recipients/channelStateOf.ts"
import { Status } from "../../ui/values/Status.tsx"

export const ChannelStatus = ({ channel }: { readonly channel: NotificationChannel }) => {
  const { tone, word } = channelStateOf(channel)
  return <Status of={word} tone={tone} />
}
