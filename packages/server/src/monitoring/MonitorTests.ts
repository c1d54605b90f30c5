import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal } from "@scheduling/domain/auth/Principal"
import { maxConcurrentTests } from "@scheduling/domain/monitors/checks/testEndpoint"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { makeWaitPermits, waitPermitHolderOf, waitWithoutPermit } from "../http/index.ts"

/** The maximum number of concurrent tests of all accounts on this node. */
const maxTests = 200

const retryAfterSeconds = 1

/**
 * Limits how many tests run at the same time on this node, so that tests scan no network faster
 * than monitors would.
 */
export class MonitorTests extends Context.Service<
  MonitorTests,
  {
    /** Runs a test that takes about `seconds` at most. */
    readonly run: <A, E, R>(
      workspaceId: AuthorizedWorkspaceId,
      seconds: number,
      test: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | RateLimited, R | Principal | HttpServerRequest.HttpServerRequest>
  }
>()("@scheduling/server/monitoring/MonitorTests") {
  static readonly layer: Layer.Layer<MonitorTests> = Layer.sync(MonitorTests, () => {
    const permits = makeWaitPermits({ all: maxTests, each: maxConcurrentTests })
    return MonitorTests.of({
      run: Effect.fnUntraced(function* (workspaceId, seconds, test) {
        if (!(yield* permits.take(waitPermitHolderOf(yield* Principal, workspaceId)))) {
          return yield* new RateLimited({
            retry_after: retryAfterSeconds,
            message: `Too many tests of monitors are running. Try again in ${retryAfterSeconds} s.`
          })
        }
        return yield* waitWithoutPermit(seconds * 1_000, test)
      }, Effect.scoped)
    })
  })
}
