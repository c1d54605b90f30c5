import { CallHeaders } from "@scheduling/domain/calls/CallHeaders"
import { CallUrl } from "@scheduling/domain/calls/CallUrl"
import { ChainInput } from "@scheduling/domain/chains/Chain"
import { DelayedTaskInput } from "@scheduling/domain/delayed/DelayedTask"
import { RefreshToken } from "@scheduling/domain/auth/TokenPair"
import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { oneOf } from "@scheduling/domain/shared/oneOf"
import { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { label } from "@scheduling/domain/shared/Text"
import { timestampInput } from "@scheduling/domain/shared/Timestamp"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { issuesIn } from "../../../src/http/answers/validationIssues.ts"

const strictly = { errors: "all", onExcessProperty: "error", reportInput: true } as const

const issuesOf = (schema: Schema.Codec<unknown, unknown>, input: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, strictly)(input)
  assert(Result.isFailure(decoded), "The input was accepted")
  return issuesIn(decoded.failure.issue)
}

const messagesOf = (schema: Schema.Codec<unknown, unknown>, input: unknown) =>
  issuesOf(schema, input).map(({ code, message }) => `${code}: ${message}`)

const Size = oneOf(["small", "large"], { identifier: "Size", description: "The size." })

const Item = Schema.Struct({
  name: label(5),
  size: Schema.optionalKey(Size),
  tags: Schema.optionalKey(
    Schema.NullOr(
      Schema.Array(Schema.String).check(Schema.isBetweenLength(1, 2), Schema.isUnique())
    )
  ),
  count: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))),
  is_open: Schema.optionalKey(Schema.Boolean),
  due_at: Schema.optionalKey(timestampInput("When it is due.")),
  inner: Schema.optionalKey(Schema.NullOr(Schema.Struct({ url: CallUrl })))
})

