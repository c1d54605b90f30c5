// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { changedRows, readAllRows } from "../adversarial/support/readAllRows.ts"
import { type Answer, signUp, times } from "../support/http.ts"
import { keyedKinds, keyedClientOf } from "../support/keyed.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { workerClientOf } from "../workers/workers.ts"

const size = 1_000
/** Kinds of records that are limited to 100 per workspace. */
const scarce = ["notifications", "queues"]
const mostScarce = 90

layer(testAppLayer(), { timeout: "120 seconds" })("a file of 1,000 definitions", (it) => {
  it.effect(
    "changes nothing when it is applied again",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(testNow)
        const member = yield* signUp()
        const worker_id: string = (yield* workerClientOf(member).create()).body.id
        const keyed = keyedClientOf(member)
        const isScarce = ({ path }: { readonly path: string }) =>
          scarce.some((kind) => path.startsWith(kind))
        const few = keyedKinds.filter(isScarce)
        const many = keyedKinds.filter((kind) => !isScarce(kind))
        const file = times(size, (index) => {
          const among = index < mostScarce ? few : many
          const { definition, path } = among[index % among.length] ?? assert.fail()
          return {
            path,
            key: `file:${index}`,
            definition: "match" in definition ? { ...definition, worker_id } : definition
          }
        })
        const put = Effect.forEach(
          file,
          ({ definition, key, path }) => keyed.put(path, key, definition),
          { concurrency: 8 }
        )
        const made = yield* put
        assert.deepStrictEqual(new Set(made.map(statusOf)), new Set([201]))
        yield* TestClock.adjust("1 second")
        const before = yield* readAllRows
        const again = yield* put
        assert.deepStrictEqual(new Set(again.map(statusOf)), new Set([200]))
        assert.deepStrictEqual(
          again.map(({ text }) => text),
          made.map(({ text }) => text)
        )
        assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])
      }),
    120_000
  )
})

const statusOf = ({ status, text }: Answer) => (status < 300 ? status : text)
