import { Effect, Layer } from "effect"
import type { Database } from "../../../src/platform/Sql.ts"
import { Call, type CallRequest, type CallResult } from "../../../src/runner/Call.ts"
import { Endings } from "../../../src/runner/Endings.ts"
import { Partitions } from "../../../src/runner/Partitions.ts"
import { Runner } from "../../../src/runner/Runner.ts"
import { defaultRunnerOptions, RunnerOptions } from "../../../src/runner/RunnerOptions.ts"
import { RunQueue } from "../../../src/runner/RunQueue.ts"
import { Signals } from "../../../src/runner/Signals.ts"
import { SigningSecrets } from "../../../src/workspaces/SigningSecrets.ts"

export const secretsLayer = Layer.mock(SigningSecrets, {
  findLive: () => Effect.succeed(new Map())
})

/** Answers every call with what the function says. */
export const callLayer = (
  answer: (request: CallRequest) => Effect.Effect<Partial<CallResult>>
): Layer.Layer<Call> =>
  Layer.succeed(Call, {
    run: (request) =>
      Effect.map(answer(request), (result) => ({
        status_code: 200,
        response_body: "ok",
        error: null,
        retry_after_seconds: null,
        outcome: "success" as const,
        duration_ms: 0,
        ...result
      }))
  })

export const QueueLayer: Layer.Layer<RunQueue | Endings | Signals | Partitions, never, Database> =
  RunQueue.layer.pipe(
    Layer.provideMerge(Endings.layer),
    Layer.provideMerge(Signals.layer),
    Layer.merge(Partitions.layer)
  )

/** One node. Each use of it is a node of its own. */
export const nodeLayer = (
  call: Layer.Layer<Call>,
  options: Partial<RunnerOptions> = {}
): Layer.Layer<Runner | RunQueue | Endings, never, Database> =>
  Layer.fresh(
    Runner.layer.pipe(
      Layer.provideMerge(QueueLayer),
      Layer.provide([
        call,
        secretsLayer,
        Layer.succeed(RunnerOptions, { ...defaultRunnerOptions, ...options })
      ]),
      Layer.orDie
    )
  )
