import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { monitorKindNames } from "@scheduling/domain/monitors/monitorNouns"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { StoredRule } from "./SettingsRepo.ts"

/** The kinds of records that a rule can name. */
export type Subject = "channel" | "monitor" | "task"

export interface SubjectRow {
  readonly subject: Subject
  readonly id: string
  readonly key: string | null
}

type Named = Readonly<Record<Subject, ReadonlyArray<string>>>

const statementOf =
  (sql: SqlClient.SqlClient, column: "id" | "key", type: "text[]" | "uuid[]") =>
  (workspaceId: AuthorizedWorkspaceId, named: Named) => {
    const among = (values: ReadonlyArray<string>) =>
      sql`${sql.literal(column)} = ANY (${values}::${sql.literal(type)})`
    return sql<SubjectRow>`
      SELECT 'channel' AS subject, id, key
      FROM notification_channels
      WHERE workspace_id = ${workspaceId}
        AND ${among(named.channel)}
      UNION ALL
      SELECT 'task', id, key
      FROM tasks
      WHERE workspace_id = ${workspaceId}
        AND kind IN ('cron', 'delayed', 'chain')
        AND ${among(named.task)}
      UNION ALL
      SELECT 'monitor', id, key
      FROM monitors
      WHERE workspace_id = ${workspaceId}
        AND kind = ANY (${monitorKindNames}::text[])
        AND ${among(named.monitor)}`
  }

const isNone = (named: Named) => Object.values(named).every((values) => values.length === 0)

/** Finds the channels, tasks and monitors that rules name by key or id. */
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

    /** Returns the keys of the records that the rules name. Records without a key are omitted. */
    findKeys: Effect.fn("RuleSubjectsRepo.findKeys")(function* (
      workspaceId: AuthorizedWorkspaceId,
      rules: ReadonlyArray<StoredRule>
    ) {
      const ids = {
        channel: rules.flatMap(({ channel_ids }) => channel_ids),
        task: rules.flatMap(({ task_ids = [] }) => task_ids),
        monitor: rules.flatMap(({ monitor_ids = [] }) => monitor_ids)
      }
      const rows = isNone(ids) ? [] : yield* byId(workspaceId, ids)
      return new Map(rows.flatMap(({ id, key }) => (key === null ? [] : [[id, key] as const])))
    }, Effect.orDie)
  }
}
