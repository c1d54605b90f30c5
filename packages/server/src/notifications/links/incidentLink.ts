import { dayMs, type KeyRing } from "../../core/index.ts"
import { messageLink } from "./messageLinks.ts"

/** How many days the link in a message is valid. */
const validDays = 7

/** Creates the link with which a message's recipients acknowledge, snooze or close its incident. */
export const incidentLink = (
  ring: KeyRing,
  publicUrl: string,
  incidentId: string,
  channelId: string,
  sentAt: Date
): string =>
  messageLink(ring, publicUrl, "incident", {
    subjectId: incidentId,
    channelId,
    expiresMs: sentAt.getTime() + validDays * dayMs
  })
