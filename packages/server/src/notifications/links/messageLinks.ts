import { isSameText, type KeyRing, mac } from "../../core/index.ts"

/** What a message's recipients can do with its link. */
export type MessageLinkPurpose = "approve" | "incident"

/** The content of a link's token, after its MAC was verified. */
export interface LinkToken {
  /** The id of the incident or the execution. */
  readonly subjectId: string
  readonly channelId: string
  readonly expiresMs: number
}

const tokenOf = (
  key: KeyRing[0],
  purpose: MessageLinkPurpose,
  { channelId, expiresMs, subjectId }: LinkToken
): string =>
  [
    subjectId,
    channelId,
    expiresMs,
    mac(key, [purpose, subjectId, channelId, expiresMs].join(" "))
  ].join(".")

/**
 * Creates a link for the recipients of a channel's message. Its token is valid only for this
 * purpose.
 */
export const messageLink = (
  ring: KeyRing,
  publicUrl: string,
  purpose: MessageLinkPurpose,
  content: LinkToken
): string => `${publicUrl}/notifications/${purpose}/${tokenOf(ring[0], purpose, content)}`

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
const shape = new RegExp(`^(${uuid})\\.(${uuid})\\.(\\d{1,15})\\.[\\w-]{43}$`)

/** Returns a token's content, or undefined if the token is forged or has expired. */
export const readLinkToken = (
  ring: KeyRing,
  purpose: MessageLinkPurpose,
  token: string,
  now: Date
): LinkToken | undefined => {
  const [, subjectId = "", channelId = "", end = ""] = shape.exec(token) ?? []
  if (subjectId === "") return undefined
  const content = { subjectId, channelId, expiresMs: Number(end) }
  const isSigned = ring.some((key) => isSameText(tokenOf(key, purpose, content), token))
  return isSigned && content.expiresMs > now.getTime() ? content : undefined
}
