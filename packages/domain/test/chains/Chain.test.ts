import { assert, describe, it } from "@effect/vitest"
import { ChainInput, ChainUpdate } from "@scheduling/domain/chains/Chain"
import { Result, Schema } from "effect"
import { issuesOf } from "../support/issues.ts"

const step = (fields: object) => ({ name: "a", url: "https://example.com/", ...fields })
const chain = (...steps: ReadonlyArray<object>) => ({ name: "Chain", steps })
const problems = (...steps: ReadonlyArray<object>) => issuesOf(ChainInput, chain(...steps))

describe("a chain", () => {
  it("takes steps that use the responses of those before them", () => {
    assert.deepStrictEqual(
      problems(
        step({ name: "login" }),
        step({ name: "use", headers: { authorization: "Bearer {{ steps.login.body.token }}" } }),
        step({
          name: "tell",
          url: "https://example.com/{{ steps.use.status }}?x={{ steps.login.body }}",
          body: '{"a":{{ steps.use.body.items[0] }}}',
          run_if: "always"
        })
      ),
      []
    )
  })

  it("rejects references to later, unknown and own steps, each with its path", () => {
    assert.deepStrictEqual(
      problems(
        step({ name: "a", url: "https://example.com/{{ steps.b.status }}" }),
        step({
          name: "b",
          headers: { "x-a": "{{ steps.b.body }}" },
          body: "{{ steps.nope.body.x }}"
        })
      ),
      [
        [
          "steps.0.url",
          'refers to {{ steps.b.status }} at character 21, but no earlier step has the name "b"'
        ],
        [
          "steps.1.headers.x-a",
          'refers to {{ steps.b.body }} at character 1, but no earlier step has the name "b"'
        ],
        [
          "steps.1.body",
          'refers to {{ steps.nope.body.x }} at character 1, but no earlier step has the name "nope"'
        ]
      ]
    )
  })

  it("rejects more than 2,000 references in all, whatever they are to, unread", () => {
    const used = (count: number, reference = "{{ steps.a.body }}") =>
      problems(
        step({}),
        step({ name: "b", body: reference.repeat(count - 1) }),
        step({ name: "c", headers: { "x-a": "{{ steps.b.status }}" } })
      )
    assert.deepStrictEqual(used(2_000), [])
    for (const reference of ["{{ steps.a.body }}", "{{ steps.nope.body }}", "{{ nope }}"]) {
      assert.deepStrictEqual(used(2_001, reference), [
        ["steps", "must contain at most 2000 references in all"]
      ])
    }
  })

  it("rejects what is no template, with its path", () => {
    const [[bodyPath, message] = [], ...others] = problems(step({ body: "{{ nope }}" }))
    assert.strictEqual(bodyPath, "steps.0.body")
    assert.match(message ?? "", /^has \{\{ nope \}\} at character 1, which is not a reference/)
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual(
      problems(step({ url: "https://{{ steps.a.body }}/" })).map(([path]) => path),
      ["steps.0.url"]
    )
  })

  it("names each step once", () => {
    assert.deepStrictEqual(problems(step({}), step({ name: "b" }), step({})), [
      ["steps.2.name", "is already the name of an earlier step"]
    ])
  })

  it.each(["", "1a", "a.b", "a b", "_a", "é", "a".repeat(65)])(
    "refuses the step name %j",
    (name) => {
      assert.deepStrictEqual(
        problems(step({ name })).map(([path]) => path),
        ["steps.0.name"]
      )
    }
  )

  it("has 1 to 50 steps", () => {
    const steps = (count: number) =>
      Array.from({ length: count }, (_, i) => step({ name: `s${i}` }))
    assert.deepStrictEqual(problems(...steps(50)), [])
    assert.strictEqual(problems().length, 1)
    assert.strictEqual(problems(...steps(51)).length, 1)
  })

  it("may have a schedule, and lose it again", () => {
    assert.deepStrictEqual(issuesOf(ChainInput, { ...chain(step({})), schedule: "0 3 * * *" }), [])
    assert.deepStrictEqual(Schema.decodeUnknownSync(ChainUpdate)({ schedule: null }), {
      schedule: null
    })
    assert.deepStrictEqual(Schema.decodeUnknownSync(ChainUpdate)({}), {})
    assert.isTrue(
      Result.isFailure(Schema.decodeUnknownResult(ChainUpdate)({ steps: [step({}), step({})] }))
    )
  })
})
