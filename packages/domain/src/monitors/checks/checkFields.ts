import { Schema } from "effect"
import { deriveOptions } from "../../shared/deriveOptions.ts"
import { Check } from "./Check.ts"
import { PlaceResult, placeSettings } from "./Place.ts"

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const rules = deriveOptions({
  interval_seconds: {
    absent: "60",
    input: whole(10, 86_400).annotate({
      description: "Number of seconds between two checks.",
      examples: [60]
    }),
    shown: Schema.Int.annotate({ description: "Number of seconds between two checks." }),
    default: 60
  },
  timeout_seconds: {
    absent: "10",
    input: whole(1, 60).annotate({
      description: "The timeout of one check.",
      examples: [10]
    }),
    shown: Schema.Int.annotate({ description: "The timeout of one check." }),
    default: 10
  },
  confirm_after: {
    absent: "2",
    input: whole(1, 10).annotate({
      description:
        "The number of consecutive failed checks after which the monitor is `down`. After the " +
        "first failure, the next check follows within seconds.",
      examples: [2]
    }),
    shown: Schema.Int.annotate({
      description: "The number of consecutive failed checks after which the monitor is `down`."
    }),
    default: 2
  },
  recover_after: {
    absent: "1",
    input: whole(1, 10).annotate({
      description:
        "The number of consecutive successful checks after which a monitor that is " +
        "down is `up`.",
      examples: [1]
    }),
    shown: Schema.Int.annotate({
      description:
        "The number of consecutive successful checks after which a monitor that is " +
        "down is `up`."
    }),
    default: 1
  }
})

/** The settings of all kinds of monitors whose targets are checked periodically. */
export const checkSettings = {
  input: { ...rules.input, ...placeSettings.input },
  fields: { ...rules.fields, ...placeSettings.fields },
  defaults: { ...rules.defaults, ...placeSettings.defaults }
}

/** The response fields about a monitor's checks. */
export const checkFields = {
  ...checkSettings.fields,
  failures: Schema.Int.annotate({
    description: "The number of consecutive failed checks. 0 if the latest check succeeded."
  }),
  last_check: Schema.NullOr(Check).annotate({
    description:
      "The latest check. Null before the first one. With `places`, its error and times are those of one of the places that determined the result."
  }),
  place_results: Schema.Array(PlaceResult).annotate({
    description:
      "The latest result at each of the `places`, in the same order. Empty without `places`."
  })
}

/** The endpoint descriptions for all kinds of monitors whose targets are checked periodically. */
export const checkedMonitorDescriptions = {
  get: "The monitor, with the result of the latest check.",
  pause: "The target is not checked until the monitor is resumed.",
  resume: "The monitor is `new` again, and the target is checked immediately.",
  events:
    "Checks, newest first, kept for 30 days by default. Includes every check that failed or " +
    "changed the status, and one of the other checks every five minutes. All checks count in " +
    "`uptime` and `series`."
}
