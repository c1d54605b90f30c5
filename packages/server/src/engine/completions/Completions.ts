import {
  cancelledError,
  executionError,
  parseErrorLine
} from "@scheduling/domain/executions/ExecutionError"
import { maxProgressLineBytes } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"
import { secretsMasker } from "@scheduling/calls/maskSecrets"
import type { AwaitingRun, NodeUptime } from "./awaitingRuns.ts"
import { makeSettleRuns } from "../settleRuns.ts"
import type { EndSignals, Signals } from "../../events/index.ts"
import { classifyResult } from "../calling/classifyResult.ts"
import { type RunPause, type Settlement, makeSettlement } from "../Run.ts"
import { batchRequests } from "../../store/index.ts"
import { CompletionsRepo, type FinishedAttempt } from "./CompletionsRepo.ts"
import { CallSecrets } from "../secrets/CallSecrets.ts"
import type { CompletionTarget } from "./CompletionUrls.ts"

/** A report of a job about its attempt. */
export interface JobReport extends CompletionTarget {
  readonly what: "done" | "failed" | "progress"
  /** The response of the attempt, or a line of progress. */
  readonly body: string
}

/**
 * The outcome of a report. `recorded`: the report is stored, now or by an earlier request.
 * `superseded`: another attempt has begun. `contradicted`: an earlier request has finished the
 * attempt with a different result. `late`: the attempt finished without the report.
 */
export type ReportOutcome = "recorded" | "superseded" | "contradicted" | "late"

/**
 * The error of a failure that a job reported. The code of this error shows whether a report is a
 * repetition.
 */
const reportedFailure = executionError(
  "completion_failed",
  "the job reported a failure to its completion URL"
)

/**
 * The maximum number of tries. A node may claim or settle the run at the same moment, so each try
 * may find the run in a new state.
 */
const maxTries = 4

/**
 * Finishes attempts with the results that jobs report. A request may arrive before the response to
 * the call. It then takes the run over from the node that makes the call, and the fence discards
 * the result of that node. So no other state is needed. Any node can handle the request, even if
 * the node that makes the call has died.
 */
export class Completions extends Context.Service<
  Completions,
  {
    readonly receive: (report: JobReport) => Effect.Effect<ReportOutcome>
    /**
     * Finishes attempts whose completion is overdue, and steps whose pause is over. Returns the
     * milliseconds until the next deadline, or null if there is none.
     */
    readonly endOverdue: (uptime: NodeUptime) => Effect.Effect<number | null>
  }
>()("@scheduling/server/engine/completions/Completions") {
  static readonly layer: Layer.Layer<
    Completions,
    never,
    CallSecrets | CompletionsRepo | EndSignals | Signals | SqlClient.SqlClient
  > = Layer.effect(
    Completions,
    Effect.gen(function* () {
      const repo = yield* CompletionsRepo
      const callSecrets = yield* CallSecrets
      const settleRuns = yield* makeSettleRuns(yield* SqlClient.SqlClient)

      /** Masks the secrets of the call in a job's report. */
      const maskReport = Effect.fnUntraced(function* (run: AwaitingRun, report: JobReport) {
        if (run.secret_names === null) return report
        const names = new Set(run.secret_names)
        const secrets = yield* callSecrets.open(run.workspace_id, names)
        return { ...report, body: secretsMasker(secrets.valuesOf(names))(report.body) }
      })

      /**
       * Finishes attempts with their reports. Returns the ids of the runs that were finished or
       * returned to the queue.
       */
      const end = Effect.fnUntraced(function* (
        said: ReadonlyMap<string, { readonly run: AwaitingRun; readonly report: JobReport }>
      ) {
        const calling = [...said.values()].filter(({ run }) => run.state === "running")
        const taken = new Set(
          calling.length === 0 ? [] : yield* repo.takeOver(calling.map(({ run }) => takeover(run)))
        )
        const random = yield* Random.next
        const owned = [...said.values()].filter(
          ({ run }) => run.state === "awaiting" || taken.has(run.id)
        )
        const settlements = yield* Effect.forEach(owned, ({ report, run }) =>
          Effect.map(maskReport(run, report), (one) => settlementBy(run, one, random))
        )
        return yield* settleRuns(settlements)
      })

      const receiveAll = Effect.fnUntraced(function* (reports: ReadonlyArray<JobReport>) {
        const receipts = new Map<JobReport, ReportOutcome>()
        let left = reports
        for (let round = 0; round < maxTries && left.length > 0; round++) {
          const runs = yield* repo.findUnfinished(left)
          const over: Array<JobReport> = []
          const lines: Array<{ readonly run: AwaitingRun; readonly report: JobReport }> = []
          const said = new Map<string, { readonly run: AwaitingRun; readonly report: JobReport }>()
          for (const report of left) {
            const run = runs.get(report.id)
            if (run === undefined || run.attempt !== report.attempt || !hasBegun(run)) {
              over.push(report)
            } else if (report.what === "progress") lines.push({ run, report })
            // If several reports of a run arrive together, the first one decides. The others are
            // handled in the next try.
            else if (!said.has(run.id)) said.set(run.id, { run, report })
          }
          if (lines.length > 0) {
            yield* repo.insertProgress(
              yield* Effect.forEach(lines, ({ report, run }) =>
                Effect.map(maskReport(run, report), (line) => ({
                  ...line,
                  text: progressLine(line.body)
                }))
              )
            )
            for (const { report } of lines) receipts.set(report, "recorded")
          }
          if (over.length > 0) {
            const ended = yield* repo.findEnded(over)
            over.forEach((report, index) =>
              receipts.set(report, receiptOf(report, ended[index], runs.get(report.id)))
            )
          }
          if (said.size > 0) {
            const written = yield* end(said)
            for (const { report } of said.values()) {
              if (written.has(report.id)) receipts.set(report, "recorded")
            }
          }
          left = left.filter((report) => !receipts.has(report))
        }
        if (left.length > 0)
          yield* Effect.die(
            new Error("the result of a completion could not be stored after several tries")
          )
        return reports.map((report) => receipts.get(report) ?? "late")
      }, Effect.orDie)

      return Completions.of({
        receive: yield* batchRequests(receiveAll),

        endOverdue: Effect.fnUntraced(function* (uptime) {
          for (;;) {
            const { isFull, runs } = yield* repo.findOverdue(uptime)
            const random = yield* Random.next
            if (runs.length > 0) {
              yield* settleRuns(runs.map((run) => settlementOfOverdue(run, random)))
            }
            if (!isFull) return yield* repo.findNextDueInMs
          }
        }, Effect.orDie)
      })
    })
  )
}

