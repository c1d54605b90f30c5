import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { parseCidrs } from "../../src/runner/EgressRules.ts"
import { TestApp, testAppLayer, testNow } from "../support/TestApp.ts"
import { attack } from "./Attack.ts"
import { describeFailure, isAnyIn } from "./Report.ts"

const seed = 1
const requests = 1_500

const sinkAddress = "127.0.0.2"
const egressAllow = Result.getOrThrow(parseCidrs(sinkAddress))

layer(testAppLayer({ egressAllow }))("Requests made from the contract", (it) => {
  it.effect("are answered as it says, valid ones and spoiled ones", () =>
    Effect.gen(function* () {
      const { logs, url } = yield* TestApp
      const sink = `http://${sinkAddress}:1`
      const outcome = yield* Effect.promise(() =>
        attack({ url, sink, seed, requests, concurrency: 16, now: testNow })
      )
      assert.deepStrictEqual(
        outcome.failures.map((failure) => describeFailure(url, seed, failure)),
        []
      )
      assert.deepStrictEqual(
        logs.filter((line) => /"level":"(?:WARN|ERROR|FATAL)"/i.test(line)),
        []
      )
      assert.isFalse(isAnyIn(outcome.secrets, logs.join("\n")), "a secret in the logs")

      const counts = [...outcome.answers.values()].flatMap((tally) => [...tally])
      const share = (kind: string) =>
        counts
          .filter(([name]) => name.startsWith(kind))
          .reduce((sum, [, count]) => sum + count / requests, 0)
      // Or it would be noise: most of them have to get past the door.
      assert.isAbove(share("2"), 0.4)
      assert.isAbove(share("422"), 0.02)
    })
  )
})
