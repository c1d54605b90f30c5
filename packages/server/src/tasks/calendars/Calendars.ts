import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotFound,
  type QuotaExceeded,
  RateLimited,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { maxBatch } from "@scheduling/domain/shared/requests/Batch"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { AccountRates } from "../../http/index.ts"
import { Limits } from "../../plans/index.ts"
import type { Outbox } from "../../events/index.ts"
import { dayMs, elapsedMs, Ids, loop } from "../../core/index.ts"
import type { RunQueue } from "../../engine/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { schedulesOf } from "../Schedules.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import { CalendarReader } from "./CalendarReader.ts"
import { CalendarsRepo, type ClaimedCalendar } from "./CalendarsRepo.ts"

/** The fields of a request that matter for calendars. */
interface Given {
  readonly excluded_calendar?: { readonly url: string } | null
}

/**
 * Longer than reading a calendar and recomputing its tasks takes. After this time another node may
 * claim it.
 */
const leaseMs = 5 * 60_000

const hourMs = 3_600_000

/**
 * The number of calendars that are claimed at once. At most two of one workspace are read at the
 * same time.
 */
const readsAtOnce = 4

/**
 * Keeps the calendars whose days are excluded from schedules. Each workspace's calendars are read
 * once a day.
 */
export class Calendars extends Context.Service<
  Calendars,
  {
    /**
     * Reads a new calendar before the change that names it is saved. Do not call this in a
     * transaction, because the server may be slow. Nothing is fetched if the workspace has no
     * calendar left in its plan, unless a `change` of a task may free one.
     */
    readonly readBefore: (
      workspaceId: AuthorizedWorkspaceId,
      given: Given,
      saves: "a new task" | "a change"
    ) => Effect.Effect<void, NotFound | QuotaExceeded | RateLimited | ValidationFailed>
    /** Reads calendars that are due. Returns whether more may be due. */
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
      const checkTargets = yield* targetCheck
      const ids = yield* Ids
      const limits = yield* Limits
      const clock = yield* Clock.Clock
      const rates = new AccountRates(readsPerMinute)
      const reader = yield* CalendarReader
      const repo = yield* CalendarsRepo
      const schedules = yield* schedulesOf({ insert: Effect.die, update: repo.updateNextFire })

      const keep = Effect.fnUntraced(function* (
        workspace_id: AuthorizedWorkspaceId,
        url: string,
        days: ReadonlyArray<string>
      ) {
        const at = yield* now
        yield* limits.hold(workspace_id)
        if (yield* repo.isKnown(workspace_id, url)) return
        yield* repo.removeUnused(workspace_id, at)
        yield* repo.removeOldestUnused(workspace_id, unusedAtMost)
        const id = yield* ids.next
        yield* repo.insert({ id, workspace_id, url, days, check_at: inADay(at) }, at)
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

      /** Each task has its own transaction, so that none is locked for long. */
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
        const check_at = failures === 0 ? inADay(at) : laterAfter(failures, at)
        if (calendar.is_applied && isDeepStrictEqual(found.days, days)) {
          return yield* repo.updateFound(calendar, { ...found, is_applied: true, check_at })
        }
        // If this node stops before the tasks are recomputed, the node that reads the calendar next
        // does it.
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
 * The maximum number of new calendars per minute. One request may name a hundred, all on one host.
 */
const readsPerMinute = { each: 20, account: 60 }

/** How long to wait while too many reads are in progress. A read takes less than that. */
const busySeconds = 15

const tooManyReads = (retry_after: number) =>
  new RateLimited({
    retry_after,
    message: `This workspace or account adds too many calendars at once. Try again in ${retry_after} s.`
  })

const path = ["excluded_calendar", "url"]

/**
 * The maximum number of unused calendars of a workspace. The calendars of a batch are unused until
 * its tasks are saved.
 */
const unusedAtMost = maxBatch

const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * Returns a time 22 to 24 hours later. The random part spreads the reads of calendars that were
 * saved together.
 */
const inADay = (at: Date) => new Date(at.getTime() + dayMs - Math.random() * 2 * hourMs)

/**
 * Returns the time of the next try: one hour later after the first failure, then two, four and so
 * on, up to a day.
 */
const laterAfter = (failures: number, at: Date) =>
  new Date(at.getTime() + Math.min(dayMs, hourMs * 2 ** Math.min(failures - 1, 5)))