describe("an issue", () => {
  it.each([
    ["no object", [], ["invalid_type: The body must be an object."]],
    ["null", null, ["invalid_type: The body must be an object."]],
    ["a missing field", {}, ["required: name is required."]],
    ["an unknown field", { name: "a", colour: 1 }, ["unknown_field: colour is not a known field."]],
    [
      "a misspelt field",
      { name: "a", is_opne: true },
      ["unknown_field: is_opne is not a known field; did you mean is_open?"]
    ],
    [
      "the beginning of a field",
      { name: "a", due: "now" },
      ["unknown_field: due is not a known field; did you mean due_at?"]
    ],
    ["a wrong type", { name: 1 }, ["invalid_type: name must be a string."]],
    [
      "a wrong type of a flag",
      { name: "a", is_open: 1 },
      ["invalid_type: is_open must be true or false."]
    ],
    ["null where there is none", { name: null }, ["invalid_type: name must be a string."]],
    [
      "a wrong type where null is allowed",
      { name: "a", tags: 1 },
      ["invalid_type: tags must be a list or null."]
    ],
    [
      "an unknown value",
      { name: "a", size: "huge" },
      ['unknown_value: size must be "small" or "large".']
    ],
    [
      "another type than that of the values",
      { name: "a", size: 1 },
      ['invalid_type: size must be "small" or "large".']
    ],
    [
      "a text that is too short",
      { name: " " },
      ["too_short: name must be 1 to 5 characters long."]
    ],
    [
      "a text that is too long",
      { name: "abcdef" },
      ["too_long: name must be 1 to 5 characters long."]
    ],
    [
      "a list that is too short",
      { name: "a", tags: [] },
      ["too_few: tags must have 1 to 2 items."]
    ],
    [
      "a list that is too long",
      { name: "a", tags: ["a", "b", "c"] },
      ["too_many: tags must have 1 to 2 items."]
    ],
    [
      "a repeated item",
      { name: "a", tags: ["a", "a"] },
      ["duplicate: tags must not contain duplicate items."]
    ],
    [
      "a number out of range",
      { name: "a", count: 0 },
      ["out_of_range: count must be 1 to 86,400."]
    ],
    ["a fraction", { name: "a", count: 1.5 }, ["invalid_type: count must be a whole number."]],
    [
      "a time that is none",
      { name: "a", due_at: "soon" },
      [
        "invalid_format: due_at must be an ISO 8601 time with Z or an offset, such as 2026-01-31T09:30:00Z."
      ]
    ],
    [
      "a field of an object",
      { name: "a", inner: { url: "ftp://example.com" } },
      ["invalid_format: inner.url must start with http:// or https://."]
    ],
    [
      "more than one problem",
      { size: "huge", count: 0 },
      [
        "required: name is required.",
        'unknown_value: size must be "small" or "large".',
        "out_of_range: count must be 1 to 86,400."
      ]
    ]
  ] as const)("says what is wrong with %s", (_, input, messages) => {
    assert.deepStrictEqual(messagesOf(Item, input), [...messages])
  })

  it.each([
    [
      "a schedule",
      Schema.Struct({ schedule: Schedule }),
      { schedule: "61 * * * *" },
      ['invalid_format: schedule is not valid: minute: "61" is outside 0-59.']
    ],
    [
      "a time zone",
      Schema.Struct({ timezone: TimeZone }),
      { timezone: "Berlin" },
      [
        'invalid_format: timezone "Berlin" is not an IANA time zone name such as "Europe/Berlin" or "UTC".'
      ]
    ],
    [
      "headers",
      Schema.Struct({ headers: CallHeaders }),
      { headers: { host: "a", "a b": "c" } },
      [
        "invalid: headers.host is set by the HTTP connection and must be left out.",
        'invalid: headers["a b"] is not a valid header name.'
      ]
    ],
    [
      "two fields of which one is needed",
      DelayedTaskInput,
      { url: "https://example.com" },
      ["required: run_at or delay_seconds is required."]
    ],
    [
      "the name of a step",
      ChainInput,
      {
        name: "a",
        steps: [
          { name: "one", url: "https://example.com" },
          { name: "one", url: "https://example.com" }
        ]
      },
      ["duplicate: steps[1].name is already the name of an earlier step."]
    ],
    [
      "a secret",
      Schema.Struct({ refresh_token: RefreshToken }),
      { refresh_token: 7 },
      ["invalid_type: refresh_token must be a string."]
    ]
  ] as const)("says what is wrong with %s", (_, schema, input, messages) => {
    assert.deepStrictEqual(messagesOf(schema, input), [...messages])
  })

  it("names the values of a query parameters", () => {
    const query = Schema.toCodecStringTree(Schema.Struct(PageQuery))
    const decoded = Schema.decodeUnknownResult(query, strictly)({ limit: "x", cursr: "1" })
    assert(Result.isFailure(decoded))
    const issues = issuesIn(decoded.failure.issue, { whole: "The query", part: "parameter" })
    assert.deepStrictEqual(issues, [
      {
        path: ["cursr"],
        code: "unknown_field",
        message: "cursr is not a known parameter; did you mean cursor?"
      },
      { path: ["limit"], code: "invalid_type", message: "limit must be a number." }
    ])
  })

  it("has the path of its value, with indexes of lists", () => {
    const [issue] = issuesOf(Schema.Struct({ items: Schema.Array(Item) }), { items: [{}] })
    assert.deepStrictEqual(issue, {
      path: ["items", 0, "name"],
      code: "required",
      message: "items[0].name is required."
    })
  })

  it("is one of a hundred at most, and shortens names that clients choose", () => {
    const fields = Array.from({ length: 150 }, (_, index) => [`${"x".repeat(500)}${index}`, 1])
    const issues = issuesOf(Item, { name: "a", ...Object.fromEntries(fields) })
    assert.lengthOf(issues, 100)
    for (const { message } of issues) assert.isBelow(message.length, 100)
  })
})
