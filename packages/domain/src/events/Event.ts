import { Schema, Struct } from "effect"
import { PendingApproval } from "../executions/PendingApproval.ts"
import { Execution, ExecutionKind, ExecutionStatus, TaskId } from "../executions/Execution.ts"
import { IncidentCause, IncidentSubject } from "../incidents/Incident.ts"
import { MonitorKind, MonitorStatus } from "../monitors/Monitor.ts"
import { maxListedEvents } from "../notifications/NotificationDelivery.ts"
import {
  ApiKeyId,
  ChainId,
  ChainRunId,
  ExecutionId,
  IncidentId,
  MonitorId,
  NotificationChannelId,
  QueueId,
  WorkerId,
  WorkspaceId
} from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

// Records in the data of events. A record has the same fields in every event.

export const EventExecution = Schema.Struct(
  Struct.pick(Execution.fields, [
    "id",
    "kind",
    "task_id",
    "chain_run_id",
    "status",
    "attempts_count",
    "status_code",
    "error"
  ])
).annotate({ identifier: "EventExecution", description: "The execution at the time of the event." })
export type EventExecution = typeof EventExecution.Type

export const EventChainRun = Schema.Struct({
  id: ChainRunId,
  chain_id: ChainId,
  status: ExecutionStatus
}).annotate({ identifier: "EventChainRun", description: "The run of a chain with all its steps." })
export type EventChainRun = typeof EventChainRun.Type

export const EventTask = Schema.Struct({
  id: TaskId,
  kind: ExecutionKind
}).annotate({ identifier: "EventTask", description: "The cron task, delayed task or chain." })
export type EventTask = typeof EventTask.Type

export const EventMonitor = Schema.Struct({
  id: MonitorId,
  kind: MonitorKind,
  status: Schema.NullOr(MonitorStatus).annotate({
    description: "The new status. Null if the event is not about the status."
  })
}).annotate({ identifier: "EventMonitor", description: "The monitor." })
export type EventMonitor = typeof EventMonitor.Type

export const EventIncident = Schema.Struct({
  id: Schema.NullOr(IncidentId).annotate({
    description:
      "The id of the incident. Null if the incident was closed earlier because its monitor was changed."
  }),
  subject: IncidentSubject,
  cause: Schema.NullOr(IncidentCause).annotate({
    description: "Why the incident opened. Null if the id is null."
  })
}).annotate({ identifier: "EventIncident", description: "The incident and what it is about." })
export type EventIncident = typeof EventIncident.Type

export const EventQueue = Schema.Struct({ id: QueueId }).annotate({
  identifier: "EventQueue",
  description: "The queue."
})

export const EventWorker = Schema.Struct({ id: WorkerId }).annotate({
  identifier: "EventWorker",
  description: "The worker."
})

export const EventApiKey = Schema.Struct({ id: ApiKeyId }).annotate({
  identifier: "EventApiKey",
  description: "The API key."
})

export const EventChannel = Schema.Struct({ id: NotificationChannelId }).annotate({
  identifier: "EventChannel",
  description: "The channel."
})

export const EventQuota = Schema.Struct({
  name: Schema.String.annotate({
    description: "The name of the limit, as in the `quota` of a `quota_exceeded`.",
    examples: ["cron_tasks"]
  }),
  used: Schema.Int.annotate({ description: "The current usage." }),
  limit: Schema.Int.annotate({ description: "The limit of the plan." })
}).annotate({ identifier: "EventQuota", description: "A limit of the plan." })

export const EventNotice = Schema.Struct({
  title: Schema.String.annotate({
    description: "What happened, in one line.",
    examples: ["Failed: Nightly report"]
  }),
  name: Schema.String.annotate({
    description: "The name of the event's subject, such as a task or a monitor.",
    examples: ["Nightly report"]
  }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "The reason, in one line." }),
  facts: Schema.Array(
    Schema.Struct({
      name: Schema.String.annotate({
        description: "The name of the value.",
        examples: ["Attempts"]
      }),
      value: Schema.String.annotate({ description: "The value as text.", examples: ["3"] })
    })
  ).annotate({ description: "Further details in human-readable form." }),
  is_reminder: Schema.Boolean.annotate({
    description: "True if this is a reminder of an ongoing problem."
  })
}).annotate({
  identifier: "EventNotice",
  description:
    "The event in words, for people. Programs should read the other fields, which are stable."
})
export type EventNotice = typeof EventNotice.Type

const envelope = {
  id: Schema.String.annotate({
    description:
      "The id of this message. In a webhook or a callback, the id of the delivery, which is the same for " +
      "every attempt: use it to process each message once. A stream can be resumed from it with `Last-Event-ID`.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"]
  }),
  created_at: Timestamp.annotate({ description: "When the event happened." }),
  workspace_id: WorkspaceId
}

