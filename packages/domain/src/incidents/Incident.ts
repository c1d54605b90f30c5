import { Schema } from "effect"
import { ExecutionErrorCode } from "../executions/ExecutionError.ts"
import { checkErrorCodes } from "../monitors/checks/Check.ts"
import { NotificationKind } from "../notifications/NotificationChannel.ts"
import { DeliveryStatus } from "../notifications/NotificationDelivery.ts"
import { Actor } from "../shared/Actor.ts"
import {
  ExecutionId,
  IncidentId,
  NotificationChannelId,
  NotificationDeliveryId,
  RecordId,
  WorkspaceId
} from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { text } from "../shared/Text.ts"
import { Timestamp, timestampInput, createdAt, finishedAt } from "../shared/Timestamp.ts"
import { IncidentSubjectKind, incidentSubjectKinds } from "./Dependency.ts"

export { IncidentSubjectKind, incidentSubjectKinds }

/** The task or monitor that an incident is about. */
export const IncidentSubject = Schema.Struct({
  kind: IncidentSubjectKind,
  id: RecordId,
  name: Schema.String.annotate({
    description: "The name of the monitor or task when the incident opened."
  })
}).annotate({
  identifier: "IncidentSubject",
  description: "The monitor, cron task or chain that the incident is about.",
  examples: [
    {
      kind: "heartbeat",
      id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
      name: "Nightly backup"
    }
  ]
})
export type IncidentSubject = typeof IncidentSubject.Type

export const IncidentStatus = oneOf(["open", "acknowledged", "closed"], {
  identifier: "IncidentStatus",
  description:
    "`acknowledged`: somebody is aware of the incident, so no reminders are sent and nothing is escalated. `closed`: the " +
    "monitor or task has recovered, was paused or was deleted, or somebody closed the incident."
})
export type IncidentStatus = typeof IncidentStatus.Type

const isCheckErrorCode = (
  code: ExecutionErrorCode
): code is Extract<ExecutionErrorCode, (typeof checkErrorCodes)[number]> =>
  checkErrorCodes.some((one) => one === code)

export const IncidentCode = oneOf(
  [
    "missed",
    "overran",
    "too_soon",
    "failed",
    "expired",
    "not_yet_valid",
    "self_signed",
    "unknown_issuer",
    "incomplete_chain",
    "host_mismatch",
    "handshake_failed",
    "unreachable",
    "too_few",
    "too_many",
    "too_much_memory",
    "too_much_cpu",
    "not_allowed",
    "worker_offline",
    ...checkErrorCodes,
    ...ExecutionErrorCode.literals.filter((code) => !isCheckErrorCode(code))
  ],
  {
    identifier: "IncidentCode",
    description:
      "Heartbeats: no ping in time (`missed`), or a run that took too long (`overran`), started " +
      "too early (`too_soon`) or `failed`. Certificates: the `verification`. Processes: the broken " +
      "rule (`too_...`), `not_allowed` if the agent is not allowed to search for the text, or " +
      "`worker_offline` if the worker has not reported. Other kinds of monitors: the code of the failed " +
      "check. Tasks: the code of the failed execution."
  }
)
export type IncidentCode = typeof IncidentCode.Type

export const IncidentCause = Schema.Struct({
  code: IncidentCode,
  message: Schema.String.annotate({ description: "The reason, as a human-readable sentence." }),
  certificate_expires_at: Schema.optionalKey(
    Timestamp.annotate({
      description:
        "When the certificate expired or will expire. Only with the codes `expired` and `certificate_expiring`, " +
        "and only if the server sent the certificate."
    })
  )
}).annotate({ identifier: "IncidentCause", description: "Why the incident opened." })
export type IncidentCause = typeof IncidentCause.Type

export const maxIncidentDeliveries = 100

