import { Schema, Struct } from "effect"
import { TaskId } from "../executions/Execution.ts"
import { callOptions, maxAnswerSeconds } from "../calls/CallOptions.ts"
import { ExecutionErrorCode } from "../executions/ExecutionError.ts"
import { CallMethod } from "../calls/HttpCall.ts"
import { maxShownPids, ProcessRefusal } from "../monitors/process/ProcessMonitor.ts"
import { ExecutionId, MonitorId, WorkerId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { label, text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { WorkerLabels } from "./Label.ts"
import { maxWorkerNameLength } from "./Worker.ts"

/** Changes when an agent that speaks the one before it no longer works. */
export const workerProtocol = 1

export const maxSlots = 100
export const maxResults = 200
export const maxClaimWaitSeconds = 30

/** A busy agent takes runs ahead, so that its slots do not wait for the next claim. */
export const maxClaimed = 2 * maxSlots

/** Some of them run, some wait for a slot, and some until their results are acknowledged. */
export const maxHeldPerSlot = 4

const maxHeld = maxHeldPerSlot * maxSlots
const maxBeatSeconds = 60
const maxHeaderLength = 4_096

/** The last moment that a date can hold. */
const latestMs = 8.64e15

/** Text for a header or a log. Control characters would add lines to it, so it has none. */
const printable = (max: number) =>
  Schema.String.check(
    Schema.isMaxLength(max),
    Schema.isPattern(/^\P{Cc}*$/u, { expected: "text without control characters" })
  )

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const slotsUpTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

const Session = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).annotate(
  {
    description: "The session that the answer to hello gave.",
    examples: [7]
  }
)

const Lease = Schema.String.check(Schema.isMaxLength(40))

const Watching = Schema.String.check(Schema.isMaxLength(40))

export const WorkerHello = Schema.Struct({
  protocol: Schema.Int.annotate({
    description: "The version of this protocol that the agent speaks.",
    examples: [workerProtocol]
  }),
  version: label(50).pipe(Schema.annotateEncoded({ examples: ["0.1.0"] })),
  host: label(255).pipe(Schema.annotateEncoded({ examples: ["rack2.office.example.com"] })),
  slots: slotsUpTo(maxSlots).annotate({
    description: "How many runs the agent takes at once.",
    examples: [16]
  }),
  labels: Schema.optionalKey(
    WorkerLabels.annotate({
      description: "The agent takes only runs for these of the worker's labels. All when absent."
    })
  )
}).annotate({ identifier: "WorkerHello" })
export type WorkerHello = typeof WorkerHello.Type

export const WorkerWelcome = Schema.Struct({
  worker_id: WorkerId,
  name: printable(maxWorkerNameLength),
  labels: WorkerLabels,
  session: Session,
  wait_seconds: between(1, maxClaimWaitSeconds).annotate({
    description:
      "For how long to ask for runs at a time. That keeps the session, which ends five seconds after the next request was to come."
  }),
  beat_seconds: between(1, maxBeatSeconds).annotate({
    description: "How often to beat while something runs: cancellations come with the answers."
  })
}).annotate({ identifier: "WorkerWelcome" })
export type WorkerWelcome = typeof WorkerWelcome.Type

export const WorkerClaim = Schema.Struct({
  session: Session,
  slots: slotsUpTo(maxClaimed).annotate({
    description: "How many runs to give at most.",
    examples: [16]
  }),
  wait_seconds: Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum: maxClaimWaitSeconds })
  ).annotate({ description: "How long to wait for the first one.", examples: [10] }),
  idle: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "The agent holds nothing, and got nothing the last time. The service may then take a moment until it waits."
    })
  ),
  watching: Schema.optionalKey(
    Watching.annotate({
      description: "What the last orders said. Empty when absent."
    })
  )
}).annotate({ identifier: "WorkerClaim" })
export type WorkerClaim = typeof WorkerClaim.Type

/** What the receiver sees of a call's origin: made by the service, which keeps the secret. */
export const CallSignature = Schema.Struct({
  id: printable(maxHeaderLength),
  timestamp: Schema.Int,
  signature: printable(maxHeaderLength)
}).annotate({ identifier: "CallSignature" })
export type CallSignature = typeof CallSignature.Type

/** Which answers are a success. Those with 2xx when absent. */
const Success = Schema.Struct(Struct.omit(callOptions.fields, ["retry", "completion"]))

export const WorkerCall = Schema.Struct({
  run_id: ExecutionId,
  lease: Lease.annotate({ description: "Goes back with the result, unchanged." }),
  attempt: Schema.Int,
  deadline: Timestamp.annotate({
    description: "The lease ends then, unless the agent beats before."
  }),
  method: CallMethod,
  url: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.NullOr(Schema.String),
  timeout_seconds: between(1, maxAnswerSeconds),
  success: Schema.optionalKey(Success),
  complete_url: Schema.optionalKey(
    printable(maxHeaderLength).annotate({ description: "Sent as `Scheduling-Complete-Url`." })
  ),
  task: Schema.Struct({
    id: TaskId,
    scheduled_ms: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: latestMs }))
  }),
  signature: CallSignature
}).annotate({ identifier: "WorkerCall" })
export type WorkerCall = typeof WorkerCall.Type

