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
    "Where the result of a run is sent: a POST of the JSON that a webhook channel gets, " +
    "signed with the `message_secret` of its origin and retried like notifications.",
  examples: [{ url: "https://api.example.com/hooks/scheduling" }]
})
export type Callback = typeof Callback.Type

/** Null removes a callback. */
export const callbacks = rareOptions({
  on_failure: {
    absent: "No callback",
    input: Schema.NullOr(Callback).annotate({
      description: "Gets each run that failed, once all attempts are used."
    }),
    shown: Schema.NullOr(Callback).annotate({
      description: "Gets each run that failed, once all attempts are used. Null if nobody does."
    })
  },
  on_success: {
    absent: "No callback",
    input: Schema.NullOr(Callback).annotate({
      description: "Gets each run that succeeded."
    }),
    shown: Schema.NullOr(Callback).annotate({
      description: "Gets each run that succeeded. Null if nobody does."
    })
  }
})

/** The callbacks that are set, as they are stored. */
export type Callbacks = { readonly [Name in keyof typeof callbacks.fields]?: Callback }
