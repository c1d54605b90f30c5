import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { monitorKindNames } from "@scheduling/domain/monitors/monitorNouns"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { StoredRule } from "./SettingsRepo.ts"

/** The kinds of records that a rule can name. */
export type RuleSubjectKind = "channel" | "escalation" | "monitor" | "task"

export interface RuleSubjectRow {
  readonly subject: RuleSubjectKind
  readonly id: string
  readonly key: string | null
}

type Named = Readonly<Record<RuleSubjectKind, ReadonlyArray<string>>>

const statementOf =
  (sql: SqlClient.SqlClient, column: "id" | "key", type: "text[]" | "uuid[]") =>
  (workspaceId: AuthorizedWorkspaceId, named: Named) => {
    const isNamed = (values: ReadonlyArray<string>) =>
      sql`${sql.literal(column)} = ANY (${values}::${sql.literal(type)})`
    return sql<RuleSubjectRow>`
      SELECT 'channel' AS subject, id, key
      FROM notification_channels
      WHERE workspace_id = ${workspaceId}
        AND ${isNamed(named.channel)}
      UNION ALL
      SELECT 'escalation', id, key
      FROM escalation_policies
      WHERE workspace_id = ${workspaceId}
        AND ${isNamed(named.escalation)}
      UNION ALL
      SELECT 'task', id, key
      FROM tasks
      WHERE workspace_id = ${workspaceId}
        AND kind IN ('cron', 'delayed', 'chain')
        AND ${isNamed(named.task)}
      UNION ALL
      SELECT 'monitor', id, key
      FROM monitors
      WHERE workspace_id = ${workspaceId}
        AND kind = ANY (${monitorKindNames}::text[])
        AND ${isNamed(named.monitor)}`
  }

const isNone = (named: Named) => Object.values(named).every((values) => values.length === 0)

/**
 * Creates the queries that find the channels, escalation policies, tasks and monitors that rules
 * name by key or id.
 */
export const ruleSubjects = (sql: SqlClient.SqlClient) => {
  const byKey = statementOf(sql, "key", "text[]")
  const byId = statementOf(sql, "id", "uuid[]")
  return {
    findByKeys: Effect.fn("RuleSubjectsRepo.findByKeys")(function* (
      workspaceId: AuthorizedWorkspaceId,
      keys: Named
    ) {
      return isNone(keys) ? [] : yield* byKey(workspaceId, keys)
    }, Effect.orDie),

    /**
     * Returns those of the given ids that belong to escalation policies of the workspace. These
     * policies cannot be deleted until the commit.
     */
    lockEscalations: Effect.fn("RuleSubjectsRepo.lockEscalations")(function* (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) {
      if (ids.length === 0) return new Set<string>()
      const rows = yield* sql<{ readonly id: string }>`
        SELECT id
        FROM escalation_policies
        WHERE workspace_id = ${workspaceId}
          AND id = ANY (${ids}::uuid[])
        ORDER BY id
        FOR KEY SHARE`
      return new Set(rows.map(({ id }) => id))
    }, Effect.orDie),

    /** Returns the keys of the records that the rules name. Records without a key are omitted. */
    findKeys: Effect.fn("RuleSubjectsRepo.findKeys")(function* (
      workspaceId: AuthorizedWorkspaceId,
      rules: ReadonlyArray<StoredRule>
    ) {
      const ids = {
        channel: rules.flatMap(({ channel_ids }) => channel_ids),
        escalation: rules.flatMap(({ escalation_id }) => escalation_id ?? []),
        task: rules.flatMap(({ task_ids = [] }) => task_ids),
        monitor: rules.flatMap(({ monitor_ids = [] }) => monitor_ids)
      }
      const rows = isNone(ids) ? [] : yield* byId(workspaceId, ids)
      return new Map(rows.flatMap(({ id, key }) => (key === null ? [] : [[id, key] as const])))
    }, Effect.orDie)
  }
}
