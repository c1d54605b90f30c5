import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotFound,
  type QuotaExceeded,
  RateLimited,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { maxBatchItems } from "@scheduling/domain/shared/requests/Batch"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { AccountRateLimits } from "../../http/index.ts"
import { Limits } from "../../plans/index.ts"
import type { Outbox } from "../../events/index.ts"
import { dayMs, elapsedMs, Ids, loop } from "../../core/index.ts"
import type { RunQueue } from "../../engine/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { makeScheduleWriter } from "../Schedules.ts"
import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import { CalendarReader } from "./CalendarReader.ts"
import { CalendarsRepo, type ClaimedCalendar } from "./CalendarsRepo.ts"

/** A request's fields that determine its calendar. */
interface Given {
  readonly excluded_calendar?: { readonly url: string } | null
}

/**
 * How long a node claims a calendar. Afterwards, another node can claim it. Reading the calendar
 * and recomputing its tasks takes less time.
 */
const leaseMs = 5 * 60_000

const hourMs = 3_600_000

/**
 * The number of calendars that a node claims together. At most two calendars of one workspace are
 * read at the same time.
 */
const readsAtOnce = 4

/**
 * Stores the calendars whose days are excluded from schedules. Each workspace's calendars are read
 * once a day.
 */
export class Calendars extends Context.Service<
  Calendars,
  {
    /**
     * Reads a new calendar before saving the change that names it. Do not call it in a transaction,
     * because the calendar's server can be slow. If the workspace's plan allows no further
     * calendar, nothing is read, unless the task's `change` may free a calendar.
     */
    readonly readBefore: (
      workspaceId: AuthorizedWorkspaceId,
      given: Given,
      saves: "a new task" | "a change"
    ) => Effect.Effect<void, NotFound | QuotaExceeded | RateLimited | ValidationFailed>
    /** Reads calendars that are due. Returns true if more calendars may be due. */
    readonly refresh: Effect.Effect<boolean>
  }