const notice = Schema.NullOr(EventNotice).annotate({
  description: "The event in words. Null in a stream of live events."
})

const exampleOf = <Type extends string, Data>(type: Type, data: Data) => ({
  id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42",
  type,
  created_at: "2026-01-31T09:30:00.127Z",
  workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d3f"),
  data
})

const typed = <const Types extends ReadonlyArray<string>>(types: Types, description: string) =>
  Schema.Literals(types).annotate({ description })

const data = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotate({ description: "The data of the event." })

const taskId = TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40")

const failedExecution: EventExecution = {
  id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  kind: "cron",
  task_id: taskId,
  chain_run_id: null,
  status: "failed",
  attempts_count: 3,
  status_code: 503,
  error: { code: "http_status", message: "responded with 503" }
}

const noticeOf = (title: string, name: string, reason: string | null) => ({
  title: `${title}: ${name}`,
  name,
  reason,
  facts: [],
  is_reminder: false
})

export const ExecutionEvent = Schema.Struct({
  ...envelope,
  type: typed(
    [
      "execution.queued",
      "execution.running",
      "execution.succeeded",
      "execution.failed",
      "execution.cancelled",
      "execution.skipped"
    ],
    "The new status of the execution. `execution.queued`: a request added the execution, or an attempt " +
      "failed and will be retried. The first event of a scheduled execution is " +
      "`execution.running`."
  ),
  data: data({ execution: EventExecution, notice })
}).annotate({
  identifier: "ExecutionEvent",
  description: "An execution of a task, or of a step of a chain, has a new status.",
  examples: [
    exampleOf("execution.failed", {
      execution: failedExecution,
      notice: noticeOf("Failed", "Nightly report", "responded with 503")
    })
  ]
})

export const ChainRunEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["chain_run.succeeded", "chain_run.failed", "chain_run.cancelled", "chain_run.skipped"],
    "The final status of the run. A run fails if any of its steps failed, even if later " +
      "steps succeeded."
  ),
  data: data({
    chain_run: EventChainRun,
    execution: EventExecution,
    notice
  })
}).annotate({
  identifier: "ChainRunEvent",
  description: "A chain run has finished. `execution` is the execution of its last step."
})

export const TaskEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["task.created", "task.updated", "task.deleted", "task.paused", "task.recovered"],
    "`task.updated`: somebody changed, paused or resumed the task. `task.paused`: the service paused the task, " +
      "because it kept failing or exceeds the plan. `task.recovered`: the first success after " +
      "failures that people were notified of. Streams contain only the first three types."
  ),
  data: data({
    task: EventTask,
    execution: Schema.NullOr(EventExecution).annotate({
      description: "The execution that succeeded, for `task.recovered`. Otherwise null."
    }),
    notice
  })
}).annotate({
  identifier: "TaskEvent",
  description: "A cron task, a delayed task or a chain was changed or has recovered."
})

export const EventApproval = PendingApproval.annotate({
  identifier: "EventApproval",
  description: "What the step waits for."
})

export const ApprovalEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["approval.requested"],
    "A step of a chain waits until somebody approves or rejects it."
  ),
  data: data({
    chain_run: EventChainRun,
    execution: EventExecution,
    approval: EventApproval,
    notice
  })
}).annotate({
  identifier: "ApprovalEvent",
  description:
    "A step of a chain waits for approval. Its message has a link on which people decide."
})

export const MonitorChangeEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["monitor.created", "monitor.updated", "monitor.deleted", "monitor.status_changed"],
    "`monitor.updated`: somebody changed the monitor. `monitor.status_changed`: the status is now `status`. " +
      "There is no event for `late`, which depends only on the time."
  ),
  data: data({ monitor: EventMonitor, notice })
}).annotate({ identifier: "MonitorChangeEvent", description: "A monitor has changed." })

export const IncidentEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["incident.opened", "incident.closed", "incident.acknowledged"],
    "`incident.opened`: the monitor went down. `incident.closed`: the monitor recovered; in streams also if " +
      "it was paused or changed, or somebody closed the incident. Only streams contain `incident.acknowledged`, " +
      "also for a snooze or a note, and incidents of tasks, whose messages are `execution.failed`, " +
      "`chain_run.failed` and `task.recovered`."
  ),
  data: data({ incident: EventIncident, notice })
}).annotate({
  identifier: "IncidentEvent",
  description: "A monitor went down or recovered, or somebody acknowledged the incident.",
  examples: [
    exampleOf("incident.opened", {
      incident: {
        id: IncidentId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d44"),
        subject: {
          kind: "heartbeat",
          id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43",
          name: "Nightly backup"
        },
        cause: { code: "missed", message: "No ping arrived in time" }
      },
      notice: noticeOf("Down", "Nightly backup", "No ping arrived in time")
    })
  ]
})

