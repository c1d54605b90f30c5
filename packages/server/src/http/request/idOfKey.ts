import {
  type AuthorizedWorkspaceId,
  CurrentWorkspace
} from "@scheduling/domain/auth/CurrentWorkspace"
import { type MonitorKindName, monitorKindNames } from "@scheduling/domain/monitors/monitorNouns"
import { NotFound } from "@scheduling/domain/shared/Errors"
import { type KeyedKind, parseRecordKey } from "@scheduling/domain/shared/requests/CallerChosenKey"
import type { Resource } from "@scheduling/domain/shared/Resource"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

interface Request {
  readonly params?: Readonly<Record<string, unknown>>
}

/**
 * Replaces `key:<key>` in the path of a request by the id of the record with that key. A request
 * that contains only ids needs no query.
 */
export const resolveKeys =
  (sql: SqlClient.SqlClient) =>
  <R extends Request, A, E, Needed>(
    handler: (request: R) => Effect.Effect<A, E, Needed>
  ): ((request: R) => Effect.Effect<A, E | NotFound, Needed | CurrentWorkspace>) => {
    const find = idOfKey(sql)
    return (request) => {
      for (const [name, value] of Object.entries(request.params ?? {})) {
        const named = typeof value === "string" ? parseRecordKey(value) : undefined
        if (named === undefined) continue
        return CurrentWorkspace.pipe(
          Effect.flatMap((workspaceId) => find(workspaceId, named)),
          Effect.flatMap((id) => handler({ ...request, params: { ...request.params, [name]: id } }))
        )
      }
      return handler(request)
    }
  }

interface Named {
  readonly kind: KeyedKind
  readonly key: string
}

/** Finds the id of the record of a kind with the given key. */
export const idOfKey = (sql: SqlClient.SqlClient) =>
  Effect.fn("idOfKey")(function* (workspaceId: AuthorizedWorkspaceId, { key, kind }: Named) {
    const { isOfKind, resource, table } = records[kind]
    const rows = yield* Effect.orDie(
      sql<{ readonly id: string }>`
        SELECT id
        FROM ${sql.literal(table)}
        WHERE workspace_id = ${workspaceId}
          AND key = ${key}
          ${isOfKind ? sql`AND kind = ${kind}` : sql.literal("")}`
    )
    const [row] = rows
    return row === undefined ? yield* new NotFound({ resource }) : row.id
  })

interface Records {
  readonly table: string
  readonly resource: Resource
  /** Whether the table has records of several kinds, each with its own keys. */
  readonly isOfKind: boolean
}

const task: Records = { table: "tasks", resource: "task", isOfKind: true }
const monitor: Records = { table: "monitors", resource: "monitor", isOfKind: true }

const monitorRecords = Object.fromEntries(
  monitorKindNames.map((kind) => [kind, monitor])
) as Readonly<Record<MonitorKindName, Records>>

const records: Readonly<Record<KeyedKind, Records>> = {
  cron: task,
  delayed: task,
  chain: { ...task, resource: "chain" },
  queue: { table: "queues", resource: "queue", isOfKind: false },
  ...monitorRecords,
  notification_channel: {
    table: "notification_channels",
    resource: "notification_channel",
    isOfKind: false
  }
}
