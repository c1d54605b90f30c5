import { Effect, Result } from "effect"
import type { Scope } from "effect"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { calendarTooComplexMessage } from "./CalendarProblem.ts"

/** The excluded days, or why the file cannot be read. */
export type ParsedCalendar = Result.Result<ReadonlyArray<string>, string>

/** The maximum time for parsing one file. 5,000 yearly events take less than a second. */
const timeLimitMs = 5_000

/** The maximum memory of the thread. 1 MB of short lines needs half of it. */
const heapLimitMb = 256

const idleLimitMs = 60_000

/**
 * Parses iCalendar files one by one in a separate thread that can be stopped at any time. This is
 * necessary because two kilobytes can describe more events than can be listed in a day. The thread
 * starts with the first file, and stops after a minute without another file.
 */
export const calendarThread = (
  limitMs = timeLimitMs
): Effect.Effect<
  (text: string, nowMs: number) => Effect.Effect<ParsedCalendar>,
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    let thread: Worker | undefined
    let idle: NodeJS.Timeout | undefined
    const end = async () => {
      const ended = thread
      thread = undefined
      await ended?.terminate()
    }
    const read = async (text: string, nowMs: number): Promise<ParsedCalendar> => {
      clearTimeout(idle)
      thread ??= startThread()
      const signal = AbortSignal.timeout(limitMs)
      try {
        const answer = once(thread, "message", { signal })
        thread.postMessage({ text, nowMs })
        const [{ days, problem }] = await answer
        idle = setTimeout(end, idleLimitMs).unref()
        return days === undefined ? Result.fail(problem) : Result.succeed(days)
      } catch (cause) {
        await end()
        if (signal.aborted || isOutOfMemory(cause)) return Result.fail(calendarTooComplexMessage)
        throw cause
      }
    }
    yield* Effect.addFinalizer(() => Effect.promise(end))
    return (text, nowMs) => Effect.promise(() => read(text, nowMs))
  })

const startThread = () => {
  const thread = new Worker(new URL("./worker.ts", import.meta.url), {
    name: "calendars",
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb }
  })
  // Without this listener, an error in the thread after the time limit would stop the process.
  thread.on("error", () => {})
  thread.unref()
  return thread
}

const isOutOfMemory = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"
