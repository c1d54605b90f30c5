import { timingSafeEqual } from "node:crypto"
import { type KeyRing, mac } from "../../platform/Secrets.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import type { MailLink } from "../Kind.ts"

type Addressed = Pick<ChannelRow, "id" | "config">

/** What only the receiver of a mail to this address has: it ends when the address changes. */
const tokenOf = (key: KeyRing[0], what: MailLink, { config, id }: Addressed): string =>
  `${id}.${mac(key, [what, id, String(config["to"])].join(" "))}`

export const linkTo = (
  ring: KeyRing,
  publicUrl: string,
  what: MailLink,
  channel: Addressed
): string => `${publicUrl}/notifications/${what}/${tokenOf(ring[0], what, channel)}`

/** The id of the channel that a link is about, if it looks like one. */
export const channelOfToken = (token: string): string | undefined =>
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.[\w-]{43}$/.exec(token)?.[1]

export const isTokenOf = (
  ring: KeyRing,
  what: MailLink,
  token: string,
  channel: Addressed
): boolean => ring.some((key) => isSame(tokenOf(key, what, channel), token))

const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
