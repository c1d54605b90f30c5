import { Effect } from "effect"
import type { ProcessWatch } from "./ProcessWatch.ts"

const withinMs = 10_000

/**
 * Observes the processes that are due now, and returns whether there is something to report. The
 * observation is abandoned after 10 seconds, because the kernel can keep a reader of `/proc`
 * waiting.
 */
export const observeProcesses = (
  watch: Pick<ProcessWatch, "observe">,
  nowMs: number
): Effect.Effect<boolean> =>
  Effect.promise(() => watch.observe(nowMs)).pipe(
    Effect.map(({ length }) => length > 0),
    Effect.timeoutOrElse({
      duration: withinMs,
      orElse: () =>
        Effect.as(
          Effect.logWarning(
            `reading processes takes longer than ${withinMs / 1_000} s; no process is reported until it ends`
          ),
          false
        )
    })
  )
