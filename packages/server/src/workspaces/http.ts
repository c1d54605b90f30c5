import { Api } from "@scheduling/domain/Api"
import { Caller } from "@scheduling/domain/auth/Caller"
import { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Effect } from "effect"
import { Accounts } from "../auth/Accounts.ts"
import { currentActor } from "../auth/currentActor.ts"
import { Idempotency } from "../platform/Idempotency.ts"
import { implement } from "../platform/implement.ts"
import { neverStored } from "../platform/neverStored.ts"
import { timestampOrNull } from "../platform/timestamp.ts"
import { Workspaces } from "./Workspaces.ts"

export const WorkspacesHandlers = implement(
  Api,
  "workspaces",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const idempotency = yield* Idempotency
    const workspaces = yield* Workspaces
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        return yield* workspaces.list((yield* currentActor).user_id, query)
      }),

      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const actor = yield* currentActor
        return yield* workspaces.create(actor, payload.name).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            operation: "workspaces.create",
            payload,
            answer: Workspace
          })
        )
      }),

      get: ({ params }) => workspaces.get(params.workspace_id),

      rename: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* workspaces.rename(yield* currentActor, params.workspace_id, payload.name)
      }),

      remove: Effect.fnUntraced(function* ({ params }) {
        yield* workspaces.remove(yield* currentActor, params.workspace_id)
      }),

      signingSecrets: Effect.fnUntraced(function* ({ params, query }) {
        yield* neverStored
        return yield* workspaces.signingSecrets(params.workspace_id, query)
      }),

      rotateSigningSecret: Effect.fnUntraced(function* ({ params }) {
        const actor = yield* currentActor
        yield* neverStored
        return yield* workspaces.rotateSigningSecret(actor, params.workspace_id)
      }),

      audit: ({ params, query }) => workspaces.audit(params.workspace_id, query),

      whoami: Effect.fnUntraced(function* () {
        const caller = yield* Caller
        if (caller.kind === "jwt")
          return { kind: "jwt", user: yield* accounts.get(caller.user_id) } as const
        const { expires_at, key_prefix, kind, scopes, workspace_id } = caller
        return {
          kind,
          workspace_id,
          key_prefix,
          scopes,
          expires_at: timestampOrNull(expires_at)
        }
      })
    })
  })
)
