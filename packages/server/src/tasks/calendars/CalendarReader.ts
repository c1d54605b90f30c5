import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import { Clock, Context, Deferred, Effect, Layer, Result } from "effect"
import { AccountShares, pauseForSameDuration, FairQueue } from "../../http/index.ts"
import { Ids } from "../../core/index.ts"
import { calendarThread, type ParsedCalendar } from "./calendarThread.ts"

/**
 * The maximum size of a calendar. A country's public holidays take 20 kB per year, and ten years of
 * a personal calendar take 1 MB.
 */
export const maxCalendarBytes = 1024 * 1024
const timeoutSeconds = 10

/**
 * The number of concurrent reads. Each read can hold 1 MB for a long time, so accounts share the
 * reads fairly.
 */
const readsAtOnce = 16
const readsOfWorkspace = 2

export interface CalendarToRead {
  readonly workspace_id: string
  /** The lane of the account that created the workspace. */
  readonly lane: bigint
  readonly url: string
}

/**
 * Reads calendars from URLs that tasks are allowed to call. A failed read is returned as a value,
 * not as an error.
 */
export class CalendarReader extends Context.Service<
  CalendarReader,
  {
    /**
     * Reads a calendar. Requests for the same calendar share one read. The result is `busy` if the
     * workspace or its account has reached its limit of concurrent reads.
     */
    readonly read: (calendar: CalendarToRead) => Effect.Effect<ParsedCalendar | "busy">
  }
>()("@scheduling/server/tasks/calendars/CalendarReader") {
  static readonly layer: Layer.Layer<CalendarReader, never, OutgoingCalls | Ids> = Layer.effect(
    CalendarReader,
    Effect.gen(function* () {
      const call = yield* OutgoingCalls
      const ids = yield* Ids
      const shares = new AccountShares(readsAtOnce)
      const read = yield* calendarThread()
      const underWay = new Map<string, Deferred.Deferred<ParsedCalendar>>()
      /** The queue for parsing. Parsing calendars takes at most half of the node's CPU time. */
      const turns = new FairQueue<string>({ atOnce: 1, pause: pauseForSameDuration })

      const fetch = Effect.fnUntraced(function* (workspace_id: string, url: string) {
        const response = yield* call.run({
          workspace_id,
          execution_id: yield* ids.next,
          attempt: 1,
          task: null,
          method: "GET",
          url,
          headers: { accept: "text/calendar" },
          body: null,
          timeout_seconds: timeoutSeconds,
          keep_bytes: maxCalendarBytes
        })
        if (response.error !== null) {
          const { code, message } = response.error
          return Result.fail(code === "http_status" ? `the server ${message}` : message)
        }
        const text = response.response_body ?? ""
        if (Buffer.byteLength(text) >= maxCalendarBytes) {
          return Result.fail(`it is too large: the limit is ${maxCalendarBytes} bytes`)
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
          const result = yield* Deferred.make<ParsedCalendar>()
          underWay.set(key, result)
          // Other requests may be waiting for this read, so it continues even if the first request
          // is cancelled.
          return yield* fetch(workspace_id, url).pipe(
            Effect.catchDefect((defect) =>
              Effect.as(Effect.logError("a calendar could not be read", defect), broken)
            ),
            Effect.tap((read) => Deferred.succeed(result, read)),
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

const broken: ParsedCalendar = Result.fail("internal error")
