import { Effect } from "effect"
import type { ProcessWatch } from "./processes.ts"

const withinMs = 10_000

/**
 * Sees what is due now, and returns whether something is to be reported. It may end unheard, because
 * the kernel can keep whoever asks about a process waiting. Nothing else is looked at until then.
 */
export const look = (watch: Pick<ProcessWatch, "observe">, nowMs: number): Effect.Effect<boolean> =>
  Effect.promise(() => watch.observe(nowMs)).pipe(
    Effect.map(({ length }) => length > 0),
    Effect.timeoutOrElse({
      duration: withinMs,
      orElse: () =>
        Effect.as(
          Effect.logWarning(
            `looking at processes takes longer than ${withinMs / 1_000} s; none is reported until it ends`
          ),
          false
        )
    })
  )
