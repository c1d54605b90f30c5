import { Schema } from "effect"
import { options } from "../../shared/options.ts"
import { Check } from "./Check.ts"

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The settings that all kinds with targets checked at an interval have. */
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

/** The response fields about the checks of a monitor. */
export const checkedFields = {
  ...checkSettings.fields,
  failures: Schema.Int.annotate({
    description: "The number of consecutive failed checks. 0 if the latest check succeeded."
  }),
  last_check: Schema.NullOr(Check).annotate({
    description: "The latest check. Null before the first one."
  })
}

/** The endpoint descriptions that all kinds with checks share. */
export const checkTexts = {
  get: "The monitor, with the result of the latest check.",
  pause: "The target is not checked until the monitor is resumed.",
  resume: "The monitor is `new` again, and the target is checked immediately.",
  events:
    "Checks, newest first, kept for 30 days by default. Includes every check that failed or " +
    "changed the status, and one of the other checks every five minutes. All checks count in " +
    "`uptime` and `series`."
}
