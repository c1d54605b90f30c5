import type { SqlClient } from "effect/sql"
import type { ChannelResult } from "../Kind.ts"
import type { ClaimedDelivery } from "./Claimed.ts"

/** What came of the attempt that is under way. */
export const updateAttempt = (
  sql: SqlClient.SqlClient,
  delivery: Pick<ClaimedDelivery, "id" | "attempts_count">,
  verdict: ChannelResult,
  now: Date
) => sql`
  UPDATE notification_attempts
  SET
    finished_at = ${now},
    status_code = ${verdict.status_code},
    response_body = ${verdict.response},
    error = ${verdict.error}
  WHERE delivery_id = ${delivery.id}
    AND number = ${delivery.attempts_count}`

export const countDelivered = (sql: SqlClient.SqlClient, workspaceId: string, now: Date) => sql`
  INSERT INTO usage_days AS used (workspace_id, day, notifications)
  VALUES (${workspaceId}, (${now}::timestamptz AT TIME ZONE 'UTC')::date, 1)
  ON CONFLICT (workspace_id, day) DO UPDATE
  SET notifications = used.notifications + 1`