export const CertificateEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["certificate.expiring", "certificate.changed"],
    "`certificate.expiring`: the certificate expires within `warn_days`. " +
      "`certificate.changed`: the server sends another certificate."
  ),
  data: data({ monitor: EventMonitor, notice })
}).annotate({
  identifier: "CertificateEvent",
  description: "The certificate of an SSL monitor expires soon or has changed."
})

export const QueueEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["queue.created", "queue.updated", "queue.deleted"],
    "`queue.updated`: somebody changed, paused or resumed the queue. There is no event for the number of its runs."
  ),
  data: data({ queue: EventQueue, notice })
}).annotate({ identifier: "QueueEvent", description: "A queue was changed." })

export const WorkerEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["worker.created", "worker.updated", "worker.deleted", "worker.online", "worker.offline"],
    "`worker.updated`: somebody changed, paused or resumed the worker. `worker.offline`: the agent has stopped, or " +
      "has sent nothing for 15 seconds. Messages contain only the last two types."
  ),
  data: data({
    worker: EventWorker,
    notice
  })
}).annotate({
  identifier: "WorkerEvent",
  description:
    "A worker was changed, or its agent came online or went offline. API keys do not receive this event in streams."
})

export const ApiKeyEvent = Schema.Struct({
  ...envelope,
  type: typed(["api_key.expiring"], "Sent 7 days and 1 day before the key expires."),
  data: data({
    api_key: EventApiKey,
    notice
  })
}).annotate({ identifier: "ApiKeyEvent", description: "An API key is about to expire." })

export const QuotaEvent = Schema.Struct({
  ...envelope,
  type: typed(["quota.near"], "Sent at 80 % and at 100 % of the limit."),
  data: data({
    quota: EventQuota,
    notice
  })
}).annotate({ identifier: "QuotaEvent", description: "The usage is close to a limit of the plan." })

export const ChannelEvent = Schema.Struct({
  ...envelope,
  type: typed(
    ["channel.paused", "test"],
    "`channel.paused`: the service paused another channel, because its address or credential no longer " +
      "exists. `test`: somebody sent a test to this channel."
  ),
  data: data({
    channel: EventChannel,
    notice
  })
}).annotate({ identifier: "ChannelEvent", description: "An event about a notification channel." })

const singleEvents = [
  ExecutionEvent,
  ChainRunEvent,
  TaskEvent,
  ApprovalEvent,
  IncidentEvent,
  CertificateEvent,
  WorkerEvent,
  ApiKeyEvent,
  QuotaEvent,
  ChannelEvent
] as const

export const DigestEvent = Schema.Struct({
  ...envelope,
  type: typed(["digest"], "Several events in one message."),
  data: data({
    events_count: Schema.Int.annotate({ description: "The total number of events." }),
    events: Schema.Array(
      Schema.Union(singleEvents).annotate({
        identifier: "SingleEvent",
        description: "An event in a digest. `type` determines which of these schemas it has."
      })
    ).annotate({
      description: `The first ${maxListedEvents} events. The id of each is the id of the message and a number.`
    }),
    notice
  })
}).annotate({
  identifier: "DigestEvent",
  description:
    "The events within `group_seconds` or during quiet hours, as one message to a channel."
})

/** The body of a callback or of a message to a webhook channel. */
export const WebhookEvent = Schema.Union([...singleEvents, DigestEvent]).annotate({
  identifier: "WebhookEvent",
  description:
    "The body of a callback or of a message to a webhook channel. `type` determines which of these schemas it has. " +
    "New types may be added, so ignore unknown ones."
})
export type WebhookEvent = typeof WebhookEvent.Type

export const ResetEvent = Schema.Struct({
  ...envelope,
  type: typed(["reset"], "Some events may be missing: reload your data."),
  data: data({ notice })
}).annotate({ identifier: "ResetEvent", description: "Events may be missing before this one." })

export const LiveEvent = Schema.Union([
  ExecutionEvent,
  ChainRunEvent,
  TaskEvent,
  MonitorChangeEvent,
  IncidentEvent,
  QueueEvent,
  WorkerEvent,
  ResetEvent
]).annotate({
  identifier: "LiveEvent",
  description:
    "A change in the workspace. `type` determines which of these schemas it has. New types may be added, so ignore " +
    "unknown ones."
})
export type LiveEvent = typeof LiveEvent.Type

/** How long a stream can be resumed from an event id. */
export const resumableSeconds = 300

/** How often a stream sends a comment, so that clients can detect a dead connection. */
export const streamCommentSeconds = 15