const fields = {
  id: IncidentId,
  workspace_id: WorkspaceId,
  subject: IncidentSubject,
  status: IncidentStatus,
  opened_at: Timestamp.annotate({
    description:
      "When the monitor went down or the task had failed often enough. For a missing ping, the end of the grace period."
  }),
  closed_at: Schema.NullOr(Timestamp).annotate({
    description: "When the incident was closed. Null while it is open."
  }),
  cause: IncidentCause,
  acknowledged_by: Schema.NullOr(Schema.String).annotate({
    description:
      "The id of the user or API key that first acknowledged the incident, or of the channel whose " +
      "message had the link. Null if nobody has."
  }),
  acknowledged_at: Schema.NullOr(Timestamp).annotate({
    description: "When the incident was acknowledged. Null if nobody has."
  }),
  snoozed_until: Schema.NullOr(Timestamp).annotate({
    description: "No reminders are sent before this time. Null if the incident was never snoozed."
  }),
  suppressed: Schema.Boolean.annotate({
    description:
      "Whether nobody is notified of the incident, because the monitor or task depends on one that has " +
      "an open incident. When that incident closes and this one is still open, it stops being suppressed."
  }),
  suppressed_by: Schema.NullOr(IncidentId).annotate({
    description: "The incident that suppresses this one. Null if it is not suppressed."
  })
}

const example = {
  id: IncidentId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
  workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  subject: {
    kind: "heartbeat",
    id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    name: "Nightly backup"
  },
  status: "open",
  opened_at: "2026-01-31T03:05:00.000Z",
  closed_at: null,
  cause: { code: "missed", message: "No ping arrived by 2026-01-31T03:05:00.000Z." },
  acknowledged_by: null,
  acknowledged_at: null,
  snoozed_until: null,
  suppressed: false,
  suppressed_by: null
} as const

export const Incident = Schema.Struct(fields).annotate({
  identifier: "Incident",
  examples: [example]
})
export type Incident = typeof Incident.Type

export const IncidentDelivery = Schema.Struct({
  id: NotificationDeliveryId,
  channel_id: NotificationChannelId.annotate({
    description: "The channel of the message, which may have been deleted since."
  }),
  kind: NotificationKind,
  status: DeliveryStatus,
  created_at: createdAt,
  finished_at: finishedAt
}).annotate({
  identifier: "IncidentDelivery",
  description: "A message about the incident: about its start, its end, or a reminder."
})
export type IncidentDelivery = typeof IncidentDelivery.Type

/** The maximum number of failures before the incident that its timeline shows. */
export const maxShownFailures = 20

/** The maximum number of notes and other actions by people that an incident keeps. */
export const maxIncidentActions = 200

export const IncidentEntryType = oneOf(
  [
    "last_good",
    "failure",
    "opened",
    "notification",
    "escalated",
    "acknowledged",
    "snoozed",
    "note",
    "closed",
    "recovered"
  ],
  {
    identifier: "IncidentEntryType",
    description:
      `\`last_good\`: the last success before the incident, in a chain that of the step that failed. \`failure\`: one of the last ${maxShownFailures} failures before ` +
      "it opened. `notification`: a message was created; `deliveries` has its result. `escalated`: a step of an escalation policy was due. `snoozed`: until " +
      "`until`, or no longer if `until` is null. `closed`: somebody closed the incident, or the monitor or " +
      "task was paused, changed or deleted. `recovered`: the monitor or task succeeded again."
  }
)

