import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Effect } from "effect"
import { Auth, type Denial, makeAccessCheck } from "../accounts/index.ts"
import { implement, inWorkspace } from "../http/index.ts"
import { EventStreams } from "./EventStreams.ts"

export const EventsHandlers = implement(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const auth = yield* Auth
    const streams = yield* EventStreams
    return handlers.handleAll({
      stream: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { endpoint, headers }) {
          return yield* streams.open({
            workspaceId,
            principal: yield* Principal,
            isAdmitted: isStillAdmitted(yield* makeAccessCheck(auth, endpoint)),
            after: headers["last-event-id"]
          })
        })
      )
    })
  })
)

/**
 * Returns whether the client still has permission to read the stream. An unreachable database does
 * not end a stream, because it says nothing about the client's access.
 */
const isStillAdmitted = (decision: Effect.Effect<void, Denial>) =>
  decision.pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
    Effect.catchCause(() => Effect.succeed(true))
  )
