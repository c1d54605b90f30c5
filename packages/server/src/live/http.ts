import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Effect } from "effect"
import { Auth } from "../accounts/auth/Auth.ts"
import { type Denial, laterDecision } from "../accounts/auth/Authentication.ts"
import { implement } from "../http/implement.ts"
import { inWorkspace } from "../http/inWorkspace.ts"
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
            isAdmitted: stillAdmitted(yield* laterDecision(auth, endpoint)),
            after: headers["last-event-id"]
          })
        })
      )
    })
  })
)

/** A database that is away proves nothing. */
const stillAdmitted = (decision: Effect.Effect<void, Denial>) =>
  decision.pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
    Effect.catchCause(() => Effect.succeed(true))
  )
