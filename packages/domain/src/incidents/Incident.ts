import { Schema } from "effect"
import { checkErrorCodes } from "../monitors/checks/Check.ts"
import { MonitorKind } from "../monitors/Monitor.ts"
import { NotificationKind } from "../notifications/NotificationChannel.ts"
import { DeliveryStatus } from "../notifications/NotificationDelivery.ts"
import {
  IncidentId,
  MonitorId,
  NotificationChannelId,
  NotificationDeliveryId,
  WorkspaceId
} from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, timestampInput, createdAt, finishedAt } from "../shared/Timestamp.ts"

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
    ...checkErrorCodes
  ],
  {
    identifier: "IncidentCode",
    description:
      "Heartbeats: no ping in time (`missed`), or a run that took too long (`overran`), started " +
      "too early (`too_soon`) or `failed`. Certificates: the `verification`. Processes: the broken " +
      "rule (`too_...`), `not_allowed` if the agent is not allowed to search for the text, or " +
      "`worker_offline` if the worker has not reported. Other kinds: the code of the failed check."
  }
)
export type IncidentCode = typeof IncidentCode.Type

export const IncidentCause = Schema.Struct({
  code: IncidentCode,
  message: Schema.String.annotate({ description: "The reason, as a human-readable sentence." })
}).annotate({ identifier: "IncidentCause", description: "Why the monitor went down." })
export type IncidentCause = typeof IncidentCause.Type

export const maxIncidentDeliveries = 100

const fields = {
  id: IncidentId,
  workspace_id: WorkspaceId,
  monitor_id: MonitorId,
  kind: MonitorKind,
  opened_at: Timestamp.annotate({
    description: "When the monitor went down. For a missing ping, the end of its grace."
  }),
  closed_at: Schema.NullOr(Timestamp).annotate({
    description: "When the monitor recovered or was paused. Null while it is down."
  }),
  cause: IncidentCause,
  acknowledged_by: Schema.NullOr(Schema.String).annotate({
    description:
      "The id of the user or API key that first acknowledged the incident. Null if nobody has."
  }),
  acknowledged_at: Schema.NullOr(Timestamp).annotate({
    description: "When the incident was acknowledged. Null if nobody has."
  })
}

const example = {
  id: IncidentId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
  workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  monitor_id: MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  kind: "heartbeat",
  opened_at: "2026-01-31T03:05:00.000Z",
  closed_at: null,
  cause: { code: "missed", message: "No ping came by 2026-01-31T03:05:00.000Z." },
  acknowledged_by: null,
  acknowledged_at: null
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

export const IncidentDetail = Schema.Struct({
  ...fields,
  deliveries: Schema.Array(IncidentDelivery).annotate({
    description: `The first ${maxIncidentDeliveries} messages, oldest first.`
  })
}).annotate({
  identifier: "IncidentDetail",
  description: "An incident with the messages about it.",
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
  monitor_id: Schema.optionalKey(MonitorId),
  open: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "Only open incidents (`true`) or only closed incidents (`false`).",
      examples: ["true"]
    })
  ),
  from: Schema.optionalKey(timestampInput("Opened at this time or later.")),
  to: Schema.optionalKey(timestampInput("Opened before this time."))
}

export interface IncidentFilters {
  readonly monitor_id?: MonitorId
  readonly open?: "true" | "false"
  readonly from?: Timestamp
  readonly to?: Timestamp
}
