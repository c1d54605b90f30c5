import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { LimitName } from "@scheduling/domain/billing/Limits"
import type { UsedLimit } from "@scheduling/domain/billing/Billing"
import { type Day, dayOf } from "@scheduling/domain/billing/Usage"
import type { Plan } from "@scheduling/domain/billing/Plan"
import { minGapSeconds } from "@scheduling/schedules/shortestDailyGapSeconds"
import { shortestGapSeconds } from "@scheduling/schedules/shortestGapSeconds"
import { NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import { AppConfig, dayMs } from "../core/index.ts"
import { ApproximateQuota } from "../http/index.ts"
import { type CountedLimit, countedLimits } from "./countedLimits.ts"
import { LimitsRepo } from "./LimitsRepo.ts"
import { Outbox } from "../events/index.ts"
import {
  firstOfMonth,
  nearLimitEvent,
  type NearLimit,
  announcedPercentOf,
  newlyReachedPercent
} from "./nearLimits.ts"
import { planFinder } from "./planFinder.ts"
import { UsageRepo } from "./UsageRepo.ts"

/**
 * Limits on the number of rows in tables that can be large. Counting a hundred thousand rows takes
 * 100 ms.
 */
type LargeLimit = "pending_delayed_tasks" | "unfinished_runs"

/**
 * Enforces the plan of a workspace. Every create calls a method of this service in its transaction.
 */
export class Limits extends Context.Service<
  Limits,
  {
    readonly planOf: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<Plan>
    /**
     * Fails if a limit is reached. Locks the workspace's row until the commit, so that two
     * concurrent creates cannot exceed the limit.
     */
    readonly allowOneMore: (
      workspaceId: AuthorizedWorkspaceId,
      ...limits: ReadonlyArray<CountedLimit>
    ) => Effect.Effect<void, NotFound | QuotaExceeded>
    /**
     * Fails if `more` rows would exceed the limit. Counts rows only occasionally (see `ApproximateQuota`),
     * so that creates need not wait for each other.
     */
    readonly allowMoreOfMany: (
      workspaceId: AuthorizedWorkspaceId,
      limit: LargeLimit,
      more?: number
    ) => Effect.Effect<void, NotFound | QuotaExceeded>
    /**
     * Takes a permit to create one row, without a transaction. Returns false if the rows must be
     * counted again in a transaction. Then call `allowMoreOfMany`.
     */
    readonly takeOneOfMany: (
      workspaceId: AuthorizedWorkspaceId,
      limit: LargeLimit
    ) => Effect.Effect<boolean, QuotaExceeded>
    /** Locks the workspace's row until the commit. */
    readonly hold: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void, NotFound>
    /**
     * Sends a notification that a limit is nearly reached. Each percentage is announced at most
     * once in the period that begins on the day `since`.
     */
    readonly notifyNear: (near: NearLimit, since: Day) => Effect.Effect<void>
    /** Fails if the number that the caller counted reaches the limit. */
    readonly allowAfter: (
      workspaceId: AuthorizedWorkspaceId,
      limit: LimitName,
      used: number
    ) => Effect.Effect<void, QuotaExceeded>
    readonly used: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<ReadonlyArray<UsedLimit>>
    /**
     * Returns the earliest time from which executions are visible. Undefined if all are visible.
     */
    readonly historyFrom: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<Date | undefined>
    /** Fails if the task was paused by the plan rather than by a user. */
    readonly allowResume: (
      workspaceId: AuthorizedWorkspaceId,
      taskId: string
    ) => Effect.Effect<void, QuotaExceeded>
    readonly allowSchedule: (
      workspaceId: AuthorizedWorkspaceId,
      schedule: string
    ) => Effect.Effect<void, QuotaExceeded>
    /** Fails if the user owns too many workspaces. Locks the user's row until the commit. */
    readonly allowOneMoreWorkspace: (
      userId: UserId
    ) => Effect.Effect<void, InvalidToken | QuotaExceeded>
  }
>()("@scheduling/server/plans/Limits") {
  static readonly layer: Layer.Layer<Limits, never, AppConfig | LimitsRepo | Outbox | UsageRepo> =
    Layer.effect(
      Limits,
      Effect.gen(function* () {
        const { plans: catalog } = yield* AppConfig
        const outbox = yield* Outbox
        const repo = yield* LimitsRepo
        const usage = yield* UsageRepo
        const permits = {
          pending_delayed_tasks: new ApproximateQuota(),
          unfinished_runs: new ApproximateQuota()
        }
        const somePlanLimits = (limit: LimitName) =>
          [...catalog.plans.values()].some(({ limits }) => limits[limit] !== null)
        const someRestrictIntervals = [...catalog.plans.values()].some(
          ({ limits }) => limits.shortest_interval_seconds > minGapSeconds
        )

        const planOf = yield* planFinder
        const somePlanLimitsMonths = somePlanLimits("executions_a_month")
        const somePlanLimitsHistory = somePlanLimits("history_days")

        const hold = (workspaceId: AuthorizedWorkspaceId) =>
          Effect.filterOrFail(
            repo.lock(workspaceId),
            (isThere) => isThere,
            () => new NotFound({ resource: "workspace" })
          )

        const countFree = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          limit: CountedLimit
        ) {
          const plan = yield* planOf(workspaceId)
          const most = plan.limits[limit]
          const used = yield* repo.count(workspaceId, limit, yield* DateTime.nowAsDate, most)
          return { free: most - used, plan }
        })

        /** Sends a notification if the new row reaches 80% or 100% of the limit. */
        const announceNear = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          quota: CountedLimit,
          used: number,
          limit: number
        ) {
          const percent = newlyReachedPercent(used, limit)
          if (percent === undefined) return
          const now = yield* DateTime.nowAsDate
          yield* outbox.announce(nearLimitEvent({ workspaceId, quota, used, limit, percent }, now))
        })

        const notifyNear = Effect.fn("Limits.notifyNear")(function* (near: NearLimit, since: Day) {
          const { percent, quota, workspaceId: workspace_id } = near
          if (!(yield* repo.insertNotice({ workspace_id, quota, since, percent }))) return
          yield* outbox.announce(nearLimitEvent(near, yield* DateTime.nowAsDate))
        })

        /**
         * Counts the rows, and announces `quota.near` at most once per day. This is enough, because
         * the rows are rarely counted.
         */
        const countFreeOfMany = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          quota: LargeLimit,
          more: number
        ) {
          const { free, plan } = yield* countFree(workspaceId, quota)
          const limit = plan.limits[quota]
          const used = limit - free + more
          const percent = free < more ? undefined : announcedPercentOf(used, limit)
          if (percent !== undefined) {
            const today = dayOf(yield* Clock.currentTimeMillis)
            yield* notifyNear({ workspaceId, quota, used, limit, percent }, today)
          }
          return free
        })

        const allowMonth = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          more: number
        ) {
          if (!somePlanLimitsMonths) return
          const plan = yield* planOf(workspaceId)
          const limit = plan.limits.executions_a_month
          if (limit === null) return
          const since = firstOfMonth(yield* DateTime.nowAsDate)
          if ((yield* usage.countExecutionsSince(workspaceId, since)) + more > limit) {
            return yield* exceeded(plan, "executions_a_month")
          }
        })

        const historyFrom = Effect.fn("Limits.historyFrom")(function* (
          workspaceId: AuthorizedWorkspaceId
        ) {
          const { history_days } = (yield* planOf(workspaceId)).limits
          if (history_days === null) return undefined
          const now = yield* DateTime.nowAsDate
          return new Date(now.getTime() - history_days * dayMs)
        })

        return Limits.of({
          planOf,

          hold,

          notifyNear,

          allowOneMore: Effect.fn("Limits.allowOneMore")(function* (workspaceId, ...limits) {
            yield* hold(workspaceId)
            for (const limit of limits) {
              const { free, plan } = yield* countFree(workspaceId, limit)
              if (free < 1) return yield* exceeded(plan, limit)
              const most = plan.limits[limit]
              yield* announceNear(workspaceId, limit, most - free + 1, most)
            }
          }),

          allowMoreOfMany: Effect.fn("Limits.allowMoreOfMany")(function* (
            workspaceId,
            limit,
            more = 1
          ) {
            yield* allowMonth(workspaceId, more)
            const isFree = yield* permits[limit].take(
              workspaceId,
              Effect.gen(function* () {
                // A run is enqueued while its task is locked. Locking the workspace after the task
                // could cause a deadlock, so the workspace is locked only for delayed tasks.
                if (limit === "pending_delayed_tasks") yield* hold(workspaceId)
                return yield* countFreeOfMany(workspaceId, limit, more)
              }),
              more
            )
            if (!isFree) return yield* exceeded(yield* planOf(workspaceId), limit)
          }),

          takeOneOfMany: Effect.fn("Limits.takeOneOfMany")(function* (workspaceId, quota) {
            yield* allowMonth(workspaceId, 1)
            const isTaken = permits[quota].takeKnown(workspaceId)
            if (isTaken !== undefined) return isTaken
            const { free, plan } = yield* countFree(workspaceId, quota)
            const limit = plan.limits[quota]
            const isNear = announcedPercentOf(limit - free + 1, limit) !== undefined
            // Near the limit, concurrent creates without a transaction could together exceed it.
            if (isNear || free < transactionThreshold) return false
            return yield* permits[quota].take(workspaceId, Effect.succeed(free))
          }),

          allowAfter: Effect.fn("Limits.allowAfter")(function* (workspaceId, limit, used) {
            const plan = yield* planOf(workspaceId)
            if (used >= (plan.limits[limit] ?? Infinity)) return yield* exceeded(plan, limit)
          }),

          used: Effect.fn("Limits.used")(function* (workspaceId) {
            const { limits } = yield* planOf(workspaceId)
            const now = yield* DateTime.nowAsDate
            const counts = yield* Effect.forEach(countedLimits, (quota) =>
              Effect.map(repo.count(workspaceId, quota, now, countUpTo), (used) => ({
                quota,
                used,
                limit: limits[quota]
              }))
            )
            // Sums the executions over the same days as the usage report, so that both agree.
            const days = yield* usage.list(workspaceId, firstOfMonth(now), dayOf(now.getTime()))
            const executions = days.reduce((sum, day) => sum + day.executions, 0)
            return [
              ...counts,
              { quota: "executions_a_month", used: executions, limit: limits.executions_a_month }
            ]
          }),

          allowResume: Effect.fn("Limits.allowResume")(function* (workspaceId, taskId) {
            if (!(yield* repo.isPausedByPlan(workspaceId, taskId))) return
            const { id, limits } = yield* planOf(workspaceId)
            return yield* new QuotaExceeded({
              quota: "cron_tasks",
              limit: limits.cron_tasks,
              plan: id,
              message:
                "The task is paused because the workspace exceeds its plan. It resumes when the workspace is within the plan again."
            })
          }),

          // Every list of executions calls this function. Usually no plan limits the history, and
          // the workspace's plan is then not looked up.
          historyFrom: somePlanLimitsHistory ? historyFrom : () => Effect.undefined,

          allowSchedule: Effect.fn("Limits.allowSchedule")(function* (workspaceId, schedule) {
            if (!someRestrictIntervals) return
            const plan = yield* planOf(workspaceId)
            const { shortest_interval_seconds: limit } = plan.limits
            if (limit <= minGapSeconds || shortestGapSeconds(schedule) >= limit) return
            return yield* new QuotaExceeded({
              quota: "shortest_interval_seconds",
              limit,
              plan: plan.id,
              message: `The plan "${plan.id}" allows schedules to fire at most once every ${limit} seconds.`
            })
          }),

          allowOneMoreWorkspace: Effect.fn("Limits.allowOneMoreWorkspace")(function* (userId) {
            const owned = yield* repo.countOwnedWorkspaces(userId)
            if (Option.isNone(owned)) return yield* new InvalidToken()
            const { byDefault } = catalog
            if (owned.value >= byDefault.limits.owned_workspaces) {
              return yield* exceeded(byDefault, "owned_workspaces")
            }
          })
        })
      })
    )
}

/** The number of rows below the limit that must be free for a create without a transaction. */
const transactionThreshold = 1_000

/** Rows are counted only up to this number. */
const countUpTo = 1_000_000

const exceeded = ({ id, limits }: Plan, limit: LimitName) =>
  new QuotaExceeded({ quota: limit, limit: limits[limit] ?? 0, plan: id })
