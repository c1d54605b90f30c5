import { Console, Effect } from "effect"
import { AgentExitError, describeError } from "./ServiceRejection.ts"
import { ServiceClient } from "./service/ServiceClient.ts"
import type { Settings } from "./settings.ts"

/**
 * The id of a session that cannot exist. The service reports an unknown session only to a valid
 * token.
 */
const unknownSession = 2_147_483_647

/**
 * Checks that the service responds and accepts the token, without starting a session, and prints the
 * result.
 */
export const checkService = Effect.fnUntraced(function* ({
  labels,
  url
}: Pick<Settings, "labels" | "url">) {
  const service = yield* ServiceClient
  yield* service.beat({ payload: { session: unknownSession, running: [] } }).pipe(
    Effect.timeout("10 seconds"),
    Effect.catchTag("SessionEnded", () => Effect.void),
    Effect.catchTag("InvalidWorkerToken", () =>
      Effect.fail(new AgentExitError(`token      rejected by ${url.origin}`, 2))
    ),
    Effect.mapError((error) =>
      error instanceof AgentExitError
        ? error
        : new AgentExitError(
            `service    ${url.origin} did not respond as expected: ${describeError(error)}`,
            1
          )
    )
  )
  yield* Console.log(`service    ok: ${url.origin}\ntoken      ok`)
  // The service returns the labels only in the response to a hello, but a hello would end the
  // session of a running agent.
  if (labels !== undefined) {
    yield* Console.log(`labels     not checked: run warns if the worker lacks ${labels.join(", ")}`)
  }
})