export const IncidentEntry = Schema.Struct({
  at: Timestamp.annotate({ description: "When it happened." }),
  type: IncidentEntryType,
  message: Schema.NullOr(Schema.String).annotate({
    description:
      "The text of a note, the reason for a failure, or the step of an escalation policy. Null for other entries."
  }),
  actor: Schema.NullOr(Actor).annotate({
    description: "Who did it. Null if the service recorded it."
  }),
  until: Schema.NullOr(Timestamp).annotate({
    description: "The end of a snooze. Null for other entries."
  }),
  execution_id: Schema.NullOr(ExecutionId).annotate({
    description: "The execution that succeeded or failed. Null for other entries, and for monitors."
  }),
  delivery_id: Schema.NullOr(NotificationDeliveryId).annotate({
    description: "The message of a notification. Null for other entries."
  })
}).annotate({
  identifier: "IncidentEntry",
  description: "One event in the history of an incident.",
  examples: [
    {
      at: "2026-01-31T03:12:00.000Z",
      type: "note",
      message: "The disk was full. Deleting old backups.",
      actor: { kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d45", name: "Ada Lovelace" },
      until: null,
      execution_id: null,
      delivery_id: null
    }
  ]
})
export type IncidentEntry = typeof IncidentEntry.Type

export const SnoozeRequest = Schema.Struct({
  until: Schema.NullOr(
    timestampInput(
      "When reminders and escalations resume: in the future, and at most 90 days ahead. A reminder is sent at this time " +
        "if the incident is still open. Null ends a snooze."
    )
  )
}).annotate({
  identifier: "SnoozeRequest",
  // The example has no time, because the contract tests send it, and a fixed time would soon be
  // past.
  examples: [{ until: null }]
})

export const maxSnoozeDays = 90

export const NoteRequest = Schema.Struct({
  text: text({ min: 1, max: 2_000 }).annotate({
    description: "The note.",
    examples: ["The disk was full. Deleting old backups."]
  })
}).annotate({
  identifier: "NoteRequest",
  examples: [{ text: "The disk was full. Deleting old backups." }]
})

export const IncidentDetail = Schema.Struct({
  ...fields,
  deliveries: Schema.Array(IncidentDelivery).annotate({
    description: `The first ${maxIncidentDeliveries} messages, oldest first.`
  }),
  timeline: Schema.Array(IncidentEntry).annotate({
    description: "The history of the incident, oldest entry first."
  })
}).annotate({
  identifier: "IncidentDetail",
  description: "An incident with its history and the messages about it.",
  examples: [
    {
      ...example,
      deliveries: [
        {
          id: NotificationDeliveryId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43"),
          channel_id: NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d44"),
          kind: "slack",
          status: "delivered",
          created_at: "2026-01-31T03:05:00.020Z",
          finished_at: "2026-01-31T03:05:00.153Z"
        }
      ],
      timeline: [
        {
          at: "2026-01-31T03:05:00.000Z",
          type: "opened",
          message: "No ping arrived by 2026-01-31T03:05:00.000Z.",
          actor: null,
          until: null,
          execution_id: null,
          delivery_id: null
        }
      ]
    }
  ]
})
export type IncidentDetail = typeof IncidentDetail.Type

const RetentionDays = Schema.Int.annotate({
  identifier: "RetentionDays",
  description:
    "Number of days for which closed incidents are kept. Older incidents are not listed.",
  examples: [30]
})

export const IncidentPage = Schema.Struct({
  ...Page("IncidentPage", Incident).fields,
  retention_days: RetentionDays
}).annotate({
  identifier: "IncidentPage",
  description: "One page, newest first, and the retention of incidents."
})
export type IncidentPage = typeof IncidentPage.Type

export const IncidentFilters = {
  status: Schema.optionalKey(repeatable(IncidentStatus, "The status")),
  subject_id: Schema.optionalKey(
    RecordId.annotate({ description: "Only incidents of this monitor, cron task or chain." })
  ),
  open: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "Only open incidents (`true`) or only closed incidents (`false`).",
      examples: ["true"]
    })
  ),
  suppressed: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "Only suppressed incidents (`true`) or only others (`false`).",
      examples: ["false"]
    })
  ),
  from: Schema.optionalKey(timestampInput("Opened at this time or later.")),
  to: Schema.optionalKey(timestampInput("Opened before this time."))
}

export interface IncidentFilters {
  readonly status?: ReadonlyArray<IncidentStatus>
  readonly subject_id?: string
  readonly open?: "true" | "false"
  readonly suppressed?: "true" | "false"
  readonly from?: Timestamp
  readonly to?: Timestamp
}
