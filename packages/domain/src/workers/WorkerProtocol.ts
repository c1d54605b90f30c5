import { Schema } from "effect"
import { TaskId } from "../executions/Execution.ts"
import { maxResponseSeconds } from "../calls/CallOptions.ts"
import { ExecutionErrorCode } from "../executions/ExecutionError.ts"
import { CallMethod } from "../calls/HttpCall.ts"
import { CheckErrorCode } from "../monitors/checks/Check.ts"
import { DnsMatch, DnsRecordType } from "../monitors/dns/DnsMonitor.ts"
import { JsonRule } from "../monitors/http/HttpMonitor.ts"
import { maxShownPids, ProcessRefusal } from "../monitors/process/ProcessMonitor.ts"
import { ExecutionId, MonitorId, WorkerId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { label, text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { WorkerLabels } from "./Label.ts"
import { maxWorkerNameLength } from "./Worker.ts"

/**
 * The version of the protocol. Incremented when agents with the previous version no longer work.
 */
export const workerProtocolVersion = 1

export const maxAgentSlots = 100
export const maxResultsPerRequest = 200
export const maxClaimWaitSeconds = 30

/**
 * The maximum number of runs per claim. A busy agent claims runs ahead of time, so that its slots
 * do not wait for the next claim.
 */
export const maxRunsPerClaim = 2 * maxAgentSlots

/**
 * The maximum number of runs that an agent holds per slot: running, waiting for a slot, or with an
 * unacknowledged result.
 */
export const maxHeldPerSlot = 4

const maxHeld = maxHeldPerSlot * maxAgentSlots
const maxBeatSeconds = 60
const maxHeaderLength = 4_096

/** The latest time of a JavaScript date. */
const latestMs = 8.64e15

/** A string for a header or a log, without control characters, which could inject lines. */
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
    description: "The session from the response to the hello.",
    examples: [7]
  }
)

const Lease = Schema.String.check(Schema.isMaxLength(40))

const Watching = Schema.String.check(Schema.isMaxLength(40))

export const WorkerHello = Schema.Struct({
  protocol: Schema.Int.annotate({
    description: "The version of this protocol that the agent speaks.",
    examples: [workerProtocolVersion]
  }),
  version: label(50).pipe(Schema.annotateEncoded({ examples: ["0.1.0"] })),
  host: label(255).pipe(Schema.annotateEncoded({ examples: ["rack2.office.example.com"] })),
  slots: slotsUpTo(maxAgentSlots).annotate({
    description: "Number of calls that the agent makes at the same time.",
    examples: [16]
  }),
  labels: Schema.optionalKey(
    WorkerLabels.annotate({
      description: "The labels of the worker for which the agent claims runs. Defaults to all."
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
      "How many seconds a claim waits for runs. Each claim renews the session, which expires five seconds after the wait ends."
  }),
  beat_seconds: between(1, maxBeatSeconds).annotate({
    description:
      "The heartbeat interval in seconds while runs are in progress. Heartbeat responses carry cancellations."
  })
}).annotate({ identifier: "WorkerWelcome" })
export type WorkerWelcome = typeof WorkerWelcome.Type

export const WorkerClaim = Schema.Struct({
  session: Session,
  slots: slotsUpTo(maxRunsPerClaim).annotate({
    description: "The maximum number of runs to return.",
    examples: [16]
  }),
  wait_seconds: Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum: maxClaimWaitSeconds })
  ).annotate({ description: "Number of seconds to wait for the first run.", examples: [10] }),
  idle: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "True if the agent holds no run and its last claim returned none. The service may then take longer to start waiting."
    })
  ),
  watching: Schema.optionalKey(
    Watching.annotate({
      description: "The `watching` of the last heartbeat response. Defaults to empty."
    })
  )
}).annotate({ identifier: "WorkerClaim" })
export type WorkerClaim = typeof WorkerClaim.Type

/**
 * The signature with which the recipient verifies a call. The service signs the call, because the
 * agent must not have the secret.
 */
export const CallSignature = Schema.Struct({
  id: printable(maxHeaderLength),
  timestamp: Schema.Int,
  signature: printable(maxHeaderLength)
}).annotate({ identifier: "CallSignature" })
export type CallSignature = typeof CallSignature.Type

