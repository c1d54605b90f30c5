import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ChainInput } from "@scheduling/domain/chains/Chain"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Rejects steps that name a channel or a member that the workspace does not have. */
export const approvalCheck = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    { steps = [] }: Partial<Pick<ChainInput, "steps">>
  ) {
    const named = steps.flatMap((step, index) =>
      step.kind === "approve"
        ? [
            ...(step.channel_ids ?? []).map((id, at) => ({
              id: id.toLowerCase(),
              path: ["steps", index, "channel_ids", at],
              noun: "channel"
            })),
            ...(step.approvers ?? []).map((id, at) => ({
              id: id.toLowerCase(),
              path: ["steps", index, "approvers", at],
              noun: "member"
            }))
          ]
        : []
    )
    if (named.length === 0) return
    const ids = named.map(({ id }) => id)
    const rows = yield* sql<{ readonly noun: string; readonly id: string }>`
      SELECT 'channel' AS noun, id
      FROM notification_channels
      WHERE workspace_id = ${workspaceId}
        AND id = ANY (${ids}::uuid[])
      UNION ALL
      SELECT 'member', user_id
      FROM memberships
      WHERE workspace_id = ${workspaceId}
        AND user_id = ANY (${ids}::uuid[])`.pipe(Effect.orDie)
    const known = new Set(rows.map(({ id, noun }) => `${noun} ${id}`))
    const issues = named
      .filter(({ id, noun }) => !known.has(`${noun} ${id}`))
      .map(({ id, noun, path }) =>
        issueAt(path, "not_found", `matches no ${noun} in this workspace: ${id}`)
      )
    if (issues.length > 0) return yield* new ValidationFailed({ issues })
  })
)
