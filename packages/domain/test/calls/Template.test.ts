import { assert, describe, it } from "@effect/vitest"
import { parseTemplate, type Reference, referencesOf } from "@scheduling/domain/calls/Template"
import { Result } from "effect"

const parse = (source: string) => Result.getOrThrow(parseTemplate(source))
const problems = (source: string) => {
  const parsed = parseTemplate(source)
  assert(Result.isFailure(parsed), `${source} parsed`)
  return parsed.failure
}
const reference = (source: string): Extract<Reference, { readonly root: "steps" }> => {
  const [first] = referencesOf(parse(source))
  assert(first?.root === "steps")
  return first
}

describe("a template", () => {
  it("is its text where nothing is filled in", () => {
    assert.deepStrictEqual(parse('{"a":{"b":1}}'), ['{"a":{"b":1}}'])
    assert.deepStrictEqual(parse(""), [])
    assert.deepStrictEqual(parse("{ { x } }"), ["{ { x } }"])
  })

  it("knows where its references stand and what they name", () => {
    assert.deepStrictEqual(parse("id={{ steps.login.body.items[0].id }}&x"), [
      "id=",
      {
        text: "steps.login.body.items[0].id",
        at: 3,
        root: "steps",
        step: "login",
        field: "body",
        path: ["items", 0, "id"]
      },
      "&x"
    ])
    assert.strictEqual(reference("{{steps.a.status}}").field, "status")
    assert.deepStrictEqual(reference('{{ steps.a.body["odd key"][2]["}}\\""] }}').path, [
      "odd key",
      2,
      '}}"'
    ])
    assert.deepStrictEqual(reference("{{\n steps.a-b_C.body \n}}").step, "a-b_C")
  })

  it("names the input of the run, or a value in it", () => {
    const at = 0
    assert.deepStrictEqual(parse("{{ input }}"), [{ root: "input", text: "input", at, path: [] }])
    assert.deepStrictEqual(parse('{{ input["a b"].c[0] }}'), [
      { root: "input", text: 'input["a b"].c[0]', at, path: ["a b", "c", 0] }
    ])
  })

  it("ends a reference at the first braces and keeps those of JSON", () => {
    assert.deepStrictEqual(
      parse('{"a":{"b":{{ steps.x.body.y }}}}').map((part) =>
        typeof part === "string" ? part : part.text
      ),
      ['{"a":{"b":', "steps.x.body.y", "}}"]
    )
  })

  it("writes the braces themselves as a quoted pair", () => {
    assert.deepStrictEqual(parse("a {{ '{{' }} b }}").join(""), "a {{ b }}")
  })

  it("says what is wrong and where, for every mistake", () => {
    assert.deepStrictEqual(problems("ab {{ steps.x.body"), [
      "has a \"{{\" at character 4 that is not closed; write {{ '{{' }} for the braces themselves"
    ])
    const [first, second] = problems("{{ foo }} and {{ steps.a.headers }}")
    assert.match(first ?? "", /^has \{\{ foo \}\} at character 1, which is not a reference such as/)
    assert.match(
      second ?? "",
      /^has \{\{ steps\.a\.headers \}\} at character 15, which is not a reference/
    )
    assert.match(problems("{{ secrets.token }}")[0] ?? "", /a secret has only upper-case letters/)
  })

  it.each([
    "{{}}",
    "{{ steps }}",
    "{{ steps.a }}",
    "{{ steps.1a.status }}",
    "{{ steps.a.status.x }}",
    "{{ steps.a.statuses }}",
    "{{ steps.a.bodyx }}",
    "{{ steps.a.body. }}",
    "{{ steps.a.body[-1] }}",
    "{{ steps.a.body[1.5] }}",
    "{{ steps.a.body['x'] }}",
    '{{ steps.a.body["\\x"] }}',
    "{{ steps.a.body x }}",
    "{{ steps.a.body | upper }}",
    "{{ STEPS.a.body }}",
    "{{ inputs }}",
    "{{ input- }}",
    "{{ input. }}",
    "{{ xinput }}",
    `{{ steps.${"a".repeat(65)}.body }}`,
    `{{ steps.a.body${".a".repeat(101)} }}`
  ])("refuses %s", (source) => {
    assert.strictEqual(problems(source).length, 1)
  })

  it("takes a reference that is a hundred keys deep", () => {
    const template = parseTemplate(`{{ steps.a.body${".a[0]".repeat(50)} }}`)
    assert.isTrue(Result.isSuccess(template))
  })

  it.each([
    ["{{".repeat(131_072)],
    ["{{ ".repeat(87_000) + "}}"],
    [`{{ steps.a.body["`.repeat(15_000)],
    [`{{ steps.a.body["`.repeat(15_000) + "}}"],
    [`{{ steps.a.body${"[0]".repeat(80_000)}`],
    ["{{" + " ".repeat(260_000) + "}}"],
    ["{{ x }}".repeat(37_000)]
  ])("reads 256 KiB of nonsense quickly (%#)", (source) => {
    const start = performance.now()
    assert.isAtMost(problems(source).length, 10)
    assert.isBelow(performance.now() - start, 1000)
  })
})
