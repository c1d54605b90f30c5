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

  it("has steps that wait for some seconds or until a time", () => {
    const wait = (fields: object) => ({ name: "b", kind: "wait", ...fields })
    const refused = (fields: object) => problems(step({}), wait(fields))
    for (const right of [
      { seconds: 1 },
      { seconds: 7_776_000, until: null, run_if: "always" },
      { until: "2026-01-31T09:30:00+01:00" },
      { until: "{{ input.at }}", seconds: null },
      { until: "{{ steps.a.body.day }}T18:00:00Z" }
    ]) {
      assert.deepStrictEqual(refused(right), [])
    }
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{}, "steps.1.seconds"],
      [{ seconds: 5, until: "2026-01-31T09:30:00Z" }, "steps.1.seconds"],
      [{ seconds: 0 }, "steps.1.seconds"],
      [{ seconds: 7_776_001 }, "steps.1.seconds"],
      [{ until: "tomorrow" }, "steps.1.until"],
      [{ until: "2026-01-31T09:30:00" }, "steps.1.until"],
      [{ until: "{{ steps.c.body }}" }, "steps.1.until"],
      [{ until: "{{ secrets.WHEN }}" }, "steps.1.until"],
      [{ until: "{{ nope }}" }, "steps.1.until"]
    ]
    for (const [fields, path] of wrong) {
      assert.include(
        refused(fields).map(([at]) => at),
        path,
        JSON.stringify(fields)
      )
    }
  })

  it("has steps that wait for approval", () => {
    const approve = (fields: object) =>
      problems(step({}), { name: "b", kind: "approve", timeout_seconds: 60, ...fields })
    const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"
    for (const right of [
      {},
      { message: "Release {{ input.version }} of {{ steps.a.body }}?", channel_ids: [id] },
      { message: null, approvers: [id], run_if: "always", timeout_seconds: 7_776_000 }
    ]) {
      assert.deepStrictEqual(approve(right), [])
    }
    for (const [fields, path] of [
      [{ timeout_seconds: 0 }, "steps.1.timeout_seconds"],
      [{ timeout_seconds: undefined }, "steps.1.timeout_seconds"],
      [{ message: "{{ secrets.KEY }}" }, "steps.1.message"],
      [{ message: "{{ steps.c.body }}" }, "steps.1.message"],
      [{ approvers: ["ada"] }, "steps.1.approvers.0"]
    ] as const) {
      assert.include(
        approve(fields).map(([at]) => at),
        path
      )
    }
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
