import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentActor } from "../audit/currentActor.ts"
import { implement, inWorkspace, requestOrigin } from "../../http/index.ts"
import { Invitations } from "./Invitations.ts"
import { Members } from "./Members.ts"

export const MembersHandlers = implement(
  Api,
  "members",
  Effect.fnUntraced(function* (handlers) {
    const members = yield* Members
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => members.list(workspaceId, query)),

      update: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          const actor = yield* currentActor
          return yield* members.update(workspaceId, params.user_id, payload.role, actor)
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          yield* members.remove(workspaceId, params.user_id, yield* currentActor)
        })
      ),

      leave: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          yield* members.leave(workspaceId, yield* currentActor)
        })
      )
    })
  })
)

export const InvitationsHandlers = implement(
  Api,
  "invitations",
  Effect.fnUntraced(function* (handlers) {
    const invitations = yield* Invitations
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => invitations.list(workspaceId, query)),

      create: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          return yield* invitations.create(workspaceId, payload, yield* currentActor)
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          yield* invitations.remove(workspaceId, params.invitation_id, yield* currentActor)
        })
      ),

      preview: Effect.fnUntraced(function* ({ payload }) {
        return yield* invitations.preview(payload.token, yield* requestOrigin)
      }),

      accept: Effect.fnUntraced(function* ({ payload }) {
        return yield* invitations.accept(payload.token, yield* currentActor)
      })
    })
  })
)
