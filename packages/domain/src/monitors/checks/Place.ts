import { Schema } from "effect"
import { oneOf } from "../../shared/oneOf.ts"
import { deriveOptions } from "../../shared/deriveOptions.ts"
import { RequiredLabels } from "../../workers/Label.ts"
import { Check } from "./Check.ts"

export const maxPlaces = 10

export const PlaceInput = Schema.Struct({ labels: RequiredLabels }).annotate({
  identifier: "PlaceInput",
  description: "A place from which a target is checked: an online worker with all these labels.",
  examples: [{ labels: ["frankfurt"] }]
})

export const Place = Schema.Struct({
  labels: Schema.Array(Schema.String).annotate({
    description: "The labels that the worker must have."
  })
}).annotate({ identifier: "Place", examples: [{ labels: ["frankfurt"] }] })
export type Place = typeof Place.Type

export const DownWhen = oneOf(["any", "majority", "all"], {
  identifier: "DownWhen",
  description:
    "The number of `places` at which a check must fail to count as failed. `any`: at one or more. " +
    "`majority`: at more than half. `all`: at each. Places that are `unknown` are ignored. If all of them are, the check does not count."
})
export type DownWhen = typeof DownWhen.Type

/** The settings that choose from where a target is checked. */
export const placeSettings = deriveOptions({
  places: {
    absent: "The service itself",
    input: Schema.NullOr(
      Schema.Array(PlaceInput).check(Schema.isBetweenLength(1, maxPlaces))
    ).annotate({
      description:
        "From where the target is checked: by one worker for each place, at the same time. With " +
        "`places`, the target can have a private address: each worker decides which addresses " +
        `it calls. At most ${maxPlaces}.`,
      examples: [[{ labels: ["frankfurt"] }, { labels: ["london"] }, { labels: ["oslo"] }]]
    }),
    shown: Schema.NullOr(Schema.Array(Place)).annotate({
      description: "From where the target is checked. Null: from the service itself.",
      examples: [null]
    }),
    default: null
  },
  down_when: { absent: "majority", input: DownWhen, shown: DownWhen, default: "majority" }
})

export const PlaceStatus = oneOf(["up", "down", "unknown"], {
  identifier: "PlaceStatus",
  description:
    "`up`: the latest check from here succeeded. `down`: it failed. `unknown`: there was no " +
    "result, because there was no worker or it did not respond."
})
export type PlaceStatus = typeof PlaceStatus.Type

export const PlaceResult = Schema.Struct({
  labels: Schema.Array(Schema.String).annotate({ description: "The labels of the place." }),
  status: PlaceStatus,
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Why the place is `down` or `unknown`, as a sentence. Null if it is `up`.",
    examples: ["No online worker has these labels."]
  }),
  worker: Schema.NullOr(Schema.String).annotate({
    description: "The name of the worker that was asked last. Null if there was none.",
    examples: ["Office"]
  }),
  checked_at: Schema.NullOr(Check.fields.at).annotate({
    description: "When the status of the place was determined. Null before the first check."
  }),
  last_check: Schema.NullOr(Check).annotate({
    description:
      "The latest result of a check from here. Older than `checked_at` if the status is `unknown`."
  })
}).annotate({
  identifier: "PlaceResult",
  examples: [
    {
      labels: ["frankfurt"],
      status: "unknown",
      reason: "No online worker has these labels.",
      worker: null,
      checked_at: "2026-01-31T09:30:00.000Z",
      last_check: null
    }
  ]
})
export type PlaceResult = typeof PlaceResult.Type
