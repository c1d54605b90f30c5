import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Secrets, truncate } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import { ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { refusalHashes } from "../channels/Consent.ts"
import { insertMemberChannel } from "../channels/insertMemberChannel.ts"

interface MemberRow {
  readonly email: string
  readonly name: string | null
}

interface DueMember {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly user_id: UserId
}

/**
 * Creates the channels through which escalation policies notify members: an email channel to each
 * member's verified address. An address that refuses the workspace's emails receives no channel.
 */
export class MemberChannels extends Context.Service<MemberChannels>()(
  "@scheduling/server/notifications/escalations/MemberChannels",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const channels = yield* ChannelsRepo
      const ring = (yield* Secrets).keys("notification-link")
      const insert = yield* insertMemberChannel
      const withoutChannel = sql.literal(withoutChannelSql)

      const findWithout = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        userIds: ReadonlyArray<UserId>
      ) {
        yield* sql`
          SELECT user_id
          FROM memberships
          WHERE workspace_id = ${workspaceId}
            AND user_id = ANY (${userIds}::uuid[])
          ORDER BY user_id
          FOR UPDATE`
        // This is a separate statement, so that it sees a channel that was created before the lock
        // was taken.
        return yield* sql<MemberRow>`
          SELECT users.email, users.name
          FROM memberships
          JOIN users ON users.id = memberships.user_id
          WHERE memberships.workspace_id = ${workspaceId}
            AND memberships.user_id = ANY (${userIds}::uuid[])
            AND users.email_verified_at IS NOT NULL
            AND ${withoutChannel}
          ORDER BY users.id`
      }, Effect.orDie)

      /** Creates members' missing channels. Call it in a transaction. */
      const create = Effect.fn("MemberChannels.create")(function* (
        workspaceId: AuthorizedWorkspaceId,
        userIds: ReadonlyArray<UserId>
      ) {
        if (userIds.length === 0) return
        for (const { email: to, name } of yield* findWithout(workspaceId, userIds)) {
          const refusal = yield* channels.findRefusal(workspaceId, refusalHashes(ring, to))
          if (Option.isSome(refusal)) continue
          yield* insert(workspaceId, { name: truncate(name ?? to, 100), to, isConfirmed: true })
        }
      })

      const createInTransaction = transactionOf(sql)

      return {
        create,

        /**
         * Creates the missing channels of members whom a due step notifies. A channel can be
         * missing because the member's address has changed since the policy was saved.
         */
        createDue: Effect.fn("MemberChannels.createDue")(function* (now: Date) {
          const due = yield* sql<DueMember>`
            SELECT DISTINCT memberships.workspace_id, memberships.user_id
            FROM escalations
            JOIN escalation_policies AS policies ON policies.id = escalations.policy_id
            CROSS JOIN LATERAL jsonb_array_elements_text(
              policies.steps -> escalations.step -> 'member_ids'
            ) AS member (id)
            JOIN memberships
              ON memberships.workspace_id = escalations.workspace_id
              AND memberships.user_id = member.id::uuid
            JOIN users ON users.id = memberships.user_id
            WHERE escalations.due_at <= ${now}
              AND users.email_verified_at IS NOT NULL
              AND ${withoutChannel}
            LIMIT 100`
          for (const { user_id, workspace_id } of due) {
            yield* createInTransaction(create(workspace_id, [user_id]))
          }
        }, Effect.orDie)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const withoutChannelSql = `NOT EXISTS (
  SELECT
  FROM notification_channels AS channels
  WHERE channels.workspace_id = memberships.workspace_id
    AND channels.kind = 'email'
    AND channels.config ->> 'to' = users.email
)`
