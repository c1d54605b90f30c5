import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type BackfillRequest, maxBackfillSlots } from "@scheduling/domain/tasks/Backfill"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { type NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { nextSlotInSteps, type SlotRule } from "@scheduling/schedules/slots"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog, currentAuthor } from "../accounts/index.ts"
import { AppConfig, dayMs, runInSlices } from "../core/index.ts"
import { calendarDaysOf, RunQueue } from "../engine/index.ts"
import { FairQueue, yieldToEventLoop } from "../http/index.ts"
import { Limits } from "../plans/index.ts"
import { StoreClock, timestampOf, transactionOf } from "../store/index.ts"
import type { ScheduledRow } from "./Schedules.ts"
import { selectBackfillTimes } from "./BackfillRepo.ts"

type BackfilledTask = ScheduledRow & { readonly name?: string | null }

/**
 * Queues executions for a task's past slots. The task's row is locked first, so that two requests
 * do not run a slot twice and no slot fires in the meantime.
 */
export const backfillTask = Effect.fnUntraced(function* (
  kind: "chain" | "cron",
  lock: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<BackfilledTask, NotFound>
) {
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const audit = yield* AuditLog
  const limits = yield* Limits
  const queue = yield* RunQueue
  const now = Effect.orDie((yield* StoreClock)(sql))
  const { retentionDays } = yield* AppConfig
  // Only one period is computed at a time, because several together would block the event loop for
  // too long.
  const turns = new FairQueue<AuthorizedWorkspaceId>({ atOnce: 1, pause: yieldToEventLoop })

  /**
   * Fails if a period begins before the history, because only the history shows which slots have no
   * execution.
   */
  const checkHistory = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    from: Date,
    nowMs: number
  ) {
    const visible = yield* limits.historyFrom(workspaceId)
    const begins = Math.max(visible?.getTime() ?? 0, nowMs - retentionDays * dayMs)
    if (from.getTime() >= begins) return
    return yield* ValidationFailed.at(
      ["from"],
      "out_of_range",
      `must be within the history, which begins at ${new Date(begins).toISOString()}`
    )
  })

  const slotTimesOf = Effect.fnUntraced(
    function* (task: BackfilledTask, period: { readonly fromMs: number; readonly toMs: number }) {
      if (task.schedule === null) return []
      const calendar_days = (yield* calendarDaysOf(sql, [task]))(task)
      const { dst_overlap, firing_options, id, schedule, timezone } = task
      const rule = { ...firing_options, dst_overlap, calendar_days }
      const slots = yield* runInSlices(slotsInSteps(schedule, timezone, period, rule))
      if (slots === undefined) {
        return yield* ValidationFailed.at(
          ["to"],
          "out_of_range",
          `must be earlier: the period has more than ${maxBackfillSlots} slots`
        )
      }
      const jitter = firing_options?.jitter_seconds ?? 0
      return slots.map((slot) => new Date(slot + jitterMs(id, slot, jitter)))
    },
    Effect.catchTag("SqlError", Effect.die)
  )

  const backfill = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    { dry_run = false, from, only = "missing", to }: BackfillRequest
  ) {
    const task = yield* lock(workspaceId, id)
    const nowMs = (yield* now).getTime()
    yield* checkHistory(workspaceId, new Date(from), nowMs)
    // Slots from `next_fire_at` on are omitted, because the schedule itself will fire them.
    const toMs = Math.min(Date.parse(to), task.next_fire_at?.getTime() ?? Infinity, nowMs)
    const slots = yield* slotTimesOf(task, { fromMs: Date.parse(from), toMs })
    const times = yield* selectBackfillTimes(sql, { ...task, kind, workspaceId }, only, slots)
    const [first, last] = [times[0], times.at(-1)]
    if (!dry_run && times.length > 0) {
      yield* queue.backfill(workspaceId, task.id, times)
      const { actor, origin } = yield* currentAuthor
      yield* audit.record({
        action: kind === "cron" ? "cron_task.backfilled" : "chain.backfilled",
        workspace_id: workspaceId,
        user_id: null,
        actor,
        subject_id: task.id,
        origin,
        details: { name: task.name, from, to, only, count: times.length }
      })
    }
    return {
      count: times.length,
      first: first === undefined ? null : timestampOf(first),
      last: last === undefined ? null : timestampOf(last)
    }
  })

  return Effect.fn("Tasks.backfill")((...given: Parameters<typeof backfill>) =>
    turns.run(given[0], transaction(backfill(...given)))
  )
})

/** Lists a period's slots. Returns undefined if there are too many. */
function* slotsInSteps(
  schedule: string,
  timezone: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  rule: SlotRule
): Generator<void, ReadonlyArray<number> | undefined> {
  const slots: Array<number> = []
  for (let after = fromMs - 1; ;) {
    const at = yield* nextSlotInSteps(schedule, timezone, after, rule)
    if (at === null || at >= toMs) return slots
    if (slots.length === maxBackfillSlots) return undefined
    slots.push(at)
    after = at
    yield
  }
}
