import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { minGapSeconds } from "@scheduling/schedules/shortestDailyGapSeconds"
import { shortestGapSeconds } from "@scheduling/schedules/shortestGapSeconds"
import { Cause, Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { withServiceAuthor, AuditLog, ChangeLog, currentAuthor } from "../accounts/index.ts"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { AppConfig, loop, runAllInSequence, shortMessage } from "../core/index.ts"
import { firstOfMonth, Limits, LimitsRepo, announcedPercentOf, UsageRepo } from "../plans/index.ts"
import { Outbox } from "../events/index.ts"
import type { RunQueue } from "../engine/index.ts"
import { transactionOf } from "../store/index.ts"
import { pauseChange, makeScheduleWriter } from "../tasks/index.ts"
import {
  type PlanLimitedTaskKind,
  type PlanLimitedTaskRow,
  PlanPausesRepo
} from "./PlanPausesRepo.ts"

/**
 * Pauses tasks and chains that a workspace's plan does not allow: those that run too often, and the
 * newest ones beyond the limit. Resumes them, oldest first, when the plan allows it. Never deletes
 * anything.
 */
export class PlanEnforcement extends Context.Service<
  PlanEnforcement,
  {
    readonly enforce: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void>
    /**
     * Checks these workspaces' monthly limits: sends a notification at 80% and at 100%, and pauses
     * tasks once the limit is reached.
     */
    readonly enforceMonths: (workspaceIds: ReadonlyArray<string>) => Effect.Effect<void>
    /**
     * Checks all workspaces that have nearly reached their monthly limit or have tasks paused by a
     * plan.
     */
    readonly enforceAll: Effect.Effect<void>
  }
>()("@scheduling/server/billing/PlanEnforcement") {
  static readonly layer: Layer.Layer<
    PlanEnforcement,
    never,
    | AppConfig
    | AuditLog
    | ChangeLog
    | Limits
    | LimitsRepo
    | Outbox
    | PlanPausesRepo
    | RunQueue
    | SqlClient.SqlClient
    | UsageRepo
  > = Layer.effect(
    PlanEnforcement,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { plans } = yield* AppConfig
      const audit = yield* AuditLog
      const changeLog = yield* ChangeLog
      const limits = yield* Limits
      const outbox = yield* Outbox
      const repo = yield* PlanPausesRepo
      const usage = yield* UsageRepo
      const workspaces = yield* LimitsRepo
      const schedules = yield* makeScheduleWriter<PlanLimitedTaskRow>({ update: repo.update })
      const monthly = [...plans.plans.values()].flatMap(
        (plan) => plan.limits.executions_a_month ?? []
      )

      /** Pauses or resumes a task, and records the change. */
      const changeAndRecord = Effect.fnUntraced(function* <E>(
        kind: PlanLimitedTaskKind,
        row: PlanLimitedTaskRow,
        change: (row: PlanLimitedTaskRow) => Effect.Effect<PlanLimitedTaskRow, E>,
        details: { readonly reason?: string } = {}
      ) {
        const after = yield* change({ ...row, updated_by: (yield* currentAuthor).actor })
        yield* changeLog.record(pauseChange(kind, row, after, details))
      })

      const pause = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        kind: PlanLimitedTaskKind,
        rows: ReadonlyArray<PlanLimitedTaskRow>,
        reason: string
      ) {
        const at = yield* DateTime.nowAsDate
        const pauseOne = (row: PlanLimitedTaskRow) => schedules.pause(row, reason)
        yield* Effect.forEach(rows, (row) => changeAndRecord(kind, row, pauseOne, { reason }), {
          discard: true
        })
        yield* repo.insert(workspaceId, rows, at)
        yield* outbox.announce(
          ...rows.map(({ id, name, tags, workspace_id }) => ({
            workspace_id,
            event: "task.paused" as const,
            subject_id: id,
            tags,
            at,
            data: { name, reason, about: { task: { id: TaskId.make(id), kind }, execution: null } }
          }))
        )
      })

      const resume = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        kind: PlanLimitedTaskKind,
        rows: ReadonlyArray<PlanLimitedTaskRow>
      ) {
        yield* repo.remove(workspaceId, rows)
        yield* Effect.orDie(
          Effect.forEach(rows, (row) => changeAndRecord(kind, row, schedules.resume), {
            discard: true
          })
        )
      })

      /** Pauses or resumes one batch. Returns true if there may be more to do. */
      const enforceBatch = Effect.fnUntraced(
        function* (workspaceId: AuthorizedWorkspaceId, kind: PlanLimitedTaskKind) {
          if (!(yield* workspaces.lock(workspaceId))) return false
          const plan = yield* limits.planOf(workspaceId)
          const { shortest_interval_seconds: seconds } = plan.limits
          const tooFrequent = yield* findTooFrequent(workspaceId, kind, seconds)
          if (tooFrequent.length > 0) {
            const rows = yield* repo.listActive(workspaceId, kind, batch, tooFrequent)
            const reason = `The plan ${plan.name} allows schedules to fire at most once every ${seconds} seconds.`
            yield* pause(workspaceId, kind, rows, reason)
            if (rows.length === batch) return true
          }
          const isUsedUp = yield* isMonthUsedUp(workspaceId)
          const allowed = isUsedUp ? 0 : plan.limits[kind === "cron" ? "cron_tasks" : "chains"]
          const active = yield* repo.countActive(workspaceId, kind)
          if (active > allowed) {
            const count = Math.min(batch, active - allowed)
            const reason = isUsedUp
              ? "The monthly limit of executions is reached."
              : `The plan ${plan.name} allows ${allowed} active ${kind === "cron" ? "cron tasks" : "chains"}.`
            const rows = yield* repo.listActive(workspaceId, kind, count)
            yield* pause(workspaceId, kind, rows, reason)
            return true
          }
          const paused =
            active < allowed
              ? yield* repo.listPaused(
                  workspaceId,
                  kind,
                  tooFrequent,
                  Math.min(batch, allowed - active)
                )
              : []
          if (paused.length > 0) yield* resume(workspaceId, kind, paused)
          return paused.length === batch
        },
        audit.collectEvents,
        transaction,
        withServiceAuthor("plan", "billing")
      )

      const findTooFrequent = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        kind: PlanLimitedTaskKind,
        seconds: number
      ) {
        if (seconds <= minGapSeconds) return []
        const schedules = yield* repo.listSchedules(workspaceId, kind)
        return schedules.filter((schedule) => shortestGapSeconds(schedule) < seconds)
      })

      const isMonthUsedUp = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
        const limit = (yield* limits.planOf(workspaceId)).limits.executions_a_month
        if (limit === null) return false
        const since = firstOfMonth(yield* DateTime.nowAsDate)
        return (yield* usage.countExecutionsSince(workspaceId, since)) >= limit
      })

      const enforce = Effect.fn("PlanEnforcement.enforce")(function* (
        workspaceId: AuthorizedWorkspaceId
      ) {
        while (yield* enforceBatch(workspaceId, "cron"));
        while (yield* enforceBatch(workspaceId, "chain"));
      })

      /** Sends a notification at 80% and at 100% of the monthly limit, once a month. */
      const notifyOfUsage = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        used: number,
        now: Date
      ) {
        const limit = (yield* limits.planOf(workspaceId)).limits.executions_a_month
        const percent = limit === null ? undefined : announcedPercentOf(used, limit)
        if (limit === null || percent === undefined) return
        const near = { workspaceId, quota: "executions_a_month", used, limit, percent }
        yield* limits.notifyNear(near, firstOfMonth(now))
      }, transaction)

      /**
       * Lists workspaces that have used at least 80% of the smallest monthly limit that any plan
       * has.
       */
      const listUsing = (now: Date, of?: ReadonlyArray<string>) =>
        monthly.length === 0
          ? Effect.succeed([])
          : repo.listUsing(Math.floor(0.8 * Math.min(...monthly)), firstOfMonth(now), of)

      const enforceIfUsedUp = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
        if (yield* isMonthUsedUp(workspaceId)) yield* enforce(workspaceId)
      })

      return PlanEnforcement.of({
        enforce,

        enforceMonths: Effect.fn("PlanEnforcement.enforceMonths")(function* (workspaceIds) {
          const now = yield* DateTime.nowAsDate
          const using = yield* listUsing(now, workspaceIds)
          yield* runAllInSequence(
            using.flatMap(({ executions, workspace_id }) => [
              nameWorkspace(workspace_id, notifyOfUsage(workspace_id, executions, now)),
              nameWorkspace(workspace_id, enforceIfUsedUp(workspace_id))
            ])
          )
        }),

        enforceAll: Effect.gen(function* () {
          const now = yield* DateTime.nowAsDate
          const using = yield* listUsing(now)
          const paused = yield* repo.listWorkspaces
          const all = new Set([...using.map(({ workspace_id }) => workspace_id), ...paused])
          yield* runAllInSequence([
            ...using.map(({ executions, workspace_id }) =>
              nameWorkspace(workspace_id, notifyOfUsage(workspace_id, executions, now))
            ),
            ...[...all].map((workspaceId) => nameWorkspace(workspaceId, enforce(workspaceId)))
          ])
        })
      })
    })
  )
}

/** Adds the workspace id to the error of a failed check. */
const nameWorkspace = <A>(workspaceId: AuthorizedWorkspaceId, turn: Effect.Effect<A>) =>
  Effect.catchDefect(turn, (defect) =>
    Effect.die(
      new Error(`workspace ${workspaceId}: ${shortMessage(Cause.die(defect))}`, { cause: defect })
    )
  )

/**
 * Checks all workspaces every minute. Without plans it checks once, to resume tasks paused by
 * earlier plans.
 */
export const PlanEnforcementLayer: Layer.Layer<never, never, AppConfig | PlanEnforcement> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { plans } = yield* AppConfig
      const isOnlyPlan =
        plans.plans.size === 1 && plans.byDefault.limits.executions_a_month === null
      const { enforceAll } = yield* PlanEnforcement
      yield* Effect.forkScoped(
        loop("enforcing plans", enforceAll, {
          between: () => (isOnlyPlan ? Effect.never : Effect.sleep("1 minute")),
          pauseAtMost: "1 minute"
        })
      )
    })
  )

const batch = 100
