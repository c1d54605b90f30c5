import { Api } from "@scheduling/domain/Api"
import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Effect } from "effect"
import { currentActor } from "../audit/currentActor.ts"
import {
  checkTimeRange,
  Idempotency,
  implement,
  inWorkspace,
  preventCompression
} from "../../http/index.ts"
import { timestampOrNull } from "../../store/index.ts"
import { ServiceAccounts } from "../service-accounts/ServiceAccounts.ts"
import { findTokenUser } from "../users/findTokenUser.ts"
import { toUser, UsersRepo } from "../users/UsersRepo.ts"
import { Workspaces } from "./Workspaces.ts"

export const WorkspacesHandlers = implement(
  Api,
  "workspaces",
  Effect.fnUntraced(function* (handlers) {
    const users = yield* UsersRepo
    const idempotency = yield* Idempotency
    const serviceAccounts = yield* ServiceAccounts
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

      get: inWorkspace(workspaces.get),

      update: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          return yield* workspaces.rename(yield* currentActor, workspaceId, payload.name)
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          yield* workspaces.remove(yield* currentActor, workspaceId)
        })
      ),

      stop: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          return yield* workspaces.stop(yield* currentActor, workspaceId)
        })
      ),

      resume: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          return yield* workspaces.resume(yield* currentActor, workspaceId)
        })
      ),

      getSigningSecrets: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { query }) {
          yield* preventCompression
          return yield* workspaces.signingSecrets(workspaceId, query)
        })
      ),

      rotateSigningSecret: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          return yield* workspaces.rotateSigningSecret(yield* currentActor, workspaceId)
        })
      ),

      listAuditEvents: inWorkspace((workspaceId, { query }) =>
        Effect.andThen(checkTimeRange(query), workspaces.audit(workspaceId, query))
      ),

      whoami: Effect.fnUntraced(function* () {
        const principal = yield* Principal
        if (principal.kind === "jwt" && principal.service_account !== null) {
          const own = yield* Effect.mapError(
            serviceAccounts.ofToken(principal.user_id),
            () => new InvalidToken()
          )
          return { kind: "service_account", ...own } as const
        }
        if (principal.kind === "jwt") {
          const row = yield* findTokenUser(users, principal.user_id)
          return { kind: "jwt", user: toUser(row) } as const
        }
        const { expires_at, key_prefix, kind, scopes, workspace_id } = principal
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
