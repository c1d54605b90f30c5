import { Console, Effect } from "effect"
import { AgentEnded, explain } from "./refusals.ts"
import { Service } from "./service/Service.ts"
import type { Settings } from "./settings.ts"

/** A session that nobody has: the service says so only to whoever has a token. */
const nobodysSession = 2_147_483_647

export const checkService = Effect.fnUntraced(function* ({
  labels,
  url
}: Pick<Settings, "labels" | "url">) {
  const service = yield* Service
  yield* service.beat({ payload: { session: nobodysSession, running: [] } }).pipe(
    Effect.timeout("10 seconds"),
    Effect.catchTag("SessionEnded", () => Effect.void),
    Effect.catchTag("InvalidWorkerToken", () =>
      Effect.fail(new AgentEnded(`token      refused by ${url.origin}`, 2))
    ),
    Effect.mapError((error) =>
      error instanceof AgentEnded
        ? error
        : new AgentEnded(
            `service    ${url.origin} does not answer as it should: ${explain(error)}`,
            1
          )
    )
  )
  yield* Console.log(`service    ok: ${url.origin}\ntoken      ok`)
  // The service says so only to an agent that begins, and that would end the one that runs.
  if (labels !== undefined) {
    yield* Console.log(`labels     not checked: run warns if the worker lacks ${labels.join(", ")}`)
  }
})
