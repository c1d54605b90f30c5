/** A job's work in the compared schedulers: a call, made as fast as Node can, and a history row. */
import { Pool } from "undici"

/** A job's payload. */
export interface JobPayload {
  readonly workspace_id: string
  readonly task_id: string
  readonly body: string
  readonly scheduled_for: string
}

export interface HistoryRow {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly status: "succeeded"
  readonly scheduled_for: string
  readonly started_at: Date
  readonly finished_at: Date
  readonly duration_ms: number
  readonly status_code: number
  readonly response_body: string
}

/**
 * The maximum number of concurrent calls, which is the service's limit for connections to one host.
 */
export const concurrency = 512

const target = new URL(process.env["SINK_URL"] ?? "")

const connections = new Pool(target.origin, {
  connections: concurrency,
  headersTimeout: 30_000,
  bodyTimeout: 30_000
})

/** Makes a job's call. Throws unless the response is 2xx, so that the queue retries the job. */
export const makeCall = async (
  id: string,
  { body, scheduled_for, task_id, workspace_id }: JobPayload
): Promise<HistoryRow> => {
  const started_at = new Date()
  const answer = await connections.request({
    method: "POST",
    path: target.pathname,
    headers: { "content-type": "application/json", "idempotency-key": id },
    body
  })
  const response_body = await answer.body.text()
  if (answer.statusCode < 200 || answer.statusCode >= 300) {
    throw new Error(`responded with ${answer.statusCode}`)
  }
  const finished_at = new Date()
  return {
    id,
    workspace_id,
    task_id,
    status: "succeeded",
    scheduled_for,
    started_at,
    finished_at,
    duration_ms: finished_at.getTime() - started_at.getTime(),
    status_code: answer.statusCode,
    response_body
  }
}
