import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { leastGapSeconds } from "@scheduling/schedules/gapOf"
import { shortestGapSeconds } from "@scheduling/schedules/shortestGapSeconds"
import { Cause, Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../accounts/index.ts"
import { AppConfig, loop, runAllInTurn, shortMessage } from "../core/index.ts"
import { firstOfMonth, Limits, LimitsRepo, percentOf, UsageRepo } from "../plans/index.ts"
import { Outbox } from "../events/index.ts"
import type { RunQueue } from "../engine/index.ts"
import { transactionOf } from "../store/index.ts"
import { schedulesOf } from "../tasks/index.ts"
import { type PlannedKind, type PlannedRow, PlanPausesRepo } from "./PlanPausesRepo.ts"

/**
 * Pauses what the plan of a workspace does not allow: tasks and chains that fire too often, and the
 * newest beyond the limit. Resumes the oldest of them when the plan allows it. Nothing is deleted.
 */
export class KeepingToPlans extends Context.Service<
  KeepingToPlans,
  {
    readonly keep: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void>
    /** Checks the monthly limit of these workspaces, as `keepAll` does. */
    readonly keepMonths: (workspaceIds: ReadonlyArray<string>) => Effect.Effect<void>
    /**
     * Checks all workspaces whose month is nearly used up, or with something that a plan has
     * paused.
     */
    readonly keepAll: Effect.Effect<void>
  }
>()("@scheduling/server/billing/KeepingToPlans") {
  static readonly layer: Layer.Layer<
    KeepingToPlans,
    never,
    | AppConfig
    | AuditLog
    | Limits
    | LimitsRepo
    | Outbox
    | PlanPausesRepo
    | RunQueue
    | SqlClient.SqlClient
    | UsageRepo
  > = Layer.effect(
    KeepingToPlans,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { plans } = yield* AppConfig
      const audit = yield* AuditLog
      const limits = yield* Limits
      const outbox = yield* Outbox
      const repo = yield* PlanPausesRepo
      const usage = yield* UsageRepo
      const workspaces = yield* LimitsRepo
      const schedules = yield* schedulesOf<PlannedRow>({ insert: Effect.die, update: repo.update })
      const monthly = [...plans.plans.values()].flatMap(
        (plan) => plan.limits.executions_a_month ?? []
      )

      const record = (
        action: "billing.tasks_paused" | "billing.tasks_resumed",
        rows: ReadonlyArray<PlannedRow>
      ) => {
        const [first] = rows
        return first === undefined
          ? Effect.void
          : audit.recordInWorkspace(action, first.workspace_id, {
              actor_id: null,
              origin: { ip: null, user_agent: null, request_id: "billing" },
              details: { tasks: rows.map(({ id, name }) => ({ id, name })) }
            })
      }

      const pause = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        rows: ReadonlyArray<PlannedRow>,
        reason: string
      ) {
        const at = yield* DateTime.nowAsDate
        yield* Effect.forEach(rows, (row) => schedules.pause(row, reason), { discard: true })
        yield* repo.insert(workspaceId, rows, at)
        yield* record("billing.tasks_paused", rows)
        yield* outbox.announce(
          ...rows.map(({ id, name, workspace_id }) => ({
            workspace_id,
            event: "task.disabled" as const,
            subject_id: id,
            at,
            data: { name, reason }
          }))
        )
      })

      const resume = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        rows: ReadonlyArray<PlannedRow>
      ) {
        yield* repo.remove(workspaceId, rows)
        yield* Effect.orDie(Effect.forEach(rows, schedules.resume, { discard: true }))
        yield* record("billing.tasks_resumed", rows)
      })

      /** Returns whether there may be more to do. */
      const keepSome = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        kind: PlannedKind
      ) {
        if (!(yield* workspaces.lock(workspaceId))) return false
        const plan = yield* limits.planOf(workspaceId)
        const { shortest_interval_seconds: seconds } = plan.limits
        const hasty = yield* hastySchedules(workspaceId, kind, seconds)
        if (hasty.length > 0) {
          const rows = yield* repo.listActive(workspaceId, kind, batch, hasty)
          const reason = `The plan ${plan.name} allows a schedule to fire every ${seconds} seconds.`
          yield* pause(workspaceId, rows, reason)
          if (rows.length === batch) return true
        }
        const isUsedUp = yield* isMonthUsedUp(workspaceId)
        const allowed = isUsedUp ? 0 : plan.limits[kind === "cron" ? "cron_tasks" : "chains"]
        const active = yield* repo.countActive(workspaceId, kind)
        if (active > allowed) {
          const count = Math.min(batch, active - allowed)
          const reason = isUsedUp
            ? "The executions of this month are used up."
            : `The plan ${plan.name} allows ${allowed}.`
          yield* pause(workspaceId, yield* repo.listActive(workspaceId, kind, count), reason)
          return true
        }
        const paused =
          active < allowed
            ? yield* repo.listPaused(workspaceId, kind, hasty, Math.min(batch, allowed - active))
            : []
        if (paused.length > 0) yield* resume(workspaceId, paused)
        return paused.length === batch
      }, transaction)

      /** The schedules in use that fire more often than the plan allows. */
      const hastySchedules = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        kind: PlannedKind,
        seconds: number
      ) {
        if (seconds <= leastGapSeconds) return []
        const schedules = yield* repo.listSchedules(workspaceId, kind)
        return schedules.filter((schedule) => shortestGapSeconds(schedule) < seconds)
      })

      const isMonthUsedUp = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
        const limit = (yield* limits.planOf(workspaceId)).limits.executions_a_month
        if (limit === null) return false
        const since = firstOfMonth(yield* DateTime.nowAsDate)
        return (yield* usage.countExecutionsSince(workspaceId, since)) >= limit
      })

      const keep = Effect.fn("KeepingToPlans.keep")(function* (workspaceId: AuthorizedWorkspaceId) {
        while (yield* keepSome(workspaceId, "cron"));
        while (yield* keepSome(workspaceId, "chain"));
      })

      /** Notifies people at 80 and at 100 %, once a month. */
      const notifyOfUsage = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        used: number,
        now: Date
      ) {
        const limit = (yield* limits.planOf(workspaceId)).limits.executions_a_month
        const percent = limit === null ? undefined : percentOf(used, limit)
        if (limit === null || percent === undefined) return
        const near = { workspaceId, quota: "executions_a_month", used, limit, percent }
        yield* limits.notifyNear(near, firstOfMonth(now))
      }, transaction)

      /** Workspaces that have used at least 80 % of the smallest monthly limit of any plan. */
      const listUsing = (now: Date, of?: ReadonlyArray<string>) =>
        monthly.length === 0
          ? Effect.succeed([])
          : repo.listUsing(Math.floor(0.8 * Math.min(...monthly)), firstOfMonth(now), of)

      const keepIfUsedUp = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
        if (yield* isMonthUsedUp(workspaceId)) yield* keep(workspaceId)
      })

      return KeepingToPlans.of({
        keep,

        keepMonths: Effect.fn("KeepingToPlans.keepMonths")(function* (workspaceIds) {
          const now = yield* DateTime.nowAsDate
          const using = yield* listUsing(now, workspaceIds)
          yield* runAllInTurn(
            using.flatMap(({ executions, workspace_id }) => [
              naming(workspace_id, notifyOfUsage(workspace_id, executions, now)),
              naming(workspace_id, keepIfUsedUp(workspace_id))
            ])
          )
        }),

        keepAll: Effect.gen(function* () {
          const now = yield* DateTime.nowAsDate
          const using = yield* listUsing(now)
          const paused = yield* repo.listWorkspaces
          const all = new Set([...using.map(({ workspace_id }) => workspace_id), ...paused])
          yield* runAllInTurn([
            ...using.map(({ executions, workspace_id }) =>
              naming(workspace_id, notifyOfUsage(workspace_id, executions, now))
            ),
            ...[...all].map((workspaceId) => naming(workspaceId, keep(workspaceId)))
          ])
        })
      })
    })
  )
}

/** Names in the log the workspace whose turn failed. */
const naming = <A>(workspaceId: AuthorizedWorkspaceId, turn: Effect.Effect<A>) =>
  Effect.catchDefect(turn, (defect) =>
    Effect.die(
      new Error(`workspace ${workspaceId}: ${shortMessage(Cause.die(defect))}`, { cause: defect })
    )
  )

/** Without plans, one round resumes what earlier plans have paused. */
export const KeepingToPlansLayer: Layer.Layer<never, never, AppConfig | KeepingToPlans> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { plans } = yield* AppConfig
      const isOnlyPlan =
        plans.plans.size === 1 && plans.byDefault.limits.executions_a_month === null
      const { keepAll } = yield* KeepingToPlans
      yield* Effect.forkScoped(
        loop("keeping to plans", keepAll, {
          between: () => (isOnlyPlan ? Effect.never : Effect.sleep("1 minute")),
          pauseAtMost: "1 minute"
        })
      )
    })
  )

/** At most this many are paused or resumed by one transaction. */
const batch = 100
