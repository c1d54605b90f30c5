import { Schema } from "effect"
import { dependsOnField, dependsOnInput } from "../incidents/Dependency.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { IncidentId, MonitorId, WorkspaceId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { optionalWithNote } from "../shared/requests/optionalWithDefault.ts"
import { keyFields } from "../shared/requests/CallerChosenKey.ts"
import { ListPage, type ListQuery, listQueryWithStatus } from "../shared/requests/ListQuery.ts"
import { versionField } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { label } from "../shared/Text.ts"
import { Timestamp, createdAt, updatedAt } from "../shared/Timestamp.ts"
import { monitorKindNames } from "./monitorNouns.ts"

export const MonitorKind = oneOf(monitorKindNames, {
  identifier: "MonitorKind",
  description:
    "`heartbeat` waits for pings, `ssl` checks the certificate of a server, `process` watches " +
    "processes on the machine of a worker, `http` makes a request and checks the response, " +
    "`tcp` opens a connection, `dns` looks up records."
})
export type MonitorKind = typeof MonitorKind.Type

export const MonitorStatus = oneOf(["new", "up", "late", "warning", "down", "paused"], {
  identifier: "MonitorStatus",
  description:
    "`new`: nothing has been received or checked yet. `late`: a ping is overdue, but still within the grace period. `warning`: the certificate is valid, but expires soon. `paused`: nothing is checked " +
    "until the monitor is resumed."
})
export type MonitorStatus = typeof MonitorStatus.Type

/** The request fields that monitors of all kinds have. */
export const monitorInput = {
  name: label(200, { description: "The display name.", examples: ["Nightly backup"] }),
  ...tagsInput,
  ...dependsOnInput
}

/** The input field that pauses and resumes a monitor. */
export const monitorPausedInput = {
  paused: optionalWithNote(
    "Defaults to false for a new monitor. An existing monitor is unchanged.",
    Schema.Boolean.annotate({
      description: "While true, nothing is checked and nobody is notified."
    })
  )
}

/** The response fields that monitors of all kinds have. */
export const monitorFields = {
  id: MonitorId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The display name." }),
  ...tagsField,
  ...dependsOnField,
  paused: Schema.Boolean.annotate({
    description:
      "Whether the monitor is paused. While paused, nothing is checked and nobody is notified."
  }),
  status: MonitorStatus,
  last_change_at: Schema.NullOr(Timestamp).annotate({
    description: "When the monitor got its current status."
  }),
  next_check_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the monitor is next checked, or when it goes down unless a ping arrives. Null if nothing is due."
  }),
  open_incident_id: Schema.NullOr(IncidentId).annotate({
    description: "The open incident. Null if there is none."
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}

export const exampleOfMonitor = {
  id: MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  key: "backups:nightly",
  version: 1,
  name: "Nightly backup",
  tags: ["billing", "nightly"],
  depends_on: [],
  paused: false,
  status: "up",
  last_change_at: "2026-01-30T03:04:11.000Z",
  next_check_at: "2026-02-01T03:05:00.000Z",
  open_incident_id: null,
  ...exampleAuthors,
  created_at: "2026-01-29T09:30:00.000Z",
  updated_at: "2026-01-29T09:30:00.000Z"
} as const

export const Monitor = Schema.Struct({ kind: MonitorKind, ...monitorFields }).annotate({
  identifier: "Monitor",
  description:
    "The fields that monitors of all kinds have. The endpoints of a kind show its other fields.",
  examples: [{ kind: "heartbeat", ...exampleOfMonitor }]
})
export type Monitor = typeof Monitor.Type

const count = (which: string) =>
  Schema.Int.annotate({ description: `Number of monitors that ${which}.` })

export const MonitorCounts = Schema.Struct({
  new: count("have not received a ping or been checked yet"),
  up: count("are up"),
  late: count("have an overdue ping, but are still within the grace period"),
  warning: count("have a certificate that expires soon"),
  down: count("are down"),
  paused: count("are paused")
}).annotate({
  identifier: "MonitorCounts",
  description: "The number of monitors in the whole workspace by status."
})
export type MonitorCounts = typeof MonitorCounts.Type

export const MonitorPage = Schema.Struct({
  ...ListPage("MonitorPage", Monitor).fields,
  counts: MonitorCounts
}).annotate({
  identifier: "MonitorPage",
  description: "One page, newest first, and the counts by status."
})
export type MonitorPage = typeof MonitorPage.Type

const sorts = ["-created_at", "created_at", "name", "-name"] as const

export const MonitorQuery = listQueryWithStatus(MonitorStatus, sorts)

export interface MonitorQuery extends ListQuery {
  readonly status?: ReadonlyArray<MonitorStatus>
}
