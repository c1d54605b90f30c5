import { MailAddress } from "@scheduling/domain/auth/emailAddress"
import { Schema } from "effect"
import type { Kind } from "./Kind.ts"
import { alertMail } from "./alertMail.ts"

/** One address a channel, so that what bounces or unsubscribes is it alone. */
export const email: Kind = {
  kind: "email",
  title: "Email",
  config: Schema.Struct({
    to: MailAddress({ description: "The address", examples: ["ops@example.com"] })
  }),
  secrets: [],
  target: ["to"],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ to }, message, { link, mail }) => mail(alertMail(to, message, link("unsubscribe")))
}
