import { Effect } from "effect"
import type { ProcessWatch } from "./ProcessWatch.ts"

const readTimeoutMs = 10_000

/**
 * Observes the processes that are due, and returns whether there is something to report. Gives up
 * after 10 seconds, because the kernel can block a reader of `/proc`.
 */
export const observeProcesses = (
  watch: Pick<ProcessWatch, "observe">,
  nowMs: number
): Effect.Effect<boolean> =>
  Effect.promise(() => watch.observe(nowMs)).pipe(
    Effect.map(({ length }) => length > 0),
    Effect.timeoutOrElse({
      duration: readTimeoutMs,
      orElse: () =>
        Effect.as(
          Effect.logWarning(
            `cannot read the processes within ${readTimeoutMs / 1_000} s: no process is reported until the read finishes`
          ),
          false
        )
    })
  )