export const WorkerCalls = Schema.Struct({
  calls: Schema.Array(WorkerCall).check(Schema.isMaxLength(maxClaimed)),
  beat: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "There are other processes to watch: beat now." })
  )
}).annotate({ identifier: "WorkerCalls" })
export type WorkerCalls = typeof WorkerCalls.Type

const Held = Schema.Struct({
  run_id: ExecutionId,
  lease: Lease
})

export const WorkerOutcome = oneOf(["success", "retryable", "failed", "cancelled", "returned"], {
  identifier: "WorkerOutcome",
  description:
    "`success`, `retryable` and `failed` are how a call ended. `cancelled`: it was cut off because the service asked for it. `returned`: it was not made, and another worker may make it."
})
export type WorkerOutcome = typeof WorkerOutcome.Type

export const WorkerResult = Schema.Struct({
  ...Held.fields,
  outcome: WorkerOutcome,
  status_code: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 999 }))),
  response_body: Schema.NullOr(text({ min: 0, max: 10_000 })),
  error: Schema.NullOr(
    Schema.Struct({ code: ExecutionErrorCode, message: text({ min: 0, max: 1_000 }) })
  ),
  retry_after_seconds: Schema.NullOr(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3_600 }))
  ),
  duration_ms: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400_000 })),
  ended_ago_ms: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400_000 })).annotate({
    description: "How long ago the call ended, so that clocks need not agree."
  }),
  completes_later: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "The answer was 202 with `Scheduling-Complete: later`."
    })
  )
}).annotate({
  identifier: "WorkerResult",
  examples: [
    {
      run_id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      lease: "7.1",
      outcome: "success",
      status_code: 200,
      response_body: "OK",
      error: null,
      retry_after_seconds: null,
      duration_ms: 120,
      ended_ago_ms: 15
    }
  ]
})
export type WorkerResult = typeof WorkerResult.Type

export const WorkerResults = Schema.Struct({
  session: Session,
  results: Schema.Array(WorkerResult).check(Schema.isBetweenLength(1, maxResults))
}).annotate({ identifier: "WorkerResults" })
export type WorkerResults = typeof WorkerResults.Type

export const WorkerReceipt = Schema.Struct({
  run_id: ExecutionId,
  receipt: oneOf(["written", "fenced"], {
    identifier: "WorkerReceiptKind",
    description: "`fenced`: the lease was gone, and nothing was changed."
  })
}).annotate({ identifier: "WorkerReceipt" })
export type WorkerReceipt = typeof WorkerReceipt.Type

export const WorkerReceipts = Schema.Struct({
  receipts: Schema.Array(WorkerReceipt).check(Schema.isMaxLength(maxResults))
}).annotate({ identifier: "WorkerReceipts" })

const maxReports = 50

/** Of one worker. More are not watched. */
export const maxWatched = 50

export const WatchedProcess = Schema.Struct({
  monitor_id: MonitorId,
  match: Schema.Struct({
    name: Schema.optionalKey(Schema.String),
    command_contains: Schema.optionalKey(Schema.String),
    pid_file: Schema.optionalKey(Schema.String)
  }),
  interval_seconds: between(10, 3_600)
}).annotate({ identifier: "WatchedProcess" })
export type WatchedProcess = typeof WatchedProcess.Type

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

export const ProcessObservation = Schema.Struct({
  monitor_id: MonitorId,
  count: Count,
  rss_bytes: Count,
  cpu_percent: Schema.NullOr(
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  ),
  pids: Schema.Array(Count).check(Schema.isMaxLength(maxShownPids)),
  refused: Schema.optionalKey(ProcessRefusal)
}).annotate({ identifier: "ProcessObservation" })
export type ProcessObservation = typeof ProcessObservation.Type

export const WorkerBeat = Schema.Struct({
  session: Session,
  running: Schema.Array(ExecutionId).check(Schema.isMaxLength(maxHeld)).annotate({
    description: "All runs that the agent holds, also those whose results are not acknowledged yet."
  }),
  reports: Schema.optionalKey(
    Schema.Array(ProcessObservation).check(Schema.isMaxLength(maxReports)).annotate({
      description: "What was seen of watched processes since the last beat."
    })
  ),
  leaving: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "The agent stops: what it still holds goes to other workers."
    })
  )
}).annotate({ identifier: "WorkerBeat" })
export type WorkerBeat = typeof WorkerBeat.Type

export const WorkerOrders = Schema.Struct({
  cancel: Schema.Array(ExecutionId)
    .check(Schema.isMaxLength(maxHeld))
    .annotate({ description: "Calls to cut off." }),
  watch: Schema.Array(WatchedProcess)
    .check(Schema.isMaxLength(maxWatched))
    .annotate({ description: "Processes to watch." }),
  watching: Watching.annotate({ description: "Names what is in `watch`, for the next claim." })
}).annotate({ identifier: "WorkerOrders" })
export type WorkerOrders = typeof WorkerOrders.Type