/** The rules that decide whether a response is a success. Defaults to any 2xx status. */
const Success = Schema.Struct({
  success_codes: Schema.optionalKey(Schema.Array(Schema.String)),
  body_contains: Schema.optionalKey(Schema.String),
  body_lacks: Schema.optionalKey(Schema.String)
})

export const WorkerCall = Schema.Struct({
  run_id: ExecutionId,
  lease: Lease.annotate({ description: "The lease. Send it back unchanged with the result." }),
  attempt: Schema.Int,
  deadline: Timestamp.annotate({
    description: "When the lease expires, unless the agent sends a heartbeat before."
  }),
  method: CallMethod,
  url: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.NullOr(Schema.String),
  timeout_seconds: between(1, maxResponseSeconds),
  success: Schema.optionalKey(Success),
  secrets: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({
      description: "Secrets that the agent masks in the response body and headers."
    })
  ),
  complete_url: Schema.optionalKey(
    printable(maxHeaderLength).annotate({
      description: "The completion URL, sent as `Scheduling-Complete-Url`."
    })
  ),
  task: Schema.Struct({
    id: TaskId,
    scheduled_ms: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: latestMs }))
  }),
  signature: CallSignature
}).annotate({ identifier: "WorkerCall" })
export type WorkerCall = typeof WorkerCall.Type

export const ClaimResponse = Schema.Struct({
  calls: Schema.Array(WorkerCall).check(Schema.isMaxLength(maxRunsPerClaim)),
  beat: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "True if the watched processes have changed or probes wait. Send a heartbeat now."
    })
  )
}).annotate({ identifier: "ClaimResponse" })
export type ClaimResponse = typeof ClaimResponse.Type

const Held = Schema.Struct({
  run_id: ExecutionId,
  lease: Lease
})

export const WorkerOutcome = oneOf(["success", "retryable", "failed", "cancelled", "returned"], {
  identifier: "WorkerOutcome",
  description:
    "`success`, `retryable` and `failed` are results of a call. `cancelled`: the call was aborted on the service's request. `returned`: the call was not made, and another worker can make it."
})
export type WorkerOutcome = typeof WorkerOutcome.Type

const Milliseconds = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400_000 }))
)

/**
 * Timings and response headers of a call. Absent if nothing was sent, and from agents that do not
 * report them.
 */
const WorkerExchange = Schema.Struct({
  dns_ms: Milliseconds,
  connect_ms: Milliseconds,
  tls_ms: Milliseconds,
  wait_ms: Milliseconds,
  headers: Schema.NullOr(
    text({ min: 0, max: 4_096 }).annotate({
      description: "The response headers, one per line. Credentials are masked."
    })
  )
}).annotate({ identifier: "WorkerExchange" })

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
    description: "Milliseconds since the call finished. Relative, so that clocks need not agree."
  }),
  completes_later: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True if the response was 202 with `Scheduling-Complete: later`."
    })
  ),
  exchange: Schema.optionalKey(WorkerExchange)
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
  results: Schema.Array(WorkerResult).check(Schema.isBetweenLength(1, maxResultsPerRequest))
}).annotate({ identifier: "WorkerResults" })
export type WorkerResults = typeof WorkerResults.Type

export const WorkerReceipt = Schema.Struct({
  run_id: ExecutionId,
  receipt: oneOf(["written", "fenced"], {
    identifier: "WorkerReceiptKind",
    description: "`fenced`: the lease was no longer valid, so nothing was changed."
  })
}).annotate({ identifier: "WorkerReceipt" })
export type WorkerReceipt = typeof WorkerReceipt.Type

export const WorkerReceipts = Schema.Struct({
  receipts: Schema.Array(WorkerReceipt).check(Schema.isMaxLength(maxResultsPerRequest))
}).annotate({ identifier: "WorkerReceipts" })

const maxReports = 50

/** The maximum number of watched processes per worker. Further processes are not watched. */
export const maxWatchedProcesses = 50

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

/** The maximum number of probes that an agent holds. Further probes are dropped. */
export const maxHeldProbes = 100

