import { Schema } from "effect"
import { CallUrl } from "../calls/CallUrl.ts"
import { oneOf } from "../shared/oneOf.ts"
import { rareOptions } from "../shared/options.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"

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
    "What a pause does to runs. `cancel` ends queued and running ones. `finish` lets those that " +
    "have started go on to their end, with retries and further steps, and cancels only scheduled " +
    "ones that have not."
})
export type OnPause = typeof OnPause.Type

export const Precision = oneOf(["minute", "second"], {
  identifier: "Precision",
  description:
    "`minute`: the schedule has five fields. `second`: it may begin with a sixth, for seconds."
})
export type Precision = typeof Precision.Type

const excludedCalendarText =
  "An iCalendar file on the web, read when it is saved and once a day. Nothing fires on the days " +
  "of its all-day events, in the time zone of the schedule. If it cannot be read later, the days " +
  "of the last good copy stay excluded."

const startsAt = "Slots before this time do not fire."
const endsAt = "Slots after this time do not fire."

export const ExcludedCalendar = Schema.Struct({
  url: Schema.String.annotate({ description: "Where the file is." }),
  fetched_at: Schema.NullOr(Timestamp).annotate({
    description: "When it was last read well. Its days are of that copy."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why it could not be read since then. Null if nothing is wrong."
  }),
  days: Schema.Int.annotate({ description: "How many days of the next 400 it excludes." })
}).annotate({
  identifier: "ExcludedCalendar",
  description: "The calendar on whose days nothing fires, and what is known of it.",
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

/** The calendar in a PUT, which takes what an answer shows. */
export const excludedCalendarPut = {
  excluded_calendar: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct(putFields({ url: CallUrl }, ExcludedCalendar)).annotate({
        identifier: "ExcludedCalendarDefinition"
      })
    ).annotate({ description: excludedCalendarText })
  )
}

/** The options of a schedule that few have. Null takes one away. */
export const firingOptions = rareOptions({
  precision: {
    absent: "`minute`",
    input: Schema.NullOr(Precision).annotate({
      description:
        "`second` allows a sixth field at the start of the schedule, for seconds. Fires are at " +
        "least 5 seconds apart, and a workspace has few such schedules."
    }),
    shown: Precision,
    unset: "minute"
  },
  jitter_seconds: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3_600 }))
    ).annotate({
      description:
        "Each run starts up to so many seconds after its slot. How many is drawn from the id of " +
        "the task and the slot, so tasks with one schedule do not start together. 0 means none.",
      examples: [30]
    }),
    shown: Schema.Int.annotate({
      description: "How long after its slot a run may start. 0 if it starts at its slot."
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
      description: "Dates in the time zone of the schedule on which nothing fires, at most 100.",
      examples: [["2026-12-24", "2026-12-25"]]
    }),
    shown: Schema.Array(Schema.String).annotate({
      description: "The dates on which nothing fires."
    }),
    unset: []
  },
  excluded_calendar: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Struct({ url: CallUrl.annotate({ description: "Where the file is." }) }).annotate({
        identifier: "ExcludedCalendarInput"
      })
    ).annotate({
      description: excludedCalendarText,
      examples: [{ url: "https://calendar.example.com/holidays.ics" }]
    }),
    shown: Schema.NullOr(ExcludedCalendar).annotate({
      description: "The calendar on whose days nothing fires. Null if there is none."
    })
  },
  on_pause: {
    absent: "`cancel`",
    input: Schema.NullOr(OnPause).annotate({
      description: "What a pause does to runs."
    }),
    shown: OnPause,
    unset: "cancel"
  },
  pause_after_failures: {
    absent: "Never",
    input: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))).annotate(
      {
        description:
          "After this many failed runs in a row, the service pauses the task and announces " +
          "`task.paused`. A change or a resume resets the count.",
        examples: [10]
      }
    ),
    shown: Schema.NullOr(Schema.Int).annotate({
      description: "After how many failed runs in a row the service pauses it. Null if never."
    })
  }
})

type ShownOptions = Schema.Struct.Type<typeof firingOptions.fields>

/** The options that are set, as they are stored. */
export type FiringOptions = {
  readonly [Name in Exclude<keyof ShownOptions, "excluded_calendar">]?: NonNullable<
    ShownOptions[Name]
  >
} & { readonly excluded_calendar?: Pick<ExcludedCalendar, "url"> }

const dates = /^\d{4}-\d{2}-\d{2}(?:,\d{4}-\d{2}-\d{2}){0,99}$/

/** As a query holds them. */
export const ExcludedDays = Schema.String.check(
  Schema.makeFilter((text) => dates.test(text) && text.split(",").every(isDate), {
    expected: "at most 100 dates with commas between them, such as 2026-12-24,2026-12-25",
    toJsonSchema: () => ({ pattern: dates.source })
  })
).annotate({
  description: "Dates on which nothing fires, with commas between them, at most 100.",
  examples: ["2026-12-24,2026-12-25"]
})

/** The options that a preview takes. */
export const firingOptionsQuery = {
  precision: Schema.optionalKey(Precision),
  starts_at: Schema.optionalKey(timestampInput(startsAt)),
  ends_at: Schema.optionalKey(timestampInput(endsAt)),
  excluded_days: Schema.optionalKey(ExcludedDays),
  excluded_calendar: Schema.optionalKey(
    CallUrl.annotate({
      description:
        "The URL of a calendar that a task of the workspace has. Any other is refused, because a " +
        "preview reads no calendar.",
      examples: ["https://calendar.example.com/holidays.ics"]
    })
  )
}
