import { type CheckOutcome, noMeasurements } from "@scheduling/calls/probes/checkErrors"
import { TargetChecks } from "@scheduling/calls/probes/TargetChecks"
import {
  maxHeldProbes,
  type WorkerProbe,
  type WorkerProbeResult
} from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Exit, Semaphore } from "effect"

export interface Probes {
  /** Starts the probes that are not yet running or waiting, and returns whether there were any. */
  readonly begin: (probes: ReadonlyArray<WorkerProbe>) => boolean
  /** Returns the results since the last call, as many as fit into one request. */
  readonly takeResults: () => ReadonlyArray<WorkerProbeResult>
}

interface ProbesOptions {
  /**
   * The maximum number of targets that are checked concurrently. Calls for runs do not use these
   * slots.
   */
  readonly slots: number
  readonly onResult: () => void
}

/**
 * Creates the probes of an agent. They check monitors' targets with the service's code and egress
 * rules.
 */
export const makeProbes = Effect.fnUntraced(function* ({
  onResult,
  slots
}: ProbesOptions): Effect.fn.Return<Probes, never, TargetChecks> {
  const targets = yield* TargetChecks
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const free = yield* Semaphore.make(slots)
  const held = new Set<string>()
  const results: Array<WorkerProbeResult> = []

  const begin = ({ probe_id, target, timeout_seconds }: WorkerProbe) => {
    held.add(probe_id)
    runFork(free.withPermit(targets.check(target, timeout_seconds))).addObserver((exit) => {
      held.delete(probe_id)
      if (Exit.isFailure(exit)) return
      results.push(toResult(probe_id, exit.value))
      onResult()
    })
  }

  return {
    begin: (probes) => {
      const added = probes
        .filter(({ probe_id }) => !held.has(probe_id))
        .slice(0, Math.max(0, maxHeldProbes - held.size))
      added.forEach(begin)
      return added.length > 0
    },
    takeResults: () => results.splice(0, maxHeldProbes)
  }
})

/** Converts the outcome of a check to a result that the protocol accepts. */
const toResult = (probe_id: string, { isUnreached, result }: CheckOutcome): WorkerProbeResult => ({
  probe_id,
  unreached: isUnreached,
  result: {
    ...noMeasurements,
    ...result,
    error: result.error && {
      ...result.error,
      message: toStorableText(result.error.message, 1_000)
    },
    // The protocol has no times after the year 9999.
    certificate_expires_at:
      result.certificate_expires_at?.startsWith("+") === true
        ? null
        : result.certificate_expires_at,
    values: result.values && result.values.map((value) => toStorableText(value, 500))
  }
})

const toStorableText = (text: string, max: number): string =>
  text.replaceAll("\0", "").slice(0, max).toWellFormed()
