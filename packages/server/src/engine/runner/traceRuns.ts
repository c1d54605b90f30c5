import { errorLine } from "@scheduling/domain/executions/ExecutionError"
import { makeSpanId, spanIdOf, traceIdOf, traceparentOf, type Tracer } from "../../core/index.ts"
import type { SettleableRun, Settlement, StartedRun } from "../Run.ts"
import { timeOfId } from "../RunId.ts"

/** Returns the id of the trace of a run. A step belongs to the trace of its chain run. */
const traceOf = ({ id, position }: Pick<SettleableRun, "id" | "position">) =>
  traceIdOf(position?.chain_run_id ?? id)

/** Begins the spans of an attempt: the time the run waited for the attempt, and the call. */
export const beginTrace = (tracer: Tracer, run: StartedRun, takenMs: number) => {
  const traceId = traceOf(run)
  const parentSpanId = spanIdOf(run.id)
  const callId = makeSpanId()
  const attributes = { "scheduling.execution_id": run.id, "scheduling.attempt": run.attempt }
  return {
    traceparent: traceparentOf(traceId, callId, tracer.keeps(traceId)),
    called: (startedMs: number | null, endedMs: number, end: Settlement | undefined): void => {
      const begin = startedMs ?? takenMs
      const common = { traceId, parentSpanId, attributes }
      tracer.span({
        ...common,
        spanId: makeSpanId(),
        name: "due",
        kind: "internal",
        startMs: run.due_ms,
        endMs: Math.max(run.due_ms, takenMs),
        error: undefined
      })
      tracer.span({
        ...common,
        spanId: makeSpanId(),
        name: "claimed",
        kind: "internal",
        startMs: Math.min(takenMs, begin),
        endMs: begin,
        error: undefined
      })
      if (startedMs === null) return
      tracer.span({
        ...common,
        spanId: callId,
        name: run.call?.method ?? "call",
        kind: "client",
        startMs: startedMs,
        endMs: endedMs,
        attributes: {
          ...attributes,
          ...(run.call !== null && {
            "http.request.method": run.call.method,
            "server.address": hostOf(run.call.url)
          }),
          ...(end?.status_code != null && { "http.response.status_code": end.status_code })
        },
        error: end === undefined ? "abandoned" : describeError(end)
      })
    }
  }
}

/**
 * Creates the spans that follow the calls: writing the results, and the whole runs once they have
 * finished.
 */
export const traceSettled = (
  tracer: Tracer,
  settlements: ReadonlyArray<Settlement>,
  ids: ReadonlyArray<string>,
  nowMs: number
): void => {
  const written = new Set(ids)
  for (const run of settlements) {
    if (!written.has(run.id)) continue
    const traceId = traceOf(run)
    const spanId = spanIdOf(run.id)
    const error = run.status === "failed" ? describeError(run) : undefined
    tracer.span({
      traceId,
      spanId: makeSpanId(),
      parentSpanId: spanId,
      name: "settle",
      kind: "internal",
      startMs: run.finished_ms ?? nowMs,
      endMs: nowMs,
      attributes: { "scheduling.execution_id": run.id },
      error: undefined
    })
    if (run.status === null) continue
    // The first step of a chain has the id of the chain run. All other steps are children of it.
    const isFirst = run.position === null || run.position.chain_run_id === run.id
    tracer.span({
      traceId,
      spanId,
      parentSpanId: isFirst ? undefined : spanIdOf(run.position.chain_run_id),
      name: `run ${run.kind}`,
      kind: "internal",
      startMs: Math.min(timeOfId(run.id), run.started_ms ?? nowMs),
      endMs: nowMs,
      attributes: {
        "scheduling.execution_id": run.id,
        "scheduling.task_id": run.task_id,
        "scheduling.workspace_id": run.workspace_id,
        "scheduling.status": run.status,
        "scheduling.attempts": run.attempt
      },
      error
    })
  }
}

const describeError = ({ error }: Pick<Settlement, "error">) =>
  error === null ? undefined : errorLine(error)

/** Returns only the host of a URL, because the path may contain a secret. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "")
