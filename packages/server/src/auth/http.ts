import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement } from "../platform/implement.ts"
import { neverStored } from "../platform/neverStored.ts"
import { requestOrigin } from "../platform/RequestOrigin.ts"
import { Accounts } from "./Accounts.ts"
import { currentActor } from "./currentActor.ts"
import { Logins } from "./Logins.ts"

export const AuthHandlers = implement(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const logins = yield* Logins
    return handlers.handleAll({
      register: Effect.fnUntraced(function* ({ payload }) {
        return yield* accounts.register(payload, yield* requestOrigin)
      }),

      login: Effect.fnUntraced(function* ({ payload }) {
        yield* neverStored
        return yield* logins.login(payload, yield* requestOrigin)
      }),

      refresh: Effect.fnUntraced(function* ({ payload }) {
        yield* neverStored
        return yield* logins.refresh(payload.refresh_token, yield* requestOrigin)
      }),

      logout: Effect.fnUntraced(function* () {
        const actor = yield* currentActor
        // Somebody else may have ended it since this request was let in: it is over either way.
        yield* Effect.ignore(logins.end(actor, actor.session_id))
      }),

      me: Effect.fnUntraced(function* () {
        return yield* accounts.get((yield* currentActor).user_id)
      }),

      updateMe: Effect.fnUntraced(function* ({ payload }) {
        return yield* accounts.update(yield* currentActor, payload)
      }),

      removeMe: Effect.fnUntraced(function* ({ payload }) {
        yield* accounts.remove(yield* currentActor, payload.current_password)
      }),

      changePassword: Effect.fnUntraced(function* ({ payload }) {
        yield* neverStored
        return yield* accounts.changePassword(yield* currentActor, payload)
      }),

      sessions: Effect.fnUntraced(function* ({ query }) {
        return yield* logins.list(yield* currentActor, query)
      }),

      removeSession: Effect.fnUntraced(function* ({ params }) {
        yield* logins.end(yield* currentActor, params.session_id)
      })
    })
  })
)
