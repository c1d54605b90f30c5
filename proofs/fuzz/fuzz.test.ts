// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { TestClock } from "effect/testing"
import { TestApp, testAppLayer, testNow } from "../../packages/server/test/support/TestApp.ts"
import { attack } from "./Attack.ts"
import { describeFailure, isAnyIn } from "./Report.ts"
import { sinkAddress, startSink } from "./Sink.ts"

const seed = 2
const requests = 1_500

const egressAllow = Result.getOrThrow(parseCidrs(sinkAddress))

layer(testAppLayer({ egressAllow }))("requests generated from the contract", (it) => {
  it.effect(
    "get responses that match the contract, whether valid or mutated",
    () =>
      Effect.gen(function* () {
        const { logs, url } = yield* TestApp
        const sink = yield* startSink
        // Some requests wait for a result, and their timeouts use the test clock.
        yield* Effect.forkScoped(
          Effect.forever(
            Effect.andThen(TestClock.withLive(Effect.sleep(500)), TestClock.adjust(1_000))
          )
        )
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
        // The test is useful only if most requests pass authentication and many refer to existing
        // records.
        assert.isBelow(share("401") + share("403"), 0.15)
        assert.isAbove(share("2"), 0.2)
        assert.isAbove(share("422"), 0.1)
      }),
    120_000
  )
})
