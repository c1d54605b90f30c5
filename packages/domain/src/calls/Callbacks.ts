import { Schema } from "effect"
import { deriveRareOptions } from "../shared/deriveOptions.ts"
import { CallUrl } from "./CallUrl.ts"

export const Callback = Schema.Struct({
  url: CallUrl.pipe(
    Schema.annotateEncoded({
      description: "The URL to call. Must use `http` or `https`.",
      examples: ["https://api.example.com/hooks/scheduling"]
    })
  )
}).annotate({
  identifier: "Callback",
  description:
    "The URL that receives the result of a run: a POST with the same JSON as a webhook " +
    "channel, signed with the `message_secret` of the URL's origin and retried like " +
    "notifications.",
  examples: [{ url: "https://api.example.com/hooks/scheduling" }]
})
export type Callback = typeof Callback.Type

/** A task's callbacks in requests and responses. Null in a request removes a callback. */
export const callbacks = deriveRareOptions({
  on_failure: {
    absent: "No callback",
    input: Schema.NullOr(Callback).annotate({
      description: "Receives each run that has failed after all its attempts."
    }),
    shown: Schema.NullOr(Callback).annotate({
      description:
        "Receives each run that has failed after all its attempts. Null if there is none."
    })
  },
  on_success: {
    absent: "No callback",
    input: Schema.NullOr(Callback).annotate({
      description: "Receives each run that has succeeded."
    }),
    shown: Schema.NullOr(Callback).annotate({
      description: "Receives each run that has succeeded. Null if there is none."
    })
  }
})

/** Only the callbacks that are set, as they are stored. */
export type Callbacks = { readonly [Name in keyof typeof callbacks.fields]?: Callback }
