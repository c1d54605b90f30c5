import { dayMs, isSameText, type KeyRing, mac } from "../../core/index.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import type { MailLinkPurpose } from "../kinds/ChannelKind.ts"

type Addressed = Pick<ChannelRow, "id" | "config">

/** How many days a confirmation link is valid. It must not work for the mailbox's later owner. */
const confirmDays = 7

/** Returns the link's expiry in milliseconds since 1970. Unsubscribe links never expire. */
const expiryOf = (what: MailLinkPurpose, sentAt: Date): string =>
  what === "confirm" ? `${sentAt.getTime() + confirmDays * dayMs}` : ""

/**
 * Creates the token for a link, which only the email's recipient knows. It becomes invalid when the
 * channel's address changes.
 */
const tokenOf = (
  key: KeyRing[0],
  what: MailLinkPurpose,
  { config, id }: Addressed,
  end: string
): string =>
  [
    id,
    ...(end === "" ? [] : [end]),
    mac(key, [what, id, String(config["to"]), end].join(" "))
  ].join(".")

/** Creates the link with which the recipient of an email confirms or unsubscribes the address. */
export const mailLinkTo = (
  ring: KeyRing,
  publicUrl: string,
  what: MailLinkPurpose,
  channel: Addressed,
  sentAt: Date
): string =>
  `${publicUrl}/notifications/${what}/${tokenOf(ring[0], what, channel, expiryOf(what, sentAt))}`

const shape =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.(\d{1,15}))?\.[\w-]{43}$/

/** Returns the channel id that a token contains. Returns undefined if the token is malformed. */
export const channelIdOfToken = (token: string): string | undefined => shape.exec(token)?.[1]

export const checkMailLinkToken = (
  ring: KeyRing,
  what: MailLinkPurpose,
  token: string,
  channel: Addressed,
  now: Date
): "valid" | "expired" | "invalid" => {
  const end = shape.exec(token)?.[2] ?? ""
  if ((what === "confirm") !== (end !== "")) return "invalid"
  if (!ring.some((key) => isSameText(tokenOf(key, what, channel, end), token))) return "invalid"
  return end !== "" && Number(end) <= now.getTime() ? "expired" : "valid"
}
