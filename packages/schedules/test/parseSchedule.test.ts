import { assert, describe, it } from "@effect/vitest"
import type { ScheduleField } from "@scheduling/schedules/parseField"
import type { ParsedSchedule } from "@scheduling/schedules/ParsedSchedule"
import { parseSchedule } from "@scheduling/schedules/parseSchedule"
import { arbitrarySchedule } from "./support/ScheduleArbitrary.ts"

const parsed = (expression: string): ParsedSchedule => {
  const reading = parseSchedule(expression)
  return reading.ok ? reading.schedule : assert.fail(JSON.stringify(reading.issues))
}

const values = (table: Uint8Array): ReadonlyArray<number> =>
  Array.from(table.keys()).filter((value) => table[value] === 1)

const issuesOf = (expression: string) => {
  const reading = parseSchedule(expression)
  return reading.ok ? [] : reading.issues
}

describe("a field", () => {
  const accepted: ReadonlyArray<
    readonly [expression: string, table: keyof ParsedSchedule, values: ReadonlyArray<number>]
  > = [
    ["7 * * * *", "minutes", [7]],
    ["7 * * * *", "seconds", [0]],
    ["*/15 7 * * * *", "seconds", [0, 15, 30, 45]],
    ["*/15 7 * * * *", "minutes", [7]],
    ["07 * * * *", "minutes", [7]],
    ["*/15 * * * *", "minutes", [0, 15, 30, 45]],
    ["10-40/10 * * * *", "minutes", [10, 20, 30, 40]],
    ["5/15 * * * *", "minutes", [5, 20, 35, 50]],
    ["1,3,50-52 * * * *", "minutes", [1, 3, 50, 51, 52]],
    ["0 9-11,22 * * *", "hours", [9, 10, 11, 22]],
    ["0 0 */10 * *", "daysOfMonth", [1, 11, 21, 31]],
    ["0 0 1 JAN,mar-May *", "months", [1, 3, 4, 5]],
    ["0 0 1 oct/2 *", "months", [10, 12]],
    ["0 0 * * Mon-FRI", "weekdays", [1, 2, 3, 4, 5]],
    ["0 0 * * 0", "weekdays", [0]],
    ["0 0 * * 7", "weekdays", [0]],
    ["0 0 * * 5-7", "weekdays", [0, 5, 6]],
    ["0 0 * * FRI-SUN", "weekdays", [0, 5, 6]],
    ["0 0 * * SUN-TUE", "weekdays", [0, 1, 2]],
    ["0 0 * * 7-2", "weekdays", [0, 1, 2]],
    ["0 0 * * 1/2", "weekdays", [0, 1, 3, 5]],
    ["0 0 * * */2", "weekdays", [0, 2, 4, 6]],
    ["\t0  0 * *   MON\n", "weekdays", [1]]
  ]
  for (const [expression, table, expected] of accepted) {
    it(`reads the ${table} of ${JSON.stringify(expression)}`, () => {
      const found = parsed(expression)[table]
      assert.instanceOf(found, Uint8Array)
      assert.deepStrictEqual(values(found), expected)
    })
  }
})

