import { Call } from "@scheduling/calls/Call"
import { Clock, Context, Deferred, Effect, Layer, Result } from "effect"
import { AccountShares, afterEqualPause, FairQueue } from "../../http/index.ts"
import { Ids } from "../../core/index.ts"
import { calendarThread, type ReadCalendar } from "./calendarThread.ts"

/** The holidays of a country take 20 kB a year, and ten years of a person's calendar a megabyte. */
export const maxBytes = 1024 * 1024
const timeoutSeconds = 10

/** The number of reads at once. Each may hold a megabyte for long, so accounts share them fairly. */
const readsAtOnce = 16
const readsOfWorkspace = 2

export interface CalendarToRead {
  readonly workspace_id: string
  /** The lane of the account that created the workspace. */
  readonly lane: bigint
  readonly url: string
}

/** Reads calendars from addresses that tasks may call. Failures are values, too. */
export class CalendarReader extends Context.Service<
  CalendarReader,
  {
    /**
     * Requests for the same calendar share one read. `busy` means that the workspace or its account
     * is already reading as many calendars as it may.
     */
    readonly read: (calendar: CalendarToRead) => Effect.Effect<ReadCalendar | "busy">
  }
>()("@scheduling/server/tasks/calendars/CalendarReader") {
  static readonly layer: Layer.Layer<CalendarReader, never, Call | Ids> = Layer.effect(
    CalendarReader,
    Effect.gen(function* () {
      const call = yield* Call
      const ids = yield* Ids
      const shares = new AccountShares(readsAtOnce)
      const read = yield* calendarThread()
      const underWay = new Map<string, Deferred.Deferred<ReadCalendar>>()
      /** Calendars that take long get at most half of the processor time of the node. */
      const turns = new FairQueue<string>({ atOnce: 1, pause: afterEqualPause })

      const fetch = Effect.fnUntraced(function* (workspace_id: string, url: string) {
        const answer = yield* call.run({
          workspace_id,
          execution_id: yield* ids.next,
          attempt: 1,
          task: null,
          method: "GET",
          url,
          headers: { accept: "text/calendar" },
          body: null,
          timeout_seconds: timeoutSeconds,
          keep_bytes: maxBytes
        })
        if (answer.error !== null) {
          const { code, message } = answer.error
          return Result.fail(code === "http_status" ? `the server ${message}` : message)
        }
        const text = answer.response_body ?? ""
        if (Buffer.byteLength(text) >= maxBytes) {
          return Result.fail(`it has ${maxBytes} bytes or more, which is too many`)
        }
        const now = yield* Clock.currentTimeMillis
        return yield* turns.run(workspace_id, read(text, now))
      })

      return CalendarReader.of({
        read: Effect.fn("CalendarReader.read")(function* ({ lane, url, workspace_id }) {
          const key = `${workspace_id} ${url}`
          const same = underWay.get(key)
          if (same !== undefined) return yield* Deferred.await(same)
          const ofWorkspace = [...underWay.keys()].filter((one) => one.startsWith(workspace_id))
          if (ofWorkspace.length >= readsOfWorkspace || !shares.mayHold(lane)) return "busy"
          shares.change(lane, 1)
          const answer = yield* Deferred.make<ReadCalendar>()
          underWay.set(key, answer)
          // Other requests may wait for this read, so it goes on if the first request is cancelled.
          return yield* fetch(workspace_id, url).pipe(
            Effect.catchDefect((defect) =>
              Effect.as(Effect.logError("a calendar could not be read", defect), broken)
            ),
            Effect.tap((read) => Deferred.succeed(answer, read)),
            Effect.ensuring(
              Effect.sync(() => {
                underWay.delete(key)
                shares.change(lane, -1)
              })
            ),
            Effect.uninterruptible
          )
        })
      })
    })
  )
}

const broken: ReadCalendar = Result.fail("internal error")
