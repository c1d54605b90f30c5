import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { AppConfig } from "../core/index.ts"
import { implement, requestOrigin } from "../http/index.ts"
import { Accounts } from "./Accounts.ts"
import { currentActor } from "./audit/currentActor.ts"
import { EmailLinks } from "./email/EmailLinks.ts"
import { Logins } from "./sessions/Logins.ts"
import { Passkeys } from "./passkeys/Passkeys.ts"
import { ProviderLogins } from "./oidc/ProviderLogins.ts"
import { PasswordResets } from "./passwords/PasswordResets.ts"
import { TotpSettings } from "./totp/TotpSettings.ts"

export const AuthHandlers = implement(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const { authProxyHeader, passwordLogin } = yield* AppConfig
    const accounts = yield* Accounts
    const emailLinks = yield* EmailLinks
    const logins = yield* Logins
    const resets = yield* PasswordResets
    const passkeys = yield* Passkeys
    const providerLogins = yield* ProviderLogins
    return handlers.handleAll({
      getOptions: () => {
        const { name } = providerLogins
        return Effect.succeed({
          password: passwordLogin === "on",
          passkey: passkeys.areAvailable,
          provider: name === undefined ? null : { name },
          proxy: authProxyHeader !== undefined
        })
      },

      register: Effect.fnUntraced(function* ({ payload }) {
        return yield* accounts.register(payload, yield* requestOrigin)
      }),

      login: Effect.fnUntraced(function* ({ payload }) {
        return yield* logins.login(payload, yield* requestOrigin)
      }),

      refresh: Effect.fnUntraced(function* ({ payload }) {
        return yield* logins.refresh(payload.refresh_token, yield* requestOrigin)
      }),

      forgotPassword: Effect.fnUntraced(function* ({ payload }) {
        yield* resets.request(payload.email, yield* requestOrigin)
      }),

      resetPassword: Effect.fnUntraced(function* ({ payload }) {
        yield* resets.use(payload.token, payload.new_password, yield* requestOrigin)
      }),

      verifyEmail: Effect.fnUntraced(function* ({ payload }) {
        yield* emailLinks.use(payload.token, yield* requestOrigin)
      }),

      resendEmailLink: Effect.fnUntraced(function* () {
        yield* accounts.resendEmailLink(yield* currentActor)
      }),

      logout: Effect.fnUntraced(function* () {
        const actor = yield* currentActor
        // Another request may already have ended the session. The logout succeeds in this case too.
        yield* Effect.ignore(logins.end(actor, actor.session_id))
      }),

      getMe: Effect.fnUntraced(function* () {
        return yield* accounts.get((yield* currentActor).user_id)
      }),

      updateMe: Effect.fnUntraced(function* ({ payload }) {
        return yield* accounts.update(yield* currentActor, payload)
      }),

      deleteMe: Effect.fnUntraced(function* ({ payload }) {
        yield* accounts.remove(yield* currentActor, payload.current_password)
      }),

      changePassword: Effect.fnUntraced(function* ({ payload }) {
        return yield* accounts.changePassword(yield* currentActor, payload)
      }),

      listSessions: Effect.fnUntraced(function* ({ query }) {
        return yield* logins.list(yield* currentActor, query)
      }),

      deleteSession: Effect.fnUntraced(function* ({ params }) {
        yield* logins.end(yield* currentActor, params.session_id)
      })
    })
  })
)

export const TotpHandlers = implement(
  Api,
  "totp",
  Effect.fnUntraced(function* (handlers) {
    const settings = yield* TotpSettings
    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        return yield* settings.get(yield* currentActor)
      }),

      start: Effect.fnUntraced(function* ({ payload }) {
        return yield* settings.start(yield* currentActor, payload.current_password)
      }),

      confirm: Effect.fnUntraced(function* ({ payload }) {
        return yield* settings.confirm(yield* currentActor, payload.code)
      }),

      delete: Effect.fnUntraced(function* ({ payload }) {
        yield* settings.remove(yield* currentActor, payload)
      })
    })
  })
)
