import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maxConcurrentTests } from "@scheduling/domain/monitors/checks/testEndpoint"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer } from "effect"

const retryAfterSeconds = 1

/**
 * Limits how many tests of a workspace run at the same time on this node, so that tests scan no
 * network faster than monitors would.
 */
export class MonitorTests extends Context.Service<
  MonitorTests,
  {
    readonly run: <A, E, R>(
      workspaceId: AuthorizedWorkspaceId,
      test: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | RateLimited, R>
  }
>()("@scheduling/server/monitoring/MonitorTests") {
  static readonly layer: Layer.Layer<MonitorTests> = Layer.sync(MonitorTests, () => {
    const running = new Map<AuthorizedWorkspaceId, number>()

    const begin = (workspaceId: AuthorizedWorkspaceId) =>
      Effect.suspend(() => {
        const tests = running.get(workspaceId) ?? 0
        if (tests >= maxConcurrentTests) {
          return Effect.fail(
            new RateLimited({
              retry_after: retryAfterSeconds,
              message: `This workspace already tests ${tests} monitors. Try again in ${retryAfterSeconds} s.`
            })
          )
        }
        running.set(workspaceId, tests + 1)
        return Effect.void
      })

    const end = (workspaceId: AuthorizedWorkspaceId) =>
      Effect.sync(() => {
        const tests = (running.get(workspaceId) ?? 0) - 1
        if (tests > 0) running.set(workspaceId, tests)
        else running.delete(workspaceId)
      })

    return MonitorTests.of({
      run: (workspaceId, test) =>
        Effect.acquireUseRelease(
          begin(workspaceId),
          () => test,
          () => end(workspaceId)
        )
    })
  })
}
