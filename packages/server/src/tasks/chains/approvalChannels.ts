import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Chain } from "@scheduling/domain/chains/Chain"
import type { ChainStepInput } from "@scheduling/domain/chains/ChainStep"
import type { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { findRecordIds } from "../../incidents/index.ts"

interface Steps {
  readonly steps?: ReadonlyArray<ChainStepInput>
}

const keysOf = (step: ChainStepInput) => (step.kind === "approve" ? (step.channel_keys ?? []) : [])

/** Replaces the channel keys in a chain's steps with ids. */
export const channelKeysToIds =
  (sql: SqlClient.SqlClient) =>
  <Given extends object>(
    workspaceId: AuthorizedWorkspaceId,
    given: Given
  ): Effect.Effect<Given, ValidationFailed> => {
    const { steps = [] }: Steps = given
    const keys = steps.flatMap(keysOf)
    if (keys.length === 0) return Effect.succeed(given)
    return sql<{ readonly id: NotificationChannelId; readonly key: string }>`
      SELECT id, key
      FROM notification_channels
      WHERE workspace_id = ${workspaceId}
        AND key = ANY (${keys})`.pipe(
      Effect.orDie,
      Effect.flatMap((found) => {
        const selected = steps.map((step, index) => {
          if (step.kind !== "approve") return { step, issues: [] }
          const { channel_ids: ids, channel_keys: keys, ...others } = step
          const named = { field: "channel", noun: "channel", ids, keys }
          const { ids: channel_ids, issues } = findRecordIds<NotificationChannelId>(named, found, [
            "steps",
            index
          ])
          return { step: { ...others, channel_ids }, issues }
        })
        const issues = selected.flatMap((one) => one.issues)
        return issues.length > 0
          ? Effect.fail(new ValidationFailed({ issues }))
          : Effect.succeed({ ...given, steps: selected.map(({ step }) => step) })
      })
    )
  }

/** Adds channel keys to the steps. Runs no statement if no step names a channel. */
export const withChannelKeys =
  (sql: SqlClient.SqlClient) =>
  (chains: ReadonlyArray<Chain>): Effect.Effect<ReadonlyArray<Chain>> => {
    const named = chains.filter(({ steps }) =>
      steps.some((step) => step.kind === "approve" && step.channel_ids.length > 0)
    )
    if (named.length === 0) return Effect.succeed(chains)
    const ids = named.flatMap(({ steps }) =>
      steps.flatMap((step) => (step.kind === "approve" ? step.channel_ids : []))
    )
    return sql<{ readonly id: string; readonly key: string }>`
      SELECT id, key
      FROM notification_channels
      WHERE workspace_id = ANY (${named.map(({ workspace_id }) => workspace_id)}::uuid[])
        AND id = ANY (${ids}::uuid[])
        AND key IS NOT NULL`.pipe(
      Effect.orDie,
      Effect.map((rows) => {
        const keys = new Map(rows.map(({ id, key }) => [id, key]))
        const withKeys = (step: Chain["steps"][number]) =>
          step.kind === "approve"
            ? { ...step, channel_keys: step.channel_ids.flatMap((id) => keys.get(id) ?? []) }
            : step
        return chains.map((chain) => ({ ...chain, steps: chain.steps.map(withKeys) }))
      })
    )
  }
