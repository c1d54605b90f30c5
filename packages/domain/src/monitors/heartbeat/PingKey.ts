import { Schema } from "effect"
import { secret } from "../../shared/secret.ts"
import { Timestamp } from "../../shared/Timestamp.ts"

/** The key of a workspace with which pings name heartbeats by their keys. */
export const PingKey = Schema.Struct({
  ping_key: Schema.NullOr(
    secret("ping_key", {
      description: "The secret: 22 letters, digits, `-` and `_`.",
      examples: ["fqOOd6-F4MMNuCEnzTU01w"]
    })
  ).annotate({ description: "The secret. Null until a key is created by rotating it." }),
  ping_url: Schema.NullOr(
    secret("ping_url", {
      description: "The URL to which the key of a heartbeat is appended.",
      examples: ["https://scheduling.example.com/ping/fqOOd6-F4MMNuCEnzTU01w"]
    })
  ).annotate({
    description:
      "Append `/`, the key of a heartbeat, and what a ping reports, such as `/start`. Null without a key."
  }),
  created_at: Schema.NullOr(Timestamp).annotate({ description: "When the key was created." })
}).annotate({
  identifier: "PingKey",
  description:
    "The ping key of a workspace. Anybody who has it can ping all heartbeats that have a key."
})
export type PingKey = typeof PingKey.Type