const HttpTarget = Schema.Struct({
  kind: Schema.Literal("http"),
  request_id: printable(60).annotate({ description: "Sent as `Idempotency-Key`." }),
  method: CallMethod,
  url: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.NullOr(Schema.String),
  follow_redirects: Schema.Boolean,
  success: Success,
  body_json: Schema.NullOr(JsonRule),
  max_latency_ms: Schema.NullOr(Schema.Int),
  min_certificate_days: Schema.NullOr(Schema.Int),
  secrets: Schema.Array(Schema.String).annotate({
    description: "Secrets that the agent masks in the response."
  })
}).annotate({ identifier: "HttpTarget" })

const TcpTarget = Schema.Struct({
  kind: Schema.Literal("tcp"),
  host: Schema.String,
  port: between(1, 65_535),
  send: Schema.NullOr(Schema.String),
  expect: Schema.NullOr(Schema.String)
}).annotate({ identifier: "TcpTarget" })

const DnsTarget = Schema.Struct({
  kind: Schema.Literal("dns"),
  host: Schema.String,
  record_type: DnsRecordType,
  resolver: Schema.NullOr(Schema.String),
  expected_values: Schema.NullOr(Schema.Array(Schema.String)),
  match: DnsMatch
}).annotate({ identifier: "DnsTarget" })

/** A check's target, in which all placeholders are substituted, and the expected response. */
export const CheckTarget = Schema.Union([HttpTarget, TcpTarget, DnsTarget])
export type CheckTarget = typeof CheckTarget.Type

const ProbeId = Schema.String.check(Schema.isMaxLength(80))

export const WorkerProbe = Schema.Struct({
  probe_id: ProbeId.annotate({ description: "Send it back unchanged with the result." }),
  timeout_seconds: between(1, 60),
  target: CheckTarget
}).annotate({
  identifier: "WorkerProbe",
  description: "A check of the target of a monitor that the agent is to make now."
})
export type WorkerProbe = typeof WorkerProbe.Type

export const WorkerProbeResult = Schema.Struct({
  probe_id: ProbeId,
  unreached: Schema.Boolean.annotate({
    description: "True if nothing was received, so that the agent's network may be the reason."
  }),
  result: Schema.Struct({
    error: Schema.NullOr(
      Schema.Struct({ code: CheckErrorCode, message: text({ min: 0, max: 1_000 }) })
    ),
    duration_ms: Milliseconds,
    dns_ms: Milliseconds,
    connect_ms: Milliseconds,
    tls_ms: Milliseconds,
    wait_ms: Milliseconds,
    status_code: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 999 }))),
    certificate_expires_at: Schema.NullOr(Timestamp),
    values: Schema.NullOr(Schema.Array(text({ min: 0, max: 500 })).check(Schema.isMaxLength(20)))
  })
}).annotate({ identifier: "WorkerProbeResult" })
export type WorkerProbeResult = typeof WorkerProbeResult.Type

export const WorkerBeat = Schema.Struct({
  session: Session,
  running: Schema.Array(ExecutionId).check(Schema.isMaxLength(maxHeld)).annotate({
    description: "All runs that the agent holds, including runs with unacknowledged results."
  }),
  reports: Schema.optionalKey(
    Schema.Array(ProcessObservation).check(Schema.isMaxLength(maxReports)).annotate({
      description: "Observations of watched processes since the last heartbeat."
    })
  ),
  probes: Schema.optionalKey(
    Schema.Array(WorkerProbeResult).check(Schema.isMaxLength(maxHeldProbes)).annotate({
      description: "The results of probes since the last heartbeat."
    })
  ),
  leaving: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True if the agent is shutting down. Its runs go to other workers."
    })
  )
}).annotate({ identifier: "WorkerBeat" })
export type WorkerBeat = typeof WorkerBeat.Type

export const WorkerOrders = Schema.Struct({
  cancel: Schema.Array(ExecutionId)
    .check(Schema.isMaxLength(maxHeld))
    .annotate({ description: "Runs whose calls the agent must abort." }),
  watch: Schema.Array(WatchedProcess)
    .check(Schema.isMaxLength(maxWatchedProcesses))
    .annotate({ description: "Processes to watch." }),
  watching: Watching.annotate({
    description: "The hash of `watch`. Send it with the next claim."
  }),
  probes: Schema.optionalKey(
    Schema.Array(WorkerProbe)
      .check(Schema.isMaxLength(maxHeldProbes))
      .annotate({ description: "Targets of monitors to check now." })
  )
}).annotate({ identifier: "WorkerOrders" })
export type WorkerOrders = typeof WorkerOrders.Type
