import { dayMs, isSameText, type KeyRing, mac } from "../../core/index.ts"

/** After this time the link in a message no longer works. */
const validDays = 7

/** What the token of a link says, once its MAC is checked. */
export interface AcknowledgeToken {
  readonly incidentId: string
  readonly channelId: string
  readonly expiresMs: number
}

const tokenOf = (key: KeyRing[0], { channelId, expiresMs, incidentId }: AcknowledgeToken): string =>
  [
    incidentId,
    channelId,
    expiresMs,
    mac(key, ["acknowledge", incidentId, channelId, expiresMs].join(" "))
  ].join(".")

/** Creates the link with which the recipients of a message acknowledge its incident. */
export const acknowledgeLink = (
  ring: KeyRing,
  publicUrl: string,
  incidentId: string,
  channelId: string,
  sentAt: Date
): string => {
  const expiresMs = sentAt.getTime() + validDays * dayMs
  const token = tokenOf(ring[0], { incidentId, channelId, expiresMs })
  return `${publicUrl}/notifications/acknowledge/${token}`
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
const shape = new RegExp(`^(${uuid})\\.(${uuid})\\.(\\d{1,15})\\.[\\w-]{43}$`)

/** Returns the content of a token, or undefined if it is forged or has expired. */
export const readAcknowledgeToken = (
  ring: KeyRing,
  token: string,
  now: Date
): AcknowledgeToken | undefined => {
  const [, incidentId = "", channelId = "", end = ""] = shape.exec(token) ?? []
  if (incidentId === "") return undefined
  const content = { incidentId, channelId, expiresMs: Number(end) }
  const isSigned = ring.some((key) => isSameText(tokenOf(key, content), token))
  return isSigned && content.expiresMs > now.getTime() ? content : undefined
}
