import { Schema } from "effect"
import { secret } from "../../shared/secret.ts"
import { Timestamp } from "../../shared/Timestamp.ts"

/**
 * A secret of the workspace. Ping URLs that contain it can refer to heartbeat monitors by their
 * keys.
 */
export const PingKey = Schema.Struct({
  ping_key: Schema.NullOr(
    secret("ping_key", {
      description: "The secret: 22 letters, digits, `-` and `_`.",
      examples: ["fqOOd6-F4MMNuCEnzTU01w"]
    })
  ).annotate({ description: "The secret. Null until the first rotation creates a key." }),
  ping_url: Schema.NullOr(
    secret("ping_url", {
      description: "The URL to which the key of a heartbeat is appended.",
      examples: ["https://scheduling.example.com/ping/fqOOd6-F4MMNuCEnzTU01w"]
    })
  ).annotate({
    description:
      "Append `/` and a heartbeat monitor's key, optionally followed by a signal such as `/start`. Null if there is no key."
  }),
  created_at: Schema.NullOr(Timestamp).annotate({ description: "When the key was created." })
}).annotate({
  identifier: "PingKey",
  description:
    "The ping key of a workspace. Anybody who has it can ping all heartbeat monitors that have a key."
})
export type PingKey = typeof PingKey.Type