>()("@scheduling/server/tasks/calendars/Calendars") {
  static readonly layer: Layer.Layer<
    Calendars,
    never,
    CalendarReader | CalendarsRepo | Ids | Limits | Outbox | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Calendars,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const checkTargets = yield* forbiddenTargetCheck
      const ids = yield* Ids
      const limits = yield* Limits
      const clock = yield* Clock.Clock
      const rates = new AccountRateLimits(readsPerMinute)
      const reader = yield* CalendarReader
      const repo = yield* CalendarsRepo
      const schedules = yield* makeScheduleWriter({ update: repo.updateNextFire })

      const keep = Effect.fnUntraced(function* (
        workspace_id: AuthorizedWorkspaceId,
        url: string,
        days: ReadonlyArray<string>
      ) {
        const at = yield* now
        yield* limits.hold(workspace_id)
        if (yield* repo.isKnown(workspace_id, url)) return
        yield* repo.removeUnused(workspace_id, at)
        yield* repo.removeOldestUnused(workspace_id, maxUnused)
        const id = yield* ids.next
        yield* repo.insert({ id, workspace_id, url, days, check_at: nextDailyRead(at) }, at)
      }, transaction)

      const readNew = Effect.fnUntraced(function* (
        workspace_id: AuthorizedWorkspaceId,
        url: string,
        saves: "a new task" | "a change"
      ) {
        yield* checkTargets([{ url, path }])
        if (yield* repo.isKnown(workspace_id, url)) return
        const { lane, used } = yield* repo.findUse(workspace_id)
        yield* limits.allowAfter(workspace_id, "calendars", saves === "a change" ? used - 1 : used)
        const rate = rates.take(workspace_id, lane, elapsedMs(clock))
        if (rate.isOver) return yield* tooManyReads(rate.seconds)
        const read = yield* reader.read({ workspace_id, lane, url })
        if (read === "busy") return yield* tooManyReads(busySeconds)
        if (Result.isFailure(read)) {
          return yield* ValidationFailed.at(path, "invalid", `could not be read: ${read.failure}`)
        }
        yield* keep(workspace_id, url, read.success)
      })

      /** Recomputes each task in its own transaction, so that no task is locked for long. */
      const recomputeTasks = Effect.fnUntraced(function* (calendar: ClaimedCalendar) {
        let after = firstId
        for (;;) {
          const tasks = yield* repo.listTasks(calendar, after)
          for (const id of tasks) {
            yield* transaction(
              Effect.flatMap(repo.lockTask(calendar, id), (row) =>
                Option.isNone(row) ? Effect.void : schedules.recompute(row.value)
              )
            )
            after = id
          }
          if (tasks.length === 0) return
        }
      })

      const check = Effect.fnUntraced(function* (calendar: ClaimedCalendar) {
        const { days, workspace_id } = calendar
        const begunAt = yield* now
        yield* repo.removeUnused(workspace_id, begunAt)
        if (!(yield* repo.isKnown(workspace_id, calendar.url))) return
        const read = yield* reader.read(calendar)
        const at = yield* now
        if (read === "busy") {
          return yield* repo.postpone(calendar, new Date(at.getTime() + busySeconds * 1_000))
        }
        const failures = Result.isSuccess(read) ? 0 : calendar.failures + 1
        const found = Result.isSuccess(read)
          ? { days: read.success, fetched_at: at, error: null, failures }
          : { days, fetched_at: undefined, error: read.failure, failures }
        const check_at = failures === 0 ? nextDailyRead(at) : nextTryAfter(failures, at)
        if (calendar.is_applied && isDeepStrictEqual(found.days, days)) {
          return yield* repo.updateFound(calendar, { ...found, is_applied: true, check_at })
        }
        // If this node stops before the tasks are recomputed, the node that next reads the calendar
        // recomputes them.
        const again = new Date(begunAt.getTime() + leaseMs)
        yield* repo.updateFound(calendar, { ...found, is_applied: false, check_at: again })
        yield* recomputeTasks(calendar)
        yield* repo.updateFound(calendar, { ...found, is_applied: true, check_at })
      })

      return Calendars.of({
        readBefore: (workspaceId, { excluded_calendar }, saves) =>
          excluded_calendar === undefined || excluded_calendar === null
            ? Effect.void
            : readNew(workspaceId, excluded_calendar.url, saves),

        refresh: Effect.gen(function* () {
          const at = yield* now
          const until = new Date(at.getTime() + leaseMs)
          const due = yield* repo.claimDue(at, until, readsAtOnce)
          yield* Effect.forEach(due, check, { concurrency: readsAtOnce, discard: true })
          return due.length === readsAtOnce
        }).pipe(Effect.withSpan("Calendars.refresh"))
      })
    })
  )
}

/** Reads calendars when they are due, on every node that makes calls. */
export const CalendarsLayer: Layer.Layer<never, never, Calendars> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { refresh } = yield* Calendars
    yield* Effect.forkScoped(
      loop("reading calendars", refresh, {
        between: (hasMore) => (hasMore ? Effect.void : Effect.sleep("1 minute")),
        pauseAtMost: "1 minute"
      })
    )
  })
)

/**
 * The maximum number of new calendars per minute. It is limited, because one request can name a
 * hundred calendars on the same host.
 */
const readsPerMinute = { each: 20, account: 60 }

/** How long to wait while too many reads are in progress. A read takes less time than this. */
const busySeconds = 15

const tooManyReads = (retry_after: number) =>
  new RateLimited({
    retry_after,
    message: `This workspace or account adds too many calendars at once. Try again in ${retry_after} s.`
  })

const path = ["excluded_calendar", "url"]

/**
 * The maximum number of unused calendars per workspace. A batch's calendars are unused until its
 * tasks are saved.
 */
const maxUnused = maxBatchItems

const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * Returns a time 22 to 24 hours later. The random part spreads the reads of calendars that were
 * saved together.
 */
const nextDailyRead = (at: Date) => new Date(at.getTime() + dayMs - Math.random() * 2 * hourMs)

/**
 * Returns when a failed read is retried. The delay is one hour after the first failure, and doubles
 * with each further failure, up to a day.
 */
const nextTryAfter = (failures: number, at: Date) =>
  new Date(at.getTime() + Math.min(dayMs, hourMs * 2 ** Math.min(failures - 1, 5)))
