import { Schema } from "effect"
import { rareOptions } from "../shared/options.ts"
import { CallUrl } from "./CallUrl.ts"

export const Callback = Schema.Struct({
  url: CallUrl.pipe(
    Schema.annotateEncoded({
      description: "The address that is called: `http` or `https`.",
      examples: ["https://api.example.com/hooks/scheduling"]
    })
  )
}).annotate({
  identifier: "Callback",
  description:
    "Where a run is told of once it has ended: a POST of the JSON that a webhook channel gets, " +
    "signed with the `message_secret` of its origin and retried like notifications.",
  examples: [{ url: "https://api.example.com/hooks/scheduling" }]
})
export type Callback = typeof Callback.Type

/** Null takes one away. */
export const callbacks = rareOptions({
  on_failure: {
    input: Schema.NullOr(Callback).annotate({
      description:
        "Told of each run that failed, once all attempts are used. None when absent or null."
    }),
    shown: Callback
  },
  on_success: {
    input: Schema.NullOr(Callback).annotate({
      description: "Told of each run that succeeded. None when absent or null."
    }),
    shown: Callback
  }
})

/** What a task has of the call-backs. */
export type Callbacks = Schema.Struct.Type<typeof callbacks.fields>
