import { assert, describe, it } from "@effect/vitest"
import { type CallValues, templateValuesOf } from "../src/templateValues.ts"
import { parseTemplate, referencesOf } from "@scheduling/domain/calls/Template"
import { Result } from "effect"

/** Values for a call that refers to none of them. */
const none: CallValues = {
  run: { id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41", attempt: 1, scheduled_ms: 0 },
  task: null,
  input: null,
  steps: new Map(),
  secrets: new Map(),
  now_ms: 0
}

const read = (kind: "text" | "json", expression: string, body: string | null, status = 200) => {
  const steps = new Map([
    ["a", { status_code: body === null ? null : status, response_body: body }]
  ])
  const [reference] = referencesOf(Result.getOrThrow(parseTemplate(`{{ ${expression} }}`)))
  assert(reference !== undefined)
  return Result.match(templateValuesOf({ ...none, steps })[kind](reference), {
    onFailure: (problem) => `! ${problem}`,
    onSuccess: (value) => value
  })
}

const body = JSON.stringify({
  token: 'a"b',
  id: 7,
  ok: true,
  none: null,
  list: [{ x: 1 }, "two"],
  "odd key": "o"
})

const readInput = (kind: "text" | "json", expression: string, input: string | null) => {
  const [reference] = referencesOf(Result.getOrThrow(parseTemplate(`{{ ${expression} }}`)))
  assert(reference !== undefined)
  return Result.match(templateValuesOf({ ...none, input })[kind](reference), {
    onFailure: (problem) => `! ${problem}`,
    onSuccess: (value) => value
  })
}

describe("the input of a run", () => {
  it.each([
    ["input", body, body],
    ["input.token", 'a"b', '"a\\"b"'],
    ["input.list[0].x", "1", "1"],
    ['input["odd key"]', "o", '"o"'],
    ["input.nope", "! input.nope is missing", "! input.nope is missing"],
    ["input[0]", "! input is not an array", "! input is not an array"]
  ])("%s is %s as text and %s as JSON", (expression, text, json) => {
    assert.strictEqual(readInput("text", expression, body), text)
    assert.strictEqual(readInput("json", expression, body), json)
  })

  it("may be a single value, and is missing in a run that was started without input", () => {
    assert.strictEqual(readInput("text", "input", '"x"'), "x")
    assert.strictEqual(readInput("json", "input", "12345678901234567890"), "12345678901234567890")
    const missing = "! input is missing: the run was started without one"
    assert.strictEqual(readInput("text", "input.x", null), missing)
  })
})

describe("responses of earlier steps", () => {
  it.each([
    ["steps.a.status", "200", "200"],
    ["steps.a.body.token", 'a"b', '"a\\"b"'],
    ["steps.a.body.id", "7", "7"],
    ["steps.a.body.ok", "true", "true"],
    ["steps.a.body.list[0]", '{"x":1}', '{"x":1}'],
    ["steps.a.body.list[1]", "two", '"two"'],
    ['steps.a.body["odd key"]', "o", '"o"'],
    ["steps.a.body.none", "! steps.a.body.none is null", "null"],
    ["steps.a.body", body, body]
  ])("%s is %s as text and %s as JSON", (expression, text, json) => {
    assert.strictEqual(read("text", expression, body), text)
    assert.strictEqual(read("json", expression, body), json)
  })

  it.each([
    ["steps.a.body.nope", "steps.a.body.nope is missing"],
    ["steps.a.body.nope.deeper", "steps.a.body.nope is missing"],
    ["steps.a.body.list[2]", "steps.a.body.list[2] is missing"],
    ["steps.a.body.list.length", "steps.a.body.list is not an object"],
    ["steps.a.body.token.length", "steps.a.body.token is not an object"],
    ["steps.a.body.token[0]", "steps.a.body.token is not an array"],
    ["steps.a.body[0]", "steps.a.body is not an array"],
    ["steps.a.body.none.x", "steps.a.body.none is not an object"],
    ["steps.a.body.__proto__", "steps.a.body.__proto__ is missing"],
    ["steps.a.body.constructor", "steps.a.body.constructor is missing"],
    ["steps.a.body.toString", "steps.a.body.toString is missing"],
    ['steps.a.body["no such key"]', 'steps.a.body["no such key"] is missing'],
    ["steps.b.body", "steps.b.body is missing: the step was skipped or got no response"],
    ["steps.b.status", "steps.b.status is missing: the step was skipped or got no response"]
  ])("%s fails with: %s", (expression, problem) => {
    assert.strictEqual(read("text", expression, body), `! ${problem}`)
    assert.strictEqual(read("json", expression, body), `! ${problem}`)
  })

  it("finds keys of the response that have the name of a prototype's property", () => {
    assert.strictEqual(read("text", "steps.a.body.__proto__.x", '{"__proto__":{"x":"own"}}'), "own")
    assert.strictEqual(
      read("text", "steps.a.body.x", '{"__proto__":{"x":"no"}}'),
      "! steps.a.body.x is missing"
    )
  })

  it("keeps every digit of a number", () => {
    const numbers = '{"id":12345678901234567890,"price":1.10,"all":[12345678901234567890,1e3]}'
    assert.strictEqual(read("text", "steps.a.body.id", numbers), "12345678901234567890")
    assert.strictEqual(read("json", "steps.a.body.price", numbers), "1.10")
    assert.strictEqual(read("json", "steps.a.body.all", numbers), "[12345678901234567890,1e3]")
    assert.strictEqual(
      read("text", "steps.a.body.id.rawJSON", numbers),
      "! steps.a.body.id is not an object"
    )
  })

  it("reports that a body is not JSON, and still returns it as text", () => {
    const problem = "! steps.a.body is not JSON, or is longer than the 10,000 bytes that are stored"
    assert.strictEqual(read("text", "steps.a.body.x", "<html>"), problem)
    assert.strictEqual(read("json", "steps.a.body", "<html>"), problem)
    assert.strictEqual(read("text", "steps.a.body", "<html>"), "<html>")
    assert.strictEqual(read("text", "steps.a.body", ""), "")
  })

  it("survives a response that is nested as deeply as possible", () => {
    for (const depth of [1_000, 5_000]) {
      const deep = "[".repeat(depth) + "]".repeat(depth)
      assert.match(read("json", "steps.a.body", deep), /^(\[|! steps\.a\.body is n)/)
      assert.match(read("text", "steps.a.body[0]", deep), /^(\[|! steps\.a\.body)/)
    }
  })
})
