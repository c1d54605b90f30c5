import { type EventIncident, WebhookEvent } from "@scheduling/domain/events/Event"
import { TaskId } from "@scheduling/domain/executions/Execution"
import type { NotificationEvent } from "@scheduling/domain/notifications/NotificationEvent"
import {
  ApiKeyId,
  ChainId,
  ChainRunId,
  ExecutionId,
  IncidentId,
  MonitorId,
  NotificationChannelId,
  WorkerId
} from "@scheduling/domain/shared/Ids"
import { Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { OutboxEventData, EventData, RunData } from "../../../src/events/Outbox.ts"

const parse = Schema.decodeUnknownSync(WebhookEvent, { onExcessProperty: "error" })

type SingleEvent = Exclude<WebhookEvent, { readonly type: "digest" }>

/** Decodes the events in a webhook request's body, according to the contract. */
export const eventsIn = (body: unknown): ReadonlyArray<SingleEvent> => {
  const event = parse(body)
  return event.type === "digest" ? event.data.events : [event]
}

export const typesIn = (body: unknown): ReadonlyArray<string> =>
  eventsIn(body).map(({ type }) => type)

/** Returns the number of events that a message is about, including those that it does not list. */
export const countIn = (body: unknown): number => {
  const event = parse(body)
  return event.type === "digest" ? event.data.events_count : 1
}

export const titleIn = (body: unknown): string => parse(body).data.notice?.title ?? ""

export const runData = (fields: Partial<RunData> = {}): RunData => ({
  kind: "cron",
  execution_id: randomUUID(),
  chain_run_id: null,
  step: null,
  status: "failed",
  status_code: null,
  error: "connection: connection refused",
  attempts: 1,
  ...fields
})

export const incidentOf = (monitorId: string, id: string = randomUUID()): EventIncident => ({
  id: IncidentId.make(id),
  subject: { kind: "heartbeat", id: monitorId, name: "Nightly backup" },
  cause: { code: "missed", message: "No ping arrived in time" }
})

/** Creates the data that the service adds to an event about a subject. */
export const announcementData = (
  event: NotificationEvent,
  subjectId: string,
  name = "db"
): OutboxEventData => {
  if (event === "execution.failed" || event === "chain_run.failed" || event === "task.recovered") {
    return { name, run: runData() }
  }
  return { name, about: aboutOf(event, subjectId) }
}

const aboutOf = (
  event: Exclude<NotificationEvent, "execution.failed" | "chain_run.failed" | "task.recovered">,
  id: string
): EventData => {
  switch (event) {
    case "task.paused":
      return { task: { id: TaskId.make(id), kind: "cron" }, execution: null }
    case "approval.requested":
      return {
        chain_run: {
          id: ChainRunId.make(id),
          chain_id: ChainId.make(id),
          status: "running"
        },
        execution: {
          id: ExecutionId.make(id),
          kind: "chain",
          task_id: TaskId.make(id),
          chain_run_id: ChainRunId.make(id),
          status: "running",
          attempts_count: 1,
          status_code: null,
          error: null
        },
        approval: { message: "Release?", until: "2026-06-02T12:00:00.000Z", approvers: [] }
      }
    case "incident.opened":
    case "incident.closed":
      return { incident: incidentOf(id) }
    case "certificate.expiring":
    case "certificate.changed":
      return { monitor: { id: MonitorId.make(id), kind: "ssl", status: "up" } }
    case "worker.offline":
    case "worker.online":
      return { worker: { id: WorkerId.make(id) } }
    case "api_key.expiring":
      return { api_key: { id: ApiKeyId.make(id) } }
    case "quota.near":
      return { quota: { name: "cron_tasks", used: 80, limit: 100 } }
    case "channel.paused":
    case "test":
      return { channel: { id: NotificationChannelId.make(id) } }
  }
}
