import { Schema } from "effect"
import { options } from "../../shared/options.ts"
import { Check } from "./Check.ts"

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The settings of every kind whose targets the service checks at an interval. */
export const checkSettings = options({
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
      description: "How long one check may take. A longer one has failed.",
      examples: [10]
    }),
    shown: Schema.Int.annotate({ description: "How long one check may take." }),
    default: 10
  },
  confirm_after: {
    absent: "2",
    input: whole(1, 10).annotate({
      description:
        "How many checks in a row must fail before the monitor is `down`. After the first failure, the " +
        "next check follows within seconds.",
      examples: [2]
    }),
    shown: Schema.Int.annotate({
      description: "How many checks in a row must fail before the monitor is `down`."
    }),
    default: 2
  },
  recover_after: {
    absent: "1",
    input: whole(1, 10).annotate({
      description: "How many checks in a row must succeed before a monitor that is down is `up`.",
      examples: [1]
    }),
    shown: Schema.Int.annotate({
      description: "How many checks in a row must succeed before the monitor is `up` again."
    }),
    default: 1
  }
})

/** What an answer says about the checks. */
export const checkedFields = {
  ...checkSettings.fields,
  failures: Schema.Int.annotate({
    description: "How many checks in a row have failed. 0 if the latest one succeeded."
  }),
  last_check: Schema.NullOr(Check).annotate({
    description: "The latest check. Null before the first one."
  })
}

/** The texts of the endpoints that all kinds with checks have in common. */
export const checkTexts = {
  get: "The monitor, with the result of the latest check.",
  pause: "The target is not checked until the monitor is resumed.",
  resume: "The monitor is `new` again, and the target is checked at once.",
  events:
    "Checks, newest first, kept for 30 days by default. Each check that failed or changed the status is " +
    "there, and of the others one in five minutes. All of them count in `uptime` and `series`."
}
