import type { Forbidden } from "@scheduling/domain/auth/AuthErrors"
import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type CreatedInvitation,
  type Invitation,
  invitationDays,
  type InvitationInput,
  type InvitationPreview
} from "@scheduling/domain/members/Invitation"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  type RateLimited
} from "@scheduling/domain/shared/Errors"
import type { InvitationId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Context, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../access/authorize.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import {
  AppConfig,
  dayMs,
  hashLinkToken,
  Ids,
  linkTokenHashes,
  makeLinkToken,
  orNotFound,
  Secrets
} from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { Limits, UsageRepo } from "../../plans/index.ts"
import { AccountMails } from "../../mail/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { findTokenUser } from "../users/findTokenUser.ts"
import { UsersRepo } from "../users/UsersRepo.ts"
import { makeWorkspaceLock } from "../workspaces/makeWorkspaceLock.ts"
import { toWorkspace, WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"
import { invitationMail } from "./invitationMail.ts"
import {
  type InvitationRow,
  InvitationsRepo,
  toInvitation,
  toInvitationPreview
} from "./InvitationsRepo.ts"
import { MembersRepo } from "./MembersRepo.ts"

export class Invitations extends Context.Service<
  Invitations,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<Invitation>>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: InvitationInput,
      actor: Actor
    ) => Effect.Effect<
      CreatedInvitation,
      InvalidToken | NotFound | Conflict | Forbidden | QuotaExceeded | RateLimited
    >
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: InvitationId,
      actor: Actor
    ) => Effect.Effect<void, NotFound>
    /** Shows an invitation to whoever has its token, with or without an account. */
    readonly preview: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<InvitationPreview, NotFound | RateLimited>
    readonly accept: (
      token: Redacted.Redacted,
      actor: Actor
    ) => Effect.Effect<Workspace, InvalidToken | NotFound | Conflict | QuotaExceeded>
  }
>()("@scheduling/server/accounts/members/Invitations") {
  static readonly layer: Layer.Layer<
    Invitations,
    never,
    | AppConfig
    | AuditLog
    | Ids
    | InvitationsRepo
    | AccountMails
    | Limits
    | MembersRepo
    | Secrets
    | SqlClient.SqlClient
    | Throttle
    | UsageRepo
    | UsersRepo
    | WorkspacesRepo
  > = Layer.effect(
    Invitations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const { publicUrl = "" } = yield* AppConfig
      const audit = yield* AuditLog
      const mails = yield* AccountMails
      const throttle = yield* Throttle
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* InvitationsRepo
      const members = yield* MembersRepo
      const usage = yield* UsageRepo
      const users = yield* UsersRepo
      const workspaces = yield* WorkspacesRepo
      const lockAs = makeWorkspaceLock(workspaces)
      const ring = (yield* Secrets).keys("link-token")

      return Invitations.of({
        list: Effect.fn("Invitations.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, yield* DateTime.nowAsDate, page)
          return toPage(rows, page, toInvitation)
        }),

        create: Effect.fn("Invitations.create")(function* (workspaceId, { email, role }, actor) {
          yield* lockAs(workspaceId, actor, role === "owner" ? "owner" : "admin")
          if (Option.isSome(yield* members.findByEmail(workspaceId, email))) {
            return yield* new Conflict({
              resource: "member",
              field: "email",
              message: `A member with the email ${email} already exists.`
            })
          }
          if (mails.unavailable === null) {
            yield* throttle.countMail("invitations by", actor.user_id)
            yield* throttle.countMailTo("invitations to", email)
          }
          const now = yield* DateTime.nowAsDate
          yield* limits.allowOneMore(workspaceId, "open_invitations")
          const token = makeLinkToken()
          const row: InvitationRow & { readonly workspace_id: AuthorizedWorkspaceId } = {
            id: yield* ids.next,
            workspace_id: workspaceId,
            email,
            role,
            token_hash: hashLinkToken(ring, "invitation", token),
            invited_by: actor.user_id,
            expires_at: new Date(now.getTime() + invitationDays * dayMs),
            created_at: now
          }
          yield* repo.insert(row)
          // The event omits the email, because events outlive the account.
          yield* audit.recordInWorkspace("invitation.created", workspaceId, {
            actor_id: actor.user_id,
            subject_id: row.id,
            origin: actor.origin,
            details: { role }
          })
          if (mails.unavailable !== null) return { ...toInvitation(row), token }
          const mail = Effect.succeed(invitationMail(email, publicUrl, token))
          yield* sql.afterCommit(mails.post("an invitation", mail))
          return { ...toInvitation(row), token: null }
        }, transaction),

        remove: Effect.fn("Invitations.remove")(function* (workspaceId, id, actor) {
          const { role } = yield* requireInvitation(repo.remove(workspaceId, id))
          yield* audit.recordInWorkspace("invitation.removed", workspaceId, {
            actor_id: actor.user_id,
            subject_id: id,
            origin: actor.origin,
            details: { role }
          })
        }, transaction),

        preview: Effect.fn("Invitations.preview")(function* (token, origin) {
          yield* throttle.count("invitation previews", origin.ip)
          const hashes = linkTokenHashes(ring, "invitation", token)
          const row = yield* requireInvitationOfToken(
            repo.findPreview(hashes, yield* DateTime.nowAsDate)
          )
          return toInvitationPreview(row)
        }),

        accept: Effect.fn("Invitations.accept")(function* (token, actor) {
          const { email } = yield* findTokenUser(users, actor.user_id)
          const now = yield* DateTime.nowAsDate
          const hashes = linkTokenHashes(ring, "invitation", token)
          const invitation = yield* requireInvitationOfToken(repo.findByToken(hashes, email, now))
          const workspaceId = authorize(invitation.workspace_id)
          yield* workspaces.lock(workspaceId)
          // The invitation is deleted only after the workspace was locked. By then, it may already
          // have been used, withdrawn or replaced.
          const { role } = yield* requireInvitationOfToken(repo.remove(workspaceId, invitation.id))
          if (Option.isSome(yield* members.find(workspaceId, actor.user_id))) {
            return yield* new Conflict({
              resource: "member",
              message: "You are already a member of this workspace."
            })
          }
          yield* limits.allowOneMore(workspaceId, "members")
          const membership = { workspace_id: workspaceId, user_id: actor.user_id, role }
          if (!(yield* members.insert({ ...membership, created_at: now }))) {
            return yield* new InvalidToken()
          }
          yield* usage.record("seats", [workspaceId], now)
          yield* audit.recordInWorkspace("member.added", workspaceId, {
            actor_id: actor.user_id,
            subject_id: actor.user_id,
            origin: actor.origin,
            details: { role, invitation_id: invitation.id, invited_by: invitation.invited_by }
          })
          return toWorkspace(yield* requireWorkspace(workspaces.find(workspaceId)))
        }, transaction)
      })
    })
  )
}

const requireInvitation = orNotFound("invitation")
const requireInvitationOfToken = orNotFound(
  "invitation",
  "This invitation does not exist, has expired, was already used or is for another email address."
)
const requireWorkspace = orNotFound("workspace")
