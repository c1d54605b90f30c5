import { assert, describe, it } from "@effect/vitest"
import { type TemplateCall, TemplateUrl } from "@scheduling/domain/calls/TemplateCall"
import { type CallValues, templateValuesOf } from "../src/templateValues.ts"
import { renderCall } from "../src/renderCall.ts"
import { Result, Schema } from "effect"

/** Values for a call that refers to none of them. */
const none: CallValues = {
  run: { id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41", attempt: 1, scheduled_ms: 0 },
  task: null,
  input: null,
  steps: new Map(),
  secrets: new Map(),
  now_ms: 0
}

const answer = (value: unknown) =>
  templateValuesOf({
    ...none,
    steps: new Map([["a", { status_code: 200, response_body: JSON.stringify({ v: value }) }]])
  })

const render = (call: Partial<TemplateCall>, value: unknown) =>
  renderCall({ url: "https://example.com/", headers: {}, body: null, ...call }, answer(value))

const rendered = (call: Partial<TemplateCall>, value: unknown) =>
  Result.getOrThrow(render(call, value))

const refused = (call: Partial<TemplateCall>, value: unknown) => {
  const result = render(call, value)
  assert(Result.isFailure(result), JSON.stringify(result))
  return result.failure
}

const v = "{{ steps.a.body.v }}"

describe("a step's URL", () => {
  const problem = (url: string) => {
    const result = Schema.decodeUnknownResult(TemplateUrl)(url)
    return Result.isFailure(result) ? String(result.failure) : undefined
  }

  it("may use references in the path, the query and the fragment", () => {
    assert.isUndefined(problem(`https://example.com/${v}`))
    assert.isUndefined(problem(`https://example.com?x=${v}`))
    assert.isUndefined(problem(`HTTP://example.com:8080/a/${v}/b?x=${v}#${v}`))
  })

  it.each([
    v,
    `${v}://example.com/`,
    `http${v}://example.com/`,
    `https://${v}/`,
    `https://${v}.example.com/`,
    `https://example.com${v}/`,
    `https://example.com:${v}/`,
    `https://user:${v}@example.com/`
  ])("may not choose the host: %s", (url) => {
    assert.match(problem(url) ?? "", /only after the host/)
    assert.match(refused({ url }, "x"), /only after the host/)
  })

  it("must follow the rules of every URL", () => {
    assert.match(problem("ftp://example.com/") ?? "", /must start with http/)
    assert.match(problem(`https://u:p@example.com/${v}`) ?? "", /user name or password/)
    assert.match(problem(`https://example.com/{{ nope }}`) ?? "", /not a reference/)
    assert.match(problem(`https://example.com/${"x".repeat(2048)}`) ?? "", /2048/)
  })

  it("percent-encodes the values", () => {
    assert.strictEqual(
      rendered({ url: `https://example.com/${v}?q=${v}` }, "a/b?c#d&e=f g\r\n%").url,
      "https://example.com/a%2Fb%3Fc%23d%26e%3Df%20g%0D%0A%25?q=a%2Fb%3Fc%23d%26e%3Df%20g%0D%0A%25"
    )
    assert.strictEqual(
      rendered({ url: `https://example.com/${v}` }, "\ud800é").url,
      "https://example.com/%EF%BF%BD%C3%A9"
    )
  })

  it.each(["..", ".", ""])("keeps its path if a value is %j", (value) => {
    const message = 'url: a value must not leave a part of the path empty, "." or ".."'
    assert.strictEqual(refused({ url: `https://example.com/users/${v}` }, value), message)
    assert.strictEqual(refused({ url: `https://example.com/users/${v}/x` }, value), message)
    assert.strictEqual(
      rendered({ url: `https://example.com/users?x=${v}` }, value).url,
      `https://example.com/users?x=${value}`
    )
  })

  it("keeps its path if text and values form dots together", () => {
    assert.match(refused({ url: `https://example.com/a/.${v}/b` }, "."), /part of the path/)
    assert.match(refused({ url: `https://example.com/a/%2e${v}/b` }, "."), /part of the path/)
    assert.match(refused({ url: `https://example.com/a/${v}${v}/b` }, "."), /part of the path/)
  })

  it("keeps its host and depth with all values", () => {
    const values = [
      "//evil.com",
      "\\\\evil.com",
      "@evil.com",
      "..%2f",
      "\t",
      "%2e%2e",
      "x:y",
      "é\u0000"
    ]
    for (const value of values) {
      const { url } = rendered({ url: `https://example.com/a/${v}/b` }, value)
      assert.strictEqual(new URL(url).host, "example.com")
      assert.match(new URL(url).pathname, /^\/a\/[^/]+\/b$/)
    }
  })

  it("is rejected if it becomes too long", () => {
    assert.match(refused({ url: `https://example.com/${v}` }, "x".repeat(3000)), /^url is longer/)
  })
})

describe("a step's headers", () => {
  it("contain values as text", () => {
    const headers = { Authorization: `Bearer ${v}` }
    assert.deepStrictEqual(rendered({ headers }, "t=/+").headers, { Authorization: "Bearer t=/+" })
  })

  it.each(["x\r\nevil: 1", "x\ny", "x\u0000", "é"])("reject %j", (value) => {
    assert.strictEqual(
      refused({ headers: { "x-a": v } }, value),
      "header x-a must contain only printable ASCII characters"
    )
  })

  it("are rejected if they become too long", () => {
    assert.match(refused({ headers: { "x-a": v } }, "x".repeat(17_000)), /^header x-a is longer/)
  })
})

describe("a step's body", () => {
  it.each([
    [`{"a":"<${v}>"}`, 'q"\\\n', '{"a":"<q\\"\\\\\\n>"}'],
    [`{"a":${v}}`, 'q"', '{"a":"q\\""}'],
    [`{"a":${v}}`, { b: [1] }, '{"a":{"b":[1]}}'],
    [`{"a":"${v}"}`, { b: [1] }, '{"a":"{\\"b\\":[1]}"}'],
    [`{"a":${v}}`, null, '{"a":null}'],
    [`{"${v}":1}`, 'k":1,"x', '{"k\\":1,\\"x":1}'],
    [`[${v},"\\"${v}"]`, 5, '[5,"\\"5"]'],
    [v, { b: 1 }, '{"b":1}']
  ])("stays JSON: %s with %j", (body, value, expected) => {
    assert.strictEqual(rendered({ body }, value).body, expected)
  })

  it("takes the whole response as JSON or as text, depending on its position", () => {
    const body = '{"json":{{ steps.a.body }},"text":"{{ steps.a.body }}"}'
    assert.strictEqual(rendered({ body }, 1).body, '{"json":{"v":1},"text":"{\\"v\\":1}"}')
  })

  it("is encoded as a form if that is its content type", () => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" }
    assert.strictEqual(rendered({ headers, body: `t=${v}` }, "a+b&x=1").body, "t=a%2Bb%26x%3D1")
  })

  it("is plain text with any other content type, and when it is not JSON", () => {
    const headers = { "content-type": "text/plain" }
    assert.strictEqual(rendered({ headers, body: v }, 'a"b').body, 'a"b')
    assert.strictEqual(rendered({ body: `not json ${v}` }, 'a"b').body, 'not json a"b')
    const vendor = { "content-type": "application/vnd.api+json" }
    assert.strictEqual(rendered({ headers: vendor, body: `{"a":"${v}"}` }, '"').body, '{"a":"\\""}')
  })

  it("fails if a value is missing or null", () => {
    assert.strictEqual(
      refused({ body: "{{ steps.a.body.token }}" }, 1),
      "body: steps.a.body.token is missing"
    )
    assert.strictEqual(refused({ body: `{"a":"${v}"}` }, null), "body: steps.a.body.v is null")
  })

  it("stops growing at 256 KiB", () => {
    assert.match(
      refused({ body: `[${v},`.repeat(2000) + "]".repeat(2000) }, "x".repeat(9000)),
      /longer/
    )
    assert.strictEqual(
      refused({ body: `"${v.repeat(30)}"` }, "é".repeat(4500)),
      "body must be at most 256 KiB"
    )
  })

  it.prop("is JSON with all values", [Schema.fromJsonString(Schema.Json)], ([json]) => {
    const steps = new Map([
      ["a", { status_code: 200, response_body: JSON.stringify({ v: json ?? 0 }) }]
    ])
    const body = `{"a":${v},"b":["x {{ steps.a.body }}"],"{{ steps.a.body }}":{{ steps.a.body }}}`
    const result = Result.getOrThrow(
      renderCall(
        { url: "https://example.com/", headers: {}, body },
        templateValuesOf({ ...none, steps })
      )
    )
    const parsed = JSON.parse(result.body ?? "")
    assert.deepStrictEqual(Object.keys(parsed).slice(0, 2), ["a", "b"])
    assert.deepStrictEqual(parsed.a, JSON.parse(JSON.stringify(json ?? 0)))
  })
})
