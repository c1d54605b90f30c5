import { Schema } from "effect"
import type { Kind } from "../Kind.ts"
import { mailOf } from "../mailOf.ts"
import { word } from "../kindFields.ts"

/** One address a channel, so that what bounces or unsubscribes is it alone. */
export const email: Kind = {
  kind: "email",
  title: "Email",
  config: Schema.Struct({
    to: word(
      "The address",
      "ops@example.com",
      /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}$/,
      254
    )
  }),
  secrets: [],
  target: ["to"],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ to }, message, { link, mail }) => mail(mailOf(to, message, link("unsubscribe")))
}
