// @tags slow long
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { bodyWith } from "./support/askWithinLimits.ts"
import { endpoints, propertiesOf } from "./support/contract.ts"
import { SharedOwner } from "./support/SharedOwner.ts"

const maxBytes = 1024 * 1024

/** Repeats the item until the text contains this many bytes. */
const fill = (item: string, bytes: number) =>
  Array.from({ length: Math.floor(bytes / (item.length + 1)) }, () => item).join()

const fields = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => `"x-${index}":${value}`).join()

/** JSON values of the given size that take more CPU time than their size suggests. */
const costly: Readonly<Record<string, (bytes: number) => string>> = {
  "many items": (bytes) => `[${fill("{}", bytes)}]`,
  "many texts": (bytes) => `[${fill('"x"', bytes)}]`,
  "as many items as are looked at": () => `[${fill("{}", 300)}]`,
  "many fields": (bytes) => `{${fields(bytes / 15, "1")}}`,
  "as many fields as are looked at": (bytes) => `{${fields(bytes / 300, "1")}}`,
  "deep nesting": (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
  "deep nesting in objects": (bytes) => '{"a":'.repeat(bytes / 6) + "1" + "}".repeat(bytes / 6),
  "a long text": (bytes) => `"${"a".repeat(bytes)}"`,
  "long white space": (bytes) => `"${" ".repeat(bytes)}a"`,
  "control characters": (bytes) => `"${"\\t".repeat(bytes / 2)}a"`,
  "a long schedule": (bytes) => `"${"* ".repeat(bytes / 2)}"`,
  "a long list in a schedule": () => `"${"x,".repeat(190)}1 * * * *"`,
  "a long time zone": (bytes) => `"${"A/".repeat(bytes / 2)}"`,
  "a long email": (bytes) => `"${"a@".repeat(bytes / 2)}a.com"`,
  "a long domain": (bytes) => `"a@${"a.".repeat(bytes / 2)}com"`,
  "a long address": (bytes) => `"${":".repeat(bytes)}z"`,
  "a long name of a host": (bytes) => `"${"a-".repeat(bytes / 2)}"`,
  "a long URL": (bytes) => `"https://a.example/${"%2f/".repeat(bytes / 4)}"`,
  "a long number": (bytes) => "9".repeat(bytes),
  "a long time": (bytes) => `"${"2".repeat(bytes)}"`
}

/** Almost the maximum size of a body. */
const ample = maxBytes * 0.9

const step = (name: string, rest: string) =>
  `{"name":"${name}","url":"https://a.example/"${rest === "" ? "" : `,${rest}`}}`

const steps = (rests: ReadonlyArray<string>) =>
  `[${[step("first", ""), ...rests.map((rest, index) => step(`s${index}`, rest))].join()}]`

const bodies = (count: number, part: string, bytes: number) =>
  steps(
    Array.from(
      { length: count },
      () => `"body":${JSON.stringify(part.repeat(Math.floor(bytes / part.length)))}`
    )
  )

/**
 * Values for a chain's steps that are expensive to process. The first few are within all limits.
 */
const costlySteps: Readonly<Record<string, string>> = {
  "a megabyte of text": bodies(49, "é", 9_000),
  "all headers": steps(
    Array.from({ length: 49 }, () => `"headers":{${fields(50, `"${"v".repeat(100)}"`)}}`)
  ),
  "all references": bodies(40, "{{ steps.first.body }}", 49 * 22),
  "bad headers": steps(
    Array.from({ length: 49 }, () => `"headers":{${fields(50, "1")},"bad name":"x"}`)
  ),
  "a megabyte of references": bodies(3, "{{steps.first.body}}", 240_000),
  "a megabyte of references to nothing": bodies(3, "{{steps.nothing.body}}", 240_000),
  "a megabyte of braces": bodies(3, "{{'{{'}}", 240_000),
  "a megabyte of open braces": bodies(3, "{{", 240_000),
  "a megabyte of keys": bodies(3, `{{steps.first.body${".a".repeat(100_000)}}}`, 240_000),
  "nothing right": `[${fill('{"a":1,"b":2,"name":1,"url":2,"method":3,"headers":4,"body":5}', 6_000)}]`
}

/**
 * Measures how long a fixed amount of work takes, so that the result does not depend on the
 * machine's speed.
 */
const unitMillis = () => {
  const text = `[${fill("{}", 600_000)}]`
  return Math.min(
    ...Array.from({ length: 5 }, () => {
      const start = process.threadCpuUsage()
      JSON.parse(text)
      return spentSince(start)
    })
  )
}

const spentSince = (start: NodeJS.CpuUsage) => {
  const { system, user } = process.threadCpuUsage(start)
  return (system + user) / 1_000
}

/** The maximum cost of a request, including the client's own cost, in units of 5 to 7 ms. */
const maxUnits = 6

layer(SharedOwner.layer.pipe(Layer.provideMerge(testAppLayer())), { timeout: "60 seconds" })(
  "The work of a body",
  (it) => {
    const assertCheap = Effect.fnUntraced(function* (
      { method, path }: { readonly method: string; readonly path: string },
      options: { readonly token: string; readonly body?: string; readonly unit: number },
      what: string
    ) {
      let { unit } = options
      let least = Infinity
      let status = 0
      // Garbage collection can disturb one attempt, but is unlikely to disturb four in a row.
      for (let attempt = 0; attempt < 4 && least > maxUnits; attempt++) {
        const start = process.threadCpuUsage()
        const answer = yield* ask(method, path, options)
        const spent = spentSince(start)
        // The machine may have become slower since the last measurement.
        if (spent > maxUnits * unit) unit = Math.max(unit, unitMillis())
        least = Math.min(least, spent / unit)
        status = answer.status
      }
      assert.isBelow(least, maxUnits, `${what} at ${method} ${path}: ${status}`)
    })

    describe.each(endpoints.filter(({ schema }) => schema !== undefined))(
      "for $method $path",
      (endpoint) => {
        it.effect("is bounded, whatever its content", () =>
          Effect.gen(function* () {
            const { member, pathOf } = yield* SharedOwner
            const { example = {}, method, schema } = endpoint
            const at = { method, path: yield* pathOf(endpoint) }
            const options = { token: member.access_token, unit: unitMillis() }
            const names = propertiesOf(schema)
            for (const [what, value] of Object.entries(costly)) {
              yield* assertCheap(at, { ...options, body: value(ample) }, what)
              const part = value(ample / names.length)
              const body = `{${names.map((name) => `"${name}":${part}`).join()}}`
              yield* assertCheap(at, { ...options, body }, `${what} in each field`)
            }
            if (!names.includes("steps")) return
            for (const [what, value] of Object.entries(costlySteps)) {
              const body = bodyWith(example, "steps", value)
              assert.isBelow(Buffer.byteLength(body), maxBytes)
              yield* assertCheap(at, { ...options, body }, what)
            }
          })
        )
      }
    )
  }
)
