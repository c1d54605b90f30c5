import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { UserId } from "@scheduling/domain/shared/Ids"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeyRepo } from "./api-keys/ApiKeyRepo.ts"
import { type AccountAction, AuditLog } from "./audit/AuditLog.ts"
import type { RequestOrigin } from "../http/index.ts"
import { UsageRepo } from "../plans/index.ts"
import { InvitationsRepo } from "./members/InvitationsRepo.ts"
import { MembersRepo } from "./members/MembersRepo.ts"
import { AccountEvents } from "./AccountEvents.ts"
import { EndSignals } from "../events/index.ts"
import { SigningSecrets } from "../engine/index.ts"
import { ServiceAccountsRepo } from "./service-accounts/ServiceAccountsRepo.ts"
import { UserLinksRepo } from "./users/UserLinksRepo.ts"
import { type UserRow, UsersRepo } from "./users/UsersRepo.ts"
import { PasskeysRepo } from "./passkeys/PasskeysRepo.ts"
import { AccountReclaimsRepo } from "./AccountReclaimsRepo.ts"
import { SecondFactors } from "./totp/SecondFactors.ts"

/**
 * Gives an account to the owner of its email address, in case somebody else registered the account.
 */
export class AccountReclaims extends Context.Service<
  AccountReclaims,
  {
    /**
     * Marks an account's email as verified. If it was not verified before, also revokes all access
     * that others could have to the account. Call it for a person who has proved that they own the
     * address, in the transaction that locks the account.
     */
    readonly reclaim: (
      user: Pick<UserRow, "id" | "email">,
      origin: RequestOrigin
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/AccountReclaims") {
  static readonly layer: Layer.Layer<
    AccountReclaims,
    never,
    | ApiKeyRepo
    | AuditLog
    | AccountEvents
    | EndSignals
    | InvitationsRepo
    | MembersRepo
    | PasskeysRepo
    | AccountReclaimsRepo
    | SecondFactors
    | ServiceAccountsRepo
    | SigningSecrets
    | SqlClient.SqlClient
    | UsageRepo
    | UserLinksRepo
    | UsersRepo
  > = Layer.effect(
    AccountReclaims,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const apiKeys = yield* ApiKeyRepo
      const audit = yield* AuditLog
      const events = yield* AccountEvents
      const endSignals = yield* EndSignals
      const factors = yield* SecondFactors
      const invitations = yield* InvitationsRepo
      const links = yield* UserLinksRepo
      const members = yield* MembersRepo
      const passkeys = yield* PasskeysRepo
      const repo = yield* AccountReclaimsRepo
      const serviceAccounts = yield* ServiceAccountsRepo
      const signing = yield* SigningSecrets
      const usage = yield* UsageRepo
      const users = yield* UsersRepo

      /** Removes other members, service accounts, keys and tokens of a locked workspace. */
      const clear = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        userId: UserId,
        origin: RequestOrigin
      ) {
        const now = yield* DateTime.nowAsDate
        const record = (action: AuditEvent["action"], subject_id: string, details: object = {}) =>
          audit.recordInWorkspace(action, workspaceId, {
            actor_id: userId,
            subject_id,
            origin,
            details: { ...details }
          })
        for (const { id, role } of yield* invitations.removeAll(workspaceId)) {
          yield* record("invitation.removed", id, { role })
        }
        const removed = yield* members.removeAllBut(workspaceId, userId)
        for (const { email, id, role } of removed) {
          yield* events.memberEmailRemoved(email, [workspaceId], origin)
          yield* record("member.removed", id, { role })
        }
        const tools = yield* serviceAccounts.removeAll(workspaceId)
        for (const { id, name } of tools) yield* record("service_account.deleted", id, { name })
        yield* usage.record("seats", [workspaceId], now)
        const ended = [...removed, ...tools].map(({ id }) => id)
        yield* sql.afterCommit(Effect.sync(() => endSignals.send(ended)))
        for (const { id } of yield* apiKeys.updateAllRevoked(workspaceId, now)) {
          yield* record("api_key.revoked", id)
        }
        for (const { id } of yield* repo.revokeWorkers(workspaceId, now)) {
          yield* record("worker.token_revoked", id)
        }
        yield* record("signing_secret.rotated", (yield* signing.rotate(workspaceId)).id)
      })

      return AccountReclaims.of({
        reclaim: Effect.fn("AccountReclaims.reclaim")(function* ({ email, id }, origin) {
          const now = yield* DateTime.nowAsDate
          if (!(yield* users.updateVerified(id, now))) return
          const userId = UserId.make(id)
          const record = (action: AccountAction, details = {}) =>
            audit.recordForAccount(action, id, { actor_id: userId, origin, details })
          yield* links.removeAny(id, "email")
          yield* record("email.verified", { changed: false })
          if (yield* factors.remove(id)) yield* record("totp.disabled")
          if ((yield* passkeys.removeAll(id)) > 0) yield* record("passkey.removed")
          for (const workspaceId of yield* repo.lockSolelyOwned(id)) {
            yield* clear(workspaceId, userId, origin)
          }
          yield* events.emailVerified(id, email, now)
        })
      })
    })
  )
}