const hasBegun = ({ cancel_requested, state }: AwaitingRun): boolean =>
  (state === "running" || state === "awaiting") && !cancel_requested

/**
 * The minimum time until the deadline of a run that was taken over. It keeps other nodes from
 * finding the run overdue while this node finishes it.
 */
const spareMs = 60_000

/**
 * Returns the settlement that makes a run await its completion, until the report of the job is
 * written. If this node dies before that, another node finds the run overdue and finishes it.
 */
const takeover = (run: AwaitingRun): Settlement =>
  makeSettlement(run, run.lease_owner, {
    status: null,
    error: null,
    completes_by_ms: Math.max(run.started_ms + run.timeout_seconds * 1_000, run.now_ms + spareMs)
  })

const settlementBy = (run: AwaitingRun, { body, what }: JobReport, random: number): Settlement =>
  makeSettlement(run, null, {
    ...ended(run),
    response_body: body,
    ...(what === "done"
      ? { status: "succeeded", error: null }
      : { ...classifyResult(failure, run, random), error: reportedFailure })
  })

const settlementOfOverdue = (run: AwaitingRun, random: number): Settlement =>
  makeSettlement(run, null, {
    ...ended(run),
    ...(run.cancel_requested
      ? { status: "cancelled", error: cancelledError }
      : run.pause === null
        ? {
            ...classifyResult(failure, run, random),
            error: executionError(
              "completion_timeout",
              `no completion within ${run.timeout_seconds} s`
            )
          }
        : endOfPause(run.pause))
  })

const endOfPause = ({ kind }: RunPause) =>
  kind === "wait"
    ? ({ status: "succeeded", error: null } as const)
    : ({
        status: "failed",
        error: executionError("approval_timeout", "nobody approved or rejected the step in time")
      } as const)

const ended = (run: AwaitingRun) => ({
  awaited: true,
  started: true,
  finished_ms: run.now_ms,
  status_code: run.answered_with
})

const failure = {
  outcome: "retryable",
  retry_after_seconds: null,
  completes_later: false
} as const

const receiptOf = (
  { attempt, what }: JobReport,
  { attempts_count, error, status }: FinishedAttempt = {
    attempts_count: null,
    error: null,
    status: null
  },
  run: AwaitingRun | undefined
): ReportOutcome => {
  const isRepeatedFailure = error !== null && parseErrorLine(error).code === reportedFailure.code
  if (what === "failed" && isRepeatedFailure) return "recorded"
  if (run !== undefined) return run.attempt > attempt ? "superseded" : "late"
  if (attempts_count === null || status === null) return "late"
  if (attempts_count > attempt) return "superseded"
  if (status === "succeeded") {
    return what === "done" ? "recorded" : what === "failed" ? "contradicted" : "late"
  }
  return what === "done" && isRepeatedFailure ? "contradicted" : "late"
}

/** Returns the first line of a report, truncated to the maximum size. */
const progressLine = (body: string): string => {
  const [line = ""] = body.trimEnd().split("\n", 1)
  return new TextDecoder().decode(Buffer.from(line).subarray(0, maxProgressLineBytes), {
    stream: true
  })
}
