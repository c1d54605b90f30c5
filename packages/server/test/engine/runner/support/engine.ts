import { executionError, statusError } from "@scheduling/domain/executions/ExecutionError"
import { Effect, Layer, Redacted } from "effect"
import type { Database } from "../../../../src/store/Sql.ts"
import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import type { CallRequest } from "@scheduling/calls/CallRequest"
import type { CallResult } from "@scheduling/calls/CallResult"
import { EndSignals } from "../../../../src/events/EndSignals.ts"
import { Partitions } from "../../../../src/engine/Partitions.ts"
import { Runner } from "../../../../src/engine/runner/Runner.ts"
import { defaultRunnerOptions, RunnerOptions } from "../../../../src/engine/RunnerOptions.ts"
import { RunQueue } from "../../../../src/engine/RunQueue.ts"
import { TaskPauses } from "../../../../src/engine/TaskPauses.ts"
import { Completions } from "../../../../src/engine/completions/Completions.ts"
import { CompletionsRepo } from "../../../../src/engine/completions/CompletionsRepo.ts"
import {
  CompletionUrls,
  makeCompletionUrls
} from "../../../../src/engine/completions/CompletionUrls.ts"
import { makeSecrets } from "../../../../src/core/Secrets.ts"
import { AppConfig } from "../../../../src/core/config/Config.ts"
import { Limits } from "../../../../src/plans/Limits.ts"
import { Outbox } from "../../../../src/events/Outbox.ts"
import { LimitsRepo } from "../../../../src/plans/LimitsRepo.ts"
import { UsageRepo } from "../../../../src/plans/UsageRepo.ts"
import { testConfig } from "../../../support/TestApp.ts"
import { testSecret } from "../../../support/testSecret.ts"
import { Signals } from "../../../../src/events/Signals.ts"
import { DatabaseClockLayer } from "../../../../src/store/DatabaseClock.ts"
import { AccessTokens } from "../../../../src/engine/secrets/AccessTokens.ts"
import { CallSecrets, OpenedSecrets } from "../../../../src/engine/secrets/CallSecrets.ts"
import { SigningSecrets } from "../../../../src/engine/signing/SigningSecrets.ts"

const urls = makeCompletionUrls(makeSecrets([testSecret]), "http://127.0.0.1")

const signingSecret = Redacted.make(`whsec_${"A".repeat(43)}=`)

export const secretsLayer = Layer.mergeAll(
  Layer.mock(SigningSecrets, {
    findLive: (ids) => Effect.succeed(new Map(ids.map((id) => [id, [signingSecret]])))
  }),
  Layer.succeed(CompletionUrls, urls),
  // These tests' tasks use no secrets.
  Layer.succeed(CallSecrets, {
    open: () => Effect.succeed(new OpenedSecrets([])),
    changed: () => Effect.void
  }),
  Layer.mock(AccessTokens, {})
)

const CompletionsLayer = Completions.layer.pipe(Layer.provide(CompletionsRepo.layer))

const failure = ({ status_code }: Partial<CallResult>) =>
  status_code == null ? executionError("connection", "no answer") : statusError(status_code)

/** Completes every call with the function's result. */
export const callLayer = (
  answer: (request: CallRequest) => Effect.Effect<Partial<CallResult>>
): Layer.Layer<OutgoingCalls> =>
  Layer.effect(
    OutgoingCalls,
    Effect.gen(function* () {
      const runFork = Effect.runForkWith(yield* Effect.context())
      const run = (request: CallRequest) =>
        Effect.map(answer(request), (result) => ({
          status_code: 200,
          response_body: "ok",
          error: (result.outcome ?? "success") === "success" ? null : failure(result),
          retry_after_seconds: null,
          outcome: "success" as const,
          completes_later: false,
          exchange: null,
          duration_ms: 0,
          ...result
        }))
      const begin: OutgoingCalls["Service"]["begin"] = (request, onEnd) => {
        const fiber = runFork(run(request))
        fiber.addObserver(onEnd)
        return () => fiber.interruptUnsafe()
      }
      return OutgoingCalls.of({
        run,
        begin,
        makeReady: (request) => ({ begin: (onEnd) => begin(request, onEnd), drop: () => {} })
      })
    })
  )

/** The limits for a service without plans. */
export const limitsLayer: Layer.Layer<Limits, never, Database> = Limits.layer.pipe(
  Layer.provide([
    LimitsRepo.layer,
    UsageRepo.layer,
    Outbox.layer.pipe(Layer.provide(Signals.layer)),
    Layer.succeed(AppConfig, testConfig)
  ])
)

export const RunQueueLayer: Layer.Layer<
  RunQueue | EndSignals | Signals | Partitions,
  never,
  Database
> = RunQueue.layer.pipe(
  Layer.provide(limitsLayer),
  Layer.provideMerge(EndSignals.layer),
  Layer.provideMerge(Signals.layer),
  Layer.merge(Partitions.layer)
)

/** Creates one node. Each use of the layer is a separate node. */
export const nodeLayer = (
  call: Layer.Layer<OutgoingCalls>,
  options: Partial<RunnerOptions> = {}
): Layer.Layer<Runner | RunQueue | EndSignals | Signals, never, Database> =>
  Layer.fresh(
    Runner.layer.pipe(
      Layer.provide(CompletionsLayer),
      Layer.provideMerge(RunQueueLayer),
      Layer.provide([
        call,
        secretsLayer,
        DatabaseClockLayer,
        // Replaces the change log, another module's service, which would record when tasks are
        // paused.
        Layer.succeed(TaskPauses, { record: () => Effect.void }),
        Layer.succeed(RunnerOptions, { ...defaultRunnerOptions, ...options })
      ]),
      Layer.orDie
    )
  )
