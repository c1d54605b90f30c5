import { Call } from "@scheduling/calls/Call"
import { Clock, Context, Deferred, Effect, Layer, Result } from "effect"
import { AccountShares, afterARest, FairQueue } from "../../http/index.ts"
import { Ids } from "../../core/index.ts"
import { calendarThread, type ReadCalendar } from "./calendarThread.ts"

/** A year of a whole country has 20 kB, and a person's calendar of ten years a megabyte. */
export const maxBytes = 1024 * 1024
const timeoutSeconds = 10

/** Each may hold a megabyte, for as long as its server likes. Accounts have shares of these. */
const readsAtOnce = 16
const readsOfWorkspace = 2

export interface CalendarToRead {
  readonly workspace_id: string
  /** The lane of the account that created the workspace. */
  readonly lane: bigint
  readonly url: string
}

/** Reads calendars from the web, where tasks may call too. Every outcome is a value. */
export class CalendarReader extends Context.Service<
  CalendarReader,
  {
    /**
     * Who asks for the same calendar meanwhile gets the same answer. `busy`: the workspace or its
     * account reads as many as it may, which is no fault of the calendar.
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
      /** Many calendars that take long share half of the processor time of the node. */
      const turns = new FairQueue<string>({ atOnce: 1, pause: afterARest })

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
          // Others may wait for it, so it ends also if who began it is gone.
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
