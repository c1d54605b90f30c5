import { dayMs, isSameText, type KeyRing, mac } from "../../core/index.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import type { MailLink } from "../kinds/Kind.ts"

type Addressed = Pick<ChannelRow, "id" | "config">

/** A confirmation link must not work for a later owner of the mailbox. */
const confirmDays = 7

/** The expiry in milliseconds since 1970. Links to unsubscribe never expire. */
const expiryOf = (what: MailLink, sentAt: Date): string =>
  what === "confirm" ? `${sentAt.getTime() + confirmDays * dayMs}` : ""

/**
 * Creates a token that only the recipient of a mail to this address knows. The token becomes
 * invalid when the address changes.
 */
const tokenOf = (key: KeyRing[0], what: MailLink, { config, id }: Addressed, end: string): string =>
  [
    id,
    ...(end === "" ? [] : [end]),
    mac(key, [what, id, String(config["to"]), end].join(" "))
  ].join(".")

export const linkTo = (
  ring: KeyRing,
  publicUrl: string,
  what: MailLink,
  channel: Addressed,
  sentAt: Date
): string =>
  `${publicUrl}/notifications/${what}/${tokenOf(ring[0], what, channel, expiryOf(what, sentAt))}`

const shape =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.(\d{1,15}))?\.[\w-]{43}$/

/** Returns the channel id in a token, if the token is well-formed. */
export const channelOfToken = (token: string): string | undefined => shape.exec(token)?.[1]

export const checkToken = (
  ring: KeyRing,
  what: MailLink,
  token: string,
  channel: Addressed,
  now: Date
): "valid" | "expired" | "invalid" => {
  const end = shape.exec(token)?.[2] ?? ""
  if ((what === "confirm") !== (end !== "")) return "invalid"
  if (!ring.some((key) => isSameText(tokenOf(key, what, channel, end), token))) return "invalid"
  return end !== "" && Number(end) <= now.getTime() ? "expired" : "valid"
}
