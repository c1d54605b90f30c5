import { Schema } from "effect"
import { CallUrl } from "../calls/CallUrl.ts"
import { oneOf } from "../shared/oneOf.ts"
import { deriveRareOptions } from "../shared/deriveOptions.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { maxJitterSeconds } from "./jitterMs.ts"

const maxExcludedDays = 100

const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
  new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)

export const ExcludedDay = Schema.String.check(
  Schema.makeFilter(isDate, {
    expected: "a date such as 2026-12-24",
    toJsonSchema: () => ({ format: "date" })
  })
).annotate({ examples: ["2026-12-24"] })

export const OnPause = oneOf(["cancel", "finish"], {
  identifier: "OnPause",
  description:
    "What happens to runs when the task is paused. `cancel` cancels queued and running runs. `finish` lets runs that " +
    "have started finish, including retries and further steps, and cancels only scheduled " +
    "runs that have not started."
})
export type OnPause = typeof OnPause.Type

export const Precision = oneOf(["minute", "second"], {
  identifier: "Precision",
  description:
    "`minute`: the schedule has five fields. `second`: it may begin with a sixth field for seconds."
})
export type Precision = typeof Precision.Type

const excludedCalendarText =
  "The URL of an iCalendar file, read when it is saved and once a day. The schedule does not fire on days " +
  "with all-day events, in the schedule's time zone. If the file cannot be read later, the days " +
  "of the last good copy stay excluded."

const startsAt = "Slots before this time do not fire."
const endsAt = "Slots after this time do not fire."

export const ExcludedCalendar = Schema.Struct({
  url: Schema.String.annotate({ description: "The URL of the file." }),
  fetched_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the calendar was last read successfully. The excluded days are from that copy."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why later attempts to read the calendar failed. Null if none failed."
  }),
  days: Schema.Int.annotate({ description: "The number of excluded days in the next 400 days." })
}).annotate({
  identifier: "ExcludedCalendar",
  description: "The calendar of excluded days, and its status.",
  examples: [
    {
      url: "https://calendar.example.com/holidays.ics",
      fetched_at: "2026-01-31T09:30:00.000Z",
      error: null,
      days: 14
    }
  ]
})
export type ExcludedCalendar = typeof ExcludedCalendar.Type

/** The excluded calendar in a PUT. A calendar as returned by responses is accepted too. */
export const excludedCalendarPut = {
  excluded_calendar: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct(putFields({ url: CallUrl }, ExcludedCalendar)).annotate({
        identifier: "ExcludedCalendarDefinition"
      })
    ).annotate({ description: excludedCalendarText })
  )
}

/** Schedule options that few tasks use. Null in a request removes an option. */
export const firingOptions = deriveRareOptions({
  precision: {
    absent: "`minute`",
    input: Schema.NullOr(Precision).annotate({
      description:
        "`second` allows a sixth field for seconds at the start of the schedule. Firings must be at " +
        "least 5 seconds apart, and the number of such schedules per workspace is limited."
    }),
    shown: Precision,
    unset: "minute"
  },
  jitter_seconds: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxJitterSeconds }))
    ).annotate({
      description:
        "Each run starts up to this many seconds after its slot. The delay is derived from the id of " +
        "the task and the slot, so tasks with the same schedule do not start together. 0 means no jitter.",
      examples: [30]
    }),
    shown: Schema.Int.annotate({
      description: "The maximum delay of a run after its slot, in seconds. 0 means no jitter."
    }),
    unset: 0
  },
  starts_at: {
    absent: "None",
    input: Schema.NullOr(timestampInput(startsAt)),
    shown: Schema.NullOr(Timestamp).annotate({ description: `${startsAt} Null if there is none.` })
  },
  ends_at: {
    absent: "None",
    input: Schema.NullOr(timestampInput(endsAt)),
    shown: Schema.NullOr(Timestamp).annotate({ description: `${endsAt} Null if there is none.` })
  },
  excluded_days: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Array(ExcludedDay).check(Schema.isMaxLength(maxExcludedDays))
    ).annotate({
      description: "Dates on which the schedule does not fire, in its time zone. At most 100.",
      examples: [["2026-12-24", "2026-12-25"]]
    }),
    shown: Schema.Array(Schema.String).annotate({
      description: "Dates on which the schedule does not fire."
    }),
    unset: []
  },
  excluded_calendar: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Struct({ url: CallUrl.annotate({ description: "The URL of the file." }) }).annotate({
        identifier: "ExcludedCalendarInput"
      })
    ).annotate({
      description: excludedCalendarText,
      examples: [{ url: "https://calendar.example.com/holidays.ics" }]
    }),
    shown: Schema.NullOr(ExcludedCalendar).annotate({
      description:
        "The calendar of days on which the schedule does not fire. Null if there is none."
    })
  },
  on_pause: {
    absent: "`cancel`",
    input: Schema.NullOr(OnPause).annotate({
      description: "What happens to runs when the task is paused."
    }),
    shown: OnPause,
    unset: "cancel"
  },
  pause_after_failures: {
    absent: "Never",
    input: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))).annotate(
      {
        description:
          "After this many failed runs in a row, the service pauses the task and sends " +
          "`task.paused`. Changing or resuming the task resets the count.",
        examples: [10]
      }
    ),
    shown: Schema.NullOr(Schema.Int).annotate({
      description:
        "The number of consecutive failed runs after which the service pauses the task. Null if never."
    })
  }
})

type ShownOptions = Schema.Struct.Type<typeof firingOptions.fields>

/** Only the options that are set, as they are stored. */
export type FiringOptions = {
  readonly [Name in Exclude<keyof ShownOptions, "excluded_calendar">]?: NonNullable<
    ShownOptions[Name]
  >
} & { readonly excluded_calendar?: Pick<ExcludedCalendar, "url"> }

const dates = /^\d{4}-\d{2}-\d{2}(?:,\d{4}-\d{2}-\d{2}){0,99}$/

/** Excluded days as a query parameter. */
export const ExcludedDays = Schema.String.check(
  Schema.makeFilter((text) => dates.test(text) && text.split(",").every(isDate), {
    expected: "at most 100 dates separated by commas, such as 2026-12-24,2026-12-25",
    toJsonSchema: () => ({ pattern: dates.source })
  })
).annotate({
  description: "Dates on which the schedule does not fire, separated by commas. At most 100.",
  examples: ["2026-12-24,2026-12-25"]
})

/** The schedule options of a preview. */
export const firingOptionsQuery = {
  precision: Schema.optionalKey(Precision),
  starts_at: Schema.optionalKey(timestampInput(startsAt)),
  ends_at: Schema.optionalKey(timestampInput(endsAt)),
  excluded_days: Schema.optionalKey(ExcludedDays),
  excluded_calendar: Schema.optionalKey(
    CallUrl.annotate({
      description:
        "The URL of a calendar that a task of the workspace uses. Other URLs are rejected, " +
        "because a preview does not fetch calendars.",
      examples: ["https://calendar.example.com/holidays.ics"]
    })
  )
}