describe("an expression", () => {
  it("needs to match one of two restricted day fields, or both if one starts with a star", () => {
    assert.isTrue(parsed("0 0 13 * FRI").eitherDay)
    assert.isTrue(parsed("0 0 1-31 * FRI").eitherDay)
    assert.isFalse(parsed("0 0 13 * *").eitherDay)
    assert.isFalse(parsed("0 0 */2 * MON").eitherDay)
    assert.isFalse(parsed("0 0 13 * */2").eitherDay)
  })

  it("runs by elapsed time if its minute or hour starts with a star", () => {
    for (const expression of ["* * * * *", "*/5 2 * * *", "0 * * * *", "0 */2 * * *"]) {
      assert.isTrue(parsed(expression).byElapsedTime, expression)
    }
    for (const expression of ["0 2 * * *", "0-59 2 * * *", "5/15 0-23 * * *"]) {
      assert.isFalse(parsed(expression).byElapsedTime, expression)
    }
  })

  it.each([
    ["@hourly", "0 * * * *"],
    ["@Daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    ["@weekly", "0 0 * * 0"],
    ["@monthly", "0 0 1 * *"],
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"]
  ])("takes %s for %s", (nickname, meaning) => {
    assert.deepStrictEqual(parsed(nickname), parsed(meaning))
  })

  it("takes seconds that are far enough apart on the days on which it fires", () => {
    for (const expression of ["*/5 * * * * *", "*/7 9 * * * *", "3,58 */2 * * * *"]) {
      assert.deepStrictEqual(issuesOf(expression), [])
    }
  })

  it("accepts dates that are rare but exist", () => {
    const rare = [
      "0 0 29 2 *",
      "0 0 * 2 MON#5",
      "0 0 L-28 2 */7",
      "0 0 31 */2 *",
      "0 0 30 2 MON",
      "0 0 29 2 */7",
      "0 0 30,31 1,2 *"
    ]
    for (const expression of rare) assert.deepStrictEqual(issuesOf(expression), [])
  })

  it("accepts every value of every field listed by name", () => {
    const list = (from: number, to: number): string =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index).join(",")
    const months = "JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC"
    const weekdays = "SUN,MON,TUE,WED,THU,FRI,SAT"
    const all = `${list(0, 59)} ${list(0, 23)} ${list(1, 31)} ${months} ${weekdays}`
    assert.deepStrictEqual(issuesOf(all), [])
  })

  it.prop("reads the same when its values are printed as lists", [arbitrarySchedule], ([text]) => {
    const first = parsed(text)
    const print = (field = "", table: Uint8Array, special = /(?!)/): string =>
      field.startsWith("*")
        ? field
        : [...values(table), ...field.split(",").filter((item) => special.test(item))].join(",")
    const fields = text.split(" ")
    const printed = [
      print(fields[0], first.minutes),
      print(fields[1], first.hours),
      print(fields[2], first.daysOfMonth, /^L|W$/),
      print(fields[3], first.months),
      print(fields[4], first.weekdays, /#|L$/)
    ]
    assert.deepStrictEqual(parsed(printed.join(" ")), first)
  })
})

describe("a problem of an expression", () => {
  const five = "5 fields (minute hour day-of-month month day-of-week)"
  const nicknames = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually"
  const refused: ReadonlyArray<
    readonly [expression: string, field: ScheduleField, message: string]
  > = [
    ["", "schedule", `expected ${five}, got 0`],
    ["0 9 * *", "schedule", `expected ${five}, got 4`],
    ["0 0 9 * * * 2026", "schedule", `expected ${five}, got 7: years are not supported`],
    ["60 0 9 * * *", "second", `second: "60" is outside 0-59`],
    [
      "* * * * * *",
      "second",
      `second: "*" fires again after 1 s; firings must be at least 5 s apart`
    ],
    [
      "*/7 * * * * *",
      "second",
      `second: "*/7" fires again after 4 s; firings must be at least 5 s apart`
    ],
    [
      "0,4 0 9 * * *",
      "second",
      `second: "0,4" fires again after 4 s; firings must be at least 5 s apart`
    ],
    [
      "1,57 * 9 * * *",
      "second",
      `second: "1,57" fires again after 4 s; firings must be at least 5 s apart`
    ],
    [`${"0,".repeat(200)}0 0 * * *`, "schedule", "expected at most 400 characters, got 409"],
    ["* ".repeat(500) + "*", "schedule", "expected at most 400 characters, got 1001"],
    ["@reboot", "schedule", `"@reboot" is not one of ${nicknames}`],
    [
      "@every 5m",
      "schedule",
      `an interval is not a cron expression. Use the field every, such as "every": "90m"`
    ],
    ["@reboot", "schedule", `"@reboot" is not one of ${nicknames}`],
    [
      "CRON_TZ=Europe/Berlin 0 3 * * *",
      "schedule",
      `the time zone is not part of it. Use the field timezone: "Europe/Berlin"`
    ],
    ["60 * * * *", "minute", `minute: "60" is outside 0-59`],
    ["0 25 * * *", "hour", `hour: "25" is outside 0-23`],
    ["0 20-25 * * *", "hour", `hour: "25" is outside 0-23`],
    ["0 0 0 * *", "day of month", `day of month: "0" is outside 1-31`],
    ["0 0 * 13 *", "month", `month: "13" is outside 1-12`],
    ["0 0 * * 8", "day of week", `day of week: "8" is outside 0-7`],
    [
      "0 0 * * FUN",
      "day of week",
      `day of week: unknown name "FUN", expected a number 0-7 or SUN-SAT`
    ],
    ["0 0 1 MAY-JUNE *", "month", `month: unknown name "JUNE", expected a number 1-12 or JAN-DEC`],
    ["0 MON * * *", "hour", `hour: "MON" is not a number 0-23`],
    ["1.5 * * * *", "minute", `minute: "1.5" is not a number 0-59`],
    ["-5 * * * *", "minute", `minute: "-5" is not a number 0-59, or a range of them`],
    ["1-2-3 * * * *", "minute", `minute: "1-2-3" is not a number 0-59, or a range of them`],
    ["1- * * * *", "minute", `minute: "1-" is not a number 0-59, or a range of them`],
    ["/5 * * * *", "minute", `minute: "" is not a number 0-59, or a range of them`],
    ["*-5 * * * *", "minute", `minute: "*" is not a number 0-59`],
    ["1,,2 * * * *", "minute", `minute: "1,,2" has an empty list item`],
    ["*/0 * * * *", "minute", `minute: step "0" in "*/0" is outside 1-59`],
    ["*/90 * * * *", "minute", `minute: step "90" in "*/90" is outside 1-59`],
    ["*/ * * * *", "minute", `minute: step "" in "*/" is outside 1-59`],
    ["*/x * * * *", "minute", `minute: step "x" in "*/x" is outside 1-59`],
    ["*/5/5 * * * *", "minute", `minute: "*/5/5" has more than one step`],
    ["0 22-2 * * *", "hour", `hour: range "22-2" runs backwards, write "22-23,0-2"`],
    ["0 22-2/2 * * *", "hour", `hour: range "22-2" runs backwards`],
    [
      "0 0 * * FRI-MON",
      "day of week",
      `day of week: range "FRI-MON" runs backwards, write "FRI-SAT,SUN-MON"`
    ],
    ["0 0 * nov-2 *", "month", `month: range "nov-2" runs backwards, write "nov-DEC,JAN-2"`],
    ["0 0 ? * MON", "day of month", `day of month: "?" is not supported, write "*"`],
    ["0 0 L-31 * *", "day of month", `day of month: "L-31" is outside L-1 to L-30`],
    ["0 0 LWW * *", "day of month", `day of month: "LWW" is not L, LW or L-1 to L-30`],
    ["0 0 32W * *", "day of month", `day of month: "32W" is outside 1W-31W`],
    ["0 0 1-15W * *", "day of month", `day of month: "15W" is not a number 1-31`],
    ["0 0 * * MON#6", "day of week", `day of week: "MON#6" is outside #1-#5`],
    ["0 0 * * 8#2", "day of week", `day of week: "8#2" does not begin with a day 0-7 or SUN-SAT`],
    [
      "0 0 * * L",
      "day of week",
      `day of week: "L" needs its day, such as FRIL for the last Friday`
    ],
    ["0 0 L-29 2 *", "day of month", `day of month: "L-29" never occurs in month "2"`],
    [
      "0 0 */31 * FRI#2",
      "day of month",
      `day of month: "*/31" never occurs in month "*" on day of week "FRI#2"`
    ],
    [
      "0 0 1W * */6",
      "day of month",
      `day of month: "1W" never occurs in month "*" on day of week "*/6"`
    ],
    ["0 0 31 2 *", "day of month", `day of month: "31" never occurs in month "2"`],
    ["0 0 30 FEB *", "day of month", `day of month: "30" never occurs in month "FEB"`],
    ["0 0 31 4,6 */2", "day of month", `day of month: "31" never occurs in month "4,6"`],
    ["٣ * * * *", "minute", `minute: "٣" is not a number 0-59`]
  ]
  for (const [expression, field, message] of refused) {
    it(`is reported for ${JSON.stringify(expression.slice(0, 20))}`, () => {
      assert.deepStrictEqual(issuesOf(expression), [{ field, message }])
    })
  }

  it("is reported for all wrong fields and list items together", () => {
    assert.deepStrictEqual(
      issuesOf("60,61 */0 32 13 FUN").map((issue) => issue.message),
      [
        `minute: "60" is outside 0-59`,
        `minute: "61" is outside 0-59`,
        `hour: step "0" in "*/0" is outside 1-23`,
        `day of month: "32" is outside 1-31`,
        `month: "13" is outside 1-12`,
        `day of week: unknown name "FUN", expected a number 0-7 or SUN-SAT`
      ]
    )
  })

  it("quotes no more than 40 characters of a token", () => {
    const [issue] = issuesOf(`${"9".repeat(300)} * * * *`)
    assert.strictEqual(issue?.message, `minute: "${"9".repeat(40)}…" is outside 0-59`)
  })
})
