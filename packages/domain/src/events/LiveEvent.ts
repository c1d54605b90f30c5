import { Schema } from "effect"
import { ExecutionKind, ExecutionStatus, TaskId } from "../executions/Execution.ts"
import { MonitorKind, MonitorStatus } from "../monitors/Monitor.ts"
import { ChainRunId, ExecutionId, IncidentId, MonitorId, WorkerId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** How long an id can be resumed from. */
export const keptSeconds = 300

/** How often a stream says that it is alive. */
export const beatSeconds = 15

const fields = {
  id: Schema.String.annotate({
    description: "Resume from here: send it as `Last-Event-ID`.",
    examples: ["1769851800127-5f0c9a1e-42"]
  }),
  at: Timestamp.annotate({ description: "When the event was sent." })
}

const example = { id: "1769851800127-5f0c9a1e-42", at: "2026-01-31T09:30:00.127Z" }

const type = <const Name extends string>(name: Name) =>
  Schema.Literal(name).annotate({ description: `Always \`${name}\`.` })

/** What happened to something that users define. */
const Change = oneOf(["created", "updated", "deleted"], {
  identifier: "TaskChange",
  description: "Pausing and resuming are updates."
})

export const ExecutionEvent = Schema.Struct({
  ...fields,
  type: type("execution"),
  execution_id: ExecutionId,
  kind: ExecutionKind,
  task_id: TaskId,
  chain_run_id: Schema.NullOr(ChainRunId).annotate({
    description: "The run that the step belongs to. Null outside of chains."
  }),
  status: ExecutionStatus
}).annotate({
  identifier: "ExecutionEvent",
  description:
    "An execution came to this status. `queued`: a request added it, or an attempt failed and " +
    "another one follows. The first event of an execution that its schedule adds is its start.",
  examples: [
    {
      ...example,
      type: "execution",
      execution_id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      kind: "cron",
      task_id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      chain_run_id: null,
      status: "succeeded"
    }
  ]
})

export const TaskEvent = Schema.Struct({
  ...fields,
  type: type("task"),
  kind: ExecutionKind,
  task_id: TaskId,
  change: Change
}).annotate({
  identifier: "TaskEvent",
  description: "Somebody changed a cron task, a delayed task or a chain."
})

export const MonitorEvent = Schema.Struct({
  ...fields,
  type: type("monitor"),
  kind: MonitorKind,
  monitor_id: MonitorId,
  change: oneOf(["created", "updated", "deleted", "status_changed"], {
    identifier: "MonitorChange",
    description: "`status_changed`: its status is now `status`."
  }),
  status: Schema.NullOr(MonitorStatus).annotate({
    description:
      "Null unless the status changed. `late` is not announced, because it follows from the time alone."
  })
}).annotate({
  identifier: "MonitorStatusEvent",
  description: "The status of a monitor changed, or somebody changed the monitor."
})

export const IncidentEvent = Schema.Struct({
  ...fields,
  type: type("incident"),
  kind: MonitorKind,
  incident_id: IncidentId.annotate({ description: "The id of the incident." }),
  monitor_id: MonitorId,
  change: oneOf(["opened", "closed", "acknowledged"], {
    identifier: "IncidentChange",
    description: "What happened to the incident."
  })
}).annotate({ identifier: "IncidentEvent", description: "An incident opened or closed." })

export const WorkerEvent = Schema.Struct({
  ...fields,
  type: type("worker"),
  worker_id: WorkerId.annotate({ description: "The id of the worker." }),
  change: oneOf(["online", "offline"], {
    identifier: "WorkerChange",
    description: "`offline`: its agent has stopped, or nothing was heard of it for 15 seconds."
  })
}).annotate({
  identifier: "WorkerEvent",
  description: "The agent of a worker came or went. API keys do not hear of it."
})

export const ResetEvent = Schema.Struct({
  ...fields,
  type: type("reset")
}).annotate({
  identifier: "ResetEvent",
  description: "Some events may be missing before this one. Read again what you show."
})

export const LiveEvent = Schema.Union([
  ExecutionEvent,
  TaskEvent,
  MonitorEvent,
  IncidentEvent,
  WorkerEvent,
  ResetEvent
]).annotate({
  identifier: "LiveEvent",
  description:
    "What has changed. `type` says which of these it is; more may come, so pass over what you do " +
    "not know."
})
export type LiveEvent = typeof LiveEvent.Type
