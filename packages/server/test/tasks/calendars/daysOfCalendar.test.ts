// @tags slow
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { daysOfCalendar, maxCalendarEvents } from "../../../src/tasks/calendars/daysOfCalendar.ts"
import { calendarThread } from "../../../src/tasks/calendars/calendarThread.ts"

const now = Date.UTC(2026, 5, 1, 12)

const calendar = (...lines: ReadonlyArray<string>) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n")

const event = (...lines: ReadonlyArray<string>) => ["BEGIN:VEVENT", "UID:1", ...lines, "END:VEVENT"]

const daysOf = (text: string) => daysOfCalendar(text, now)
const problemOf = (text: string) =>
  Result.getOrThrow(Result.flip(Result.try({ try: () => daysOf(text), catch: String }))).replace(
    "Error: ",
    ""
  )

const from = "DTSTART;VALUE=DATE:20260608"

const unsupported = "is not supported"

describe("the days of a calendar", () => {
  it.each<[string, ReadonlyArray<string>, string]>([
    ["one day", [from], "06-08"],
    ["a date without its type", ["DTSTART:20260608"], "06-08"],
    ["several days", [from, "DTEND;VALUE=DATE:20260611"], "06-08 06-09 06-10"],
    ["a duration", [from, "DURATION:P1W"], "06-08 06-09 06-10 06-11 06-12 06-13 06-14"],
    ["an end before the start", [from, "DTEND;VALUE=DATE:20260601"], "06-08"],
    [
      "what began before",
      ["DTSTART;VALUE=DATE:20260501", "DTEND;VALUE=DATE:20260602"],
      "05-31 06-01"
    ],
    ["a time", ["DTSTART:20260608T090000Z", "DTEND:20260609T170000Z"], ""],
    ["a time in a zone", ['DTSTART;TZID="a:b":20260608T000000'], ""],
    ["what is cancelled", [from, "STATUS:CANCELLED"], ""],
    ["some days", [from, "RRULE:FREQ=DAILY;INTERVAL=3;COUNT=3"], "06-08 06-11 06-14"],
    ["until a day", [from, "RRULE:FREQ=DAILY;UNTIL=20260610"], "06-08 06-09 06-10"],
    ["until a time", [from, "RRULE:FREQ=DAILY;UNTIL=20260609T220000Z"], "06-08 06-09"],
    [
      "a count from long ago",
      ["DTSTART;VALUE=DATE:20260501", "RRULE:FREQ=DAILY;COUNT=34"],
      "05-31 06-01 06-02 06-03"
    ],
    ["weekdays", [from, "RRULE:FREQ=WEEKLY;BYDAY=MO,FR;COUNT=4"], "06-08 06-12 06-15 06-19"],
    ["every second week", [from, "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=3"], "06-08 06-22 07-06"],
    ["a weekday of a month", [from, "RRULE:FREQ=MONTHLY;BYDAY=2MO;COUNT=3"], "06-08 07-13 08-10"],
    ["the last of a month", [from, "RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=2"], "06-26 07-31"],
    [
      "dates of a month",
      [from, "RRULE:FREQ=MONTHLY;BYMONTHDAY=15,-1;COUNT=3"],
      "06-15 06-30 07-15"
    ],
    ["each year", ["DTSTART;VALUE=DATE:19900703", "RRULE:FREQ=YEARLY"], "07-03 07-03"],
    [
      "a weekday of a month of the year",
      ["DTSTART;VALUE=DATE:20001123", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"],
      "11-26"
    ],
    [
      "a weekday of the year",
      ["DTSTART;VALUE=DATE:20200101", "RRULE:FREQ=YEARLY;BYDAY=-1SU"],
      "12-27"
    ],
    [
      "days that are left out",
      [from, "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20260609"],
      "06-08 06-10"
    ],
    ["days besides", [from, "RDATE;VALUE=DATE:20260701,20260702"], "06-08 07-01 07-02"],
    ["a folded line", ["DTSTART;VALUE=D", " ATE:20260", "\t608"], "06-08"],
    ["an alarm in it", [from, "BEGIN:VALARM", "DTSTART;VALUE=DATE:20260701", "END:VALARM"], "06-08"]
  ])("has %s", (_, lines, expected) => {
    const days = daysOf(calendar(...event(...lines)))
    assert.strictEqual(days.map((day) => day.slice(5)).join(" "), expected)
  })

  it("follow moved single days, and ignore everything else", () => {
    const days = daysOf(
      "\uFEFF" +
        calendar(
          "BEGIN:VTIMEZONE",
          "BEGIN:STANDARD",
          "DTSTART:20260608",
          "RRULE:FREQ=SECONDLY",
          "END:STANDARD",
          "END:VTIMEZONE",
          ...event(from, "RRULE:FREQ=DAILY;COUNT=3"),
          ...event("RECURRENCE-ID;VALUE=DATE:20260609", "DTSTART;VALUE=DATE:20260620"),
          ...event("RECURRENCE-ID;VALUE=DATE:20260610", "STATUS:CANCELLED"),
          ...event("DTSTART:20260608T090000Z", "RRULE:no rule", "DURATION:long", "GEO:here")
        )
    )
    assert.deepStrictEqual(days, ["2026-06-08", "2026-06-20"])
  })

  it.each<[string, string, string]>([
    ["a page", "<!doctype html>", "it is not a complete iCalendar file"],
    ["nothing", "", "it is not a complete iCalendar file"],
    ["half of one", calendar(...event(from)).slice(0, -20), "it is not a complete iCalendar file"],
    ["another component", "BEGIN:VEVENT\nEND:VEVENT\n", "it is not a complete iCalendar file"],
    [
      "components that cross",
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\nEND:VEVENT\n",
      "it is not a complete iCalendar file"
    ],
    [
      "components in components",
      "BEGIN:VCALENDAR\n" + "BEGIN:X\n".repeat(1_000),
      "it is not a complete iCalendar file"
    ],
    ["no date", calendar(...event("DTSTART;VALUE=DATE:20260231")), '"20260231" is not a date'],
    [
      "too many events",
      calendar(
        ...Array(maxCalendarEvents + 1)
          .fill(event())
          .flat()
      ),
      `it has more than ${maxCalendarEvents} events`
    ],
    [
      "a rule it cannot follow",
      calendar(...event(from, "RRULE:FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO")),
      'the rule "FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO" is not supported'
    ],
    [
      "no rule",
      calendar(...event(from, "RRULE:FREQ=DAILY;INTERVAL=0")),
      'the rule "FREQ=DAILY;INTERVAL=0" is not supported'
    ],
    [
      "a rule of seconds",
      calendar(...event(from, "RRULE:FREQ=SECONDLY")),
      'the rule "FREQ=SECONDLY" is not supported'
    ],
    ["no month", calendar(...event(from, "RRULE:FREQ=DAILY;BYMONTH=13")), unsupported],
    ["no number", calendar(...event(from, "RRULE:FREQ=DAILY;BYMONTHDAY=8,x")), unsupported],
    [
      "the second Monday of a week",
      calendar(...event(from, "RRULE:FREQ=WEEKLY;BYDAY=2MO")),
      unsupported
    ],
    [
      "a weekday that few years have",
      calendar(...event(from, "RRULE:FREQ=YEARLY;BYDAY=53MO")),
      unsupported
    ],
    [
      "numbered weekdays of the year among others",
      calendar(...event(from, "RRULE:FREQ=YEARLY;BYDAY=14TH,MO")),
      unsupported
    ]
  ])("are refused for %s", (_, text, message) => assert.include(problemOf(text), message))

  it("are rejected if the events have too many dates", () => {
    for (const text of [manyDates, ...tooManyDates]) {
      assert.strictEqual(problemOf(text), "an event has more than 5000 dates")
    }
  })

  it("ignore unused parts, however long or frequent", () => {
    const dates = `RDATE:${Array(6_000).fill("20260608T090000Z").join(",")}`
    const timed = event("DTSTART:20260608T090000Z", dates)
    const text = calendar(...event(from, "A:".repeat(200_000), "A:\n".repeat(200_000)))
    for (const one of [
      text,
      text.replace("END:VCALENDAR", [...timed, "END:VCALENDAR"].join("\n"))
    ]) {
      assert.deepStrictEqual(daysOf(one), ["2026-06-08"])
    }
  })

  it("may be folded at every character, with empty lines between", () => {
    const folded = calendar(...event(from)).replace(/[^\r\n](?!\r)/g, "$&\n\t")
    assert.deepStrictEqual(daysOf(folded.replaceAll("\r\n", "\n\r\n\n")), ["2026-06-08"])
  })

  it.each(["BYDAY=52SU", "BYMONTHDAY=-1;BYMONTH=2", "BYDAY=-52MO,52MO,1TU"])(
    "are those of a rule from the year 1 (%s)",
    (rule) => {
      const days = (count: string) =>
        daysOf(
          calendar(...event("DTSTART;VALUE=DATE:00010101", `RRULE:FREQ=YEARLY;${rule}${count}`))
        )
      // With a count, the search starts on the first day, otherwise on the current day.
      assert.deepStrictEqual(days(";COUNT=99999"), days(""))
    }
  )

  it.live(
    "are read in a thread, which ends for all events",
    () =>
      Effect.gen(function* () {
        const inThread = yield* calendarThread(1_000)
        const read = (text: string) => Effect.map(inThread(text, now), Result.merge)
        for (const text of endless) {
          assert.strictEqual(
            yield* read(text),
            "its recurring events go back too far, or are too many"
          )
        }
        for (const text of wholeFiles) yield* read(text)
      }),
    60_000
  )

  it.live(
    "are read in a thread, and ignore events that never occur",
    () =>
      Effect.gen(function* () {
        const read = yield* calendarThread(20_000)
        const text = calendar(...event(from, never), ...event(from))
        assert.deepStrictEqual(yield* read(text, now), Result.succeed(["2026-06-08"]))
        assert.deepStrictEqual(
          yield* read("nothing", now),
          Result.fail("it is not a complete iCalendar file")
        )
      }),
    30_000
  )
})

// ---------------------------------------------------------------------------

const never = "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"

const endless = [
  calendar(
    ...Array(maxCalendarEvents)
      .fill(event("DTSTART;VALUE=DATE:00010101", `${never};COUNT=99999`))
      .flat()
  ),
  calendar(
    ...Array(maxCalendarEvents)
      .fill(event(from, "DTEND;VALUE=DATE:99991231", "RRULE:FREQ=DAILY"))
      .flat()
  )
]

const manyDates = calendar(
  ...event(from, "DURATION:P9999W", `RDATE:${Array(100_000).fill("20260608").join(",")}`)
)

const tooManyDates = [
  calendar(...event(from, `RDATE:${",".repeat(1_000_000)}`)),
  calendar(...event(from, "EXDATE:1\n".repeat(100_000))),
  calendar(...event(from, "EXDATE:1", `RDATE:${Array(5_000).fill("20260608").join(",")}`))
]

const longRule = calendar(
  ...event(from, `RRULE:FREQ=YEARLY;BYDAY=${Array(200_000).fill("53SU").join(",")}`)
)

const longNames = [`X;A=${'"'.repeat(400_000)}`, `X${";A".repeat(400_000)}:1`].map((line) =>
  calendar(line)
)

/** Files of 1 MB, which is the maximum size. */
const wholeFiles = [
  ...tooManyDates,
  longRule,
  ...longNames,
  calendar(...event("A:\n".repeat(340_000))),
  calendar("\n".repeat(1_000_000)),
  calendar(`X:${"\n ".repeat(500_000)}`),
  calendar(`X:${"\n a".repeat(340_000)}`),
  calendar(`X:${" ".repeat(1_000_000)}`),
  calendar(" ".repeat(1_000_000)),
  calendar(...event(`UID:${"a".repeat(1_000_000)}`, "RECURRENCE-ID:20260608")),
  calendar(
    ...event(
      from,
      `RDATE:${Array(5_000)
        .fill(`20260608/${"x".repeat(10)}`)
        .join(",")}`
    )
  ),
  calendar(
    ...Array(20)
      .fill(event(from, `RDATE:${Array(5_000).fill("20260608").join(",")}`))
      .flat()
  ),
  calendar(...Array(250).fill(`X${";A".repeat(2_000)}:1`))
]
