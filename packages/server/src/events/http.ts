import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Access } from "@scheduling/domain/shared/Access"
import { Effect } from "effect"
import { Auth } from "../auth/Auth.ts"
import { stillAdmitted } from "../auth/Authentication.ts"
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
        Effect.fnUntraced(function* (workspaceId, { headers }) {
          return yield* streams.open({
            workspaceId,
            principal: yield* Principal,
            isAdmitted: yield* stillAdmitted(auth, Access.scope("executions:read")),
            after: headers["last-event-id"]
          })
        })
      )
    })
  })
)
