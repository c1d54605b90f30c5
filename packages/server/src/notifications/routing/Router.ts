import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, Ids, loop, Meters, stuckRestartOptions, Waker } from "../../core/index.ts"
import { Outbox, OutboxWaker, Signals } from "../../events/index.ts"
import { awaitRoutingTurn, findSuppressors, MaintenanceRepo } from "../../incidents/index.ts"
import { Limits } from "../../plans/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { MemberChannels } from "../escalations/MemberChannels.ts"
import { defaultSettings, SettingsRepo } from "../settings/SettingsRepo.ts"
import type { OutboxEvent } from "./OutboxEvent.ts"
import { reminderTime } from "./problemAfter.ts"
import {
  type CallbackQuota,
  candidateChannels,
  incidentIdOf,
  needsNotifiedChannels,
  type ProblemRow,
  routeEvents
} from "./routeEvents.ts"
import { RoutingRepo } from "./RoutingRepo.ts"

// 1. `route` takes events from the outbox, alerts before callbacks.
// 2. It loads what is stored about their subjects and locks the channels that may be notified.
// 3. The pure function `routeEvents` (routeEvents.ts) decides which deliveries to create.
// 4. `RoutingRepo.write` writes the deliveries and deletes the events from the outbox. Steps 1 to 4
//    are one transaction, so a node that dies halfway has changed nothing.
// 5. `remind` puts reminders and missed recoveries back into the outbox, `release` withheld
//    problems and steps of escalation policies.
// 6. `runRouter` repeats this whenever an event is added to the outbox.

/** Maximum number of rows per transaction, to keep it short. */
const batch = 1_000

/**
 * Turns events into deliveries. Only one node routes at a time, so that a subject's events stay in
 * order.
 */
export class Router extends Context.Service<Router>()(
  "@scheduling/server/notifications/routing/Router",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const { plans } = yield* AppConfig
      const ids = yield* Ids
      const limits = yield* Limits
      const memberChannels = yield* MemberChannels
      const maintenance = yield* MaintenanceRepo
      const outbox = yield* Outbox
      const repo = yield* RoutingRepo
      const settingsRepo = yield* SettingsRepo
      /** Wakes the loop that releases problems when this node has added a step. */
      const steps = new Waker()
      const runSync = Effect.runSyncWith(yield* Effect.context<never>())
      const counted = (yield* Meters).counts(
        "scheduling_callbacks_total",
        "Callbacks of tasks: `accepted`, or `dropped` because too many were already waiting.",
        "outcome",
        ["accepted", "dropped"]
      )
      /**
       * The smallest callback limit of any plan. A workspace's plan is looked up only if more
       * callbacks wait than this.
       */
      const leastLimit = Math.min(
        ...[...plans.plans.values()].map((plan) => plan.limits.waiting_callbacks)
      )

      const findCallbacks = Effect.fnUntraced(function* (
        events: ReadonlyArray<OutboxEvent>,
        now: Date
      ) {
        const byWorkspace = Map.groupBy(
          events.filter(({ callback_url }) => callback_url !== null),
          ({ workspace_id }) => workspace_id
        )
        const rooms = new Map<string, CallbackQuota>()
        for (const row of yield* repo.findCallbacks([...byWorkspace.keys()], now)) {
          const { workspace_id, ...room } = row
          const wanted = room.waiting + (byWorkspace.get(workspace_id)?.length ?? 0)
          const limit =
            wanted <= leastLimit
              ? leastLimit
              : (yield* limits.planOf(workspace_id)).limits.waiting_callbacks
          rooms.set(workspace_id, { ...room, limit })
        }
        return rooms
      })

      const findState = Effect.fnUntraced(function* (
        events: ReadonlyArray<OutboxEvent>,
        now: Date
      ) {
        const alerts = events.filter(({ callback_url }) => callback_url === null)
        const subjects = unique(alerts.map(({ subject_id }) => subject_id))
        const problems = yield* repo.findProblems(subjects)
        const incidentIds = [
          ...alerts.map(incidentIdOf),
          ...[...problems.values()].map(({ incident_id }) => incident_id)
        ].filter((id) => id !== null)
        const suppressors = yield* findSuppressors(sql, subjects)
        const settings = yield* settingsRepo.findAll(unique(alerts.map((one) => one.workspace_id)))
        return {
          suppressors,
          dependents: yield* repo.findDependents(subjects.filter((id) => !suppressors.get(id))),
          settings,
          policies: yield* repo.findPolicies(
            unique([
              ...alerts.flatMap(({ data }) => data.escalation?.policy_id ?? []),
              ...[...settings.values()].flatMap(({ rules }) =>
                rules.flatMap(({ escalation_id }) => escalation_id ?? [])
              )
            ])
          ),
          tasks: yield* repo.findTasks(
            unique(
              alerts.flatMap(({ data, subject_id }) => (data.run === undefined ? [] : [subject_id]))
            )
          ),
          problems,
          incidents: yield* repo.findIncidents(unique(incidentIds)),
          coverage: yield* maintenance.findCoverage(
            unique(alerts.map((one) => one.workspace_id)),
            now
          ),
          notified: yield* repo.findNotified(
            unique(alerts.filter(needsNotifiedChannels).map(({ subject_id }) => subject_id))
          ),
          running: yield* repo.findRunning(
            unique(
              alerts.flatMap(({ data, subject_id }) => (data.reminder === true ? [subject_id] : []))
            )
          ),
          callbacks: yield* findCallbacks(events, now)
        }
      })

      // `routeSome`, `remindSome` and `releaseSome` return "all" if everything is done, "more" if
      // there may be more to do, and "busy" if another node is routing.
      const routeSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const listed = yield* repo.list(batch)
        if (listed.length === 0) return "all"
        // The workspaces are locked before the rows. Otherwise this transaction could deadlock with
        // two others that delete a monitor and its workspace.
        const workspaces = yield* repo.findWorkspaces(
          unique(listed.map(({ workspace_id }) => workspace_id))
        )
        yield* awaitRoutingTurn(sql, [...workspaces])
        const rows = yield* repo.claimEvents(listed.map(({ ordinal }) => ordinal))
        const events = yield* repo.addFailedSteps(
          rows.filter(({ workspace_id }) => workspaces.has(workspace_id))
        )
        const now = yield* clock
        const state = yield* findState(events, now)
        const channels = yield* repo.lockChannels(candidateChannels(events, state, now))
        const routed = routeEvents(events, state, channels, now, () => runSync(ids.next))
        yield* repo.write(routed, now)
        yield* repo.remove(rows.map(({ ordinal }) => ordinal))
        const callbacks = routed.deliveries.filter(({ channel_id }) => channel_id === null)
        yield* sql.afterCommit(
          Effect.sync(() => {
            if (routed.escalations.length > 0) steps.wake()
            for (const { other, status } of callbacks) {
              if (status === "dropped") counted("dropped", other)
              else counted("accepted")
            }
          })
        )
        return listed.length === batch ? "more" : "all"
      })

      const remindSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const now = yield* clock
        const checked = yield* repo.announceMissed(now, batch)
        const due = yield* repo.listToRemind(now, batch)
        if (due.length === 0) return checked === batch ? "more" : "all"
        const settings = yield* settingsRepo.findAll(unique(due.map((row) => row.workspace_id)))
        const tasks = yield* repo.findTasks(due.map(({ subject_id }) => subject_id))
        const isGone = ({ data, subject_id }: ProblemRow) =>
          data.run !== undefined && !tasks.has(subject_id)
        const changed = due
          .filter((row) => !isGone(row))
          .map((row) => ({
            ...row,
            remind_at: reminderTime(settings.get(row.workspace_id) ?? defaultSettings, now)
          }))
        yield* repo.updateProblems(
          changed,
          due.filter(isGone).map(({ subject_id }) => subject_id)
        )
        // No reminder is sent about a paused task, or about a problem that was never announced.
        const reminded = changed.filter(
          ({ ends_snooze, notified_at, remind_at, subject_id }) =>
            notified_at !== null &&
            (remind_at !== null || ends_snooze) &&
            tasks.get(subject_id)?.status !== "paused"
        )
        yield* outbox.announce(
          ...reminded.map(({ data, event, subject_id, tags, workspace_id }) => ({
            workspace_id,
            event,
            subject_id,
            tags,
            at: now,
            data: { ...data, reminder: true }
          }))
        )
        return due.length === batch || checked === batch ? "more" : "all"
      })

      const findReleasing = Effect.fnUntraced(function* (now: Date) {
        return unique([...(yield* repo.findWithholding), ...(yield* repo.findEscalating(now))])
      })

      /**
       * Puts problems back into the outbox: withheld problems whose cause for being withheld may
       * have ended, and problems for which an escalation step is due.
       */
      const releaseSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const now = yield* clock
        const workspaceIds = yield* findReleasing(now)
        if (workspaceIds.length === 0) return "all"
        const coverage = yield* maintenance.findCoverage(workspaceIds, now)
        let released = 0
        for (const workspaceId of workspaceIds) {
          const own = coverage.get(workspaceId)
          if (own?.everything === true || released >= batch) continue
          const rows = yield* repo.takeReleasable(workspaceId, own, now, batch)
          const due = yield* repo.takeDueSteps(workspaceId, own, now, batch)
          released += rows.length + due.length
          yield* outbox.announce(
            ...due.map(({ data, due_at, event, policy_id, round, step, subject_id, tags }) => ({
              workspace_id: workspaceId,
              event,
              subject_id,
              tags,
              at: now,
              data: {
                ...data,
                reminder: true,
                escalation: { policy_id, step, round, at: due_at.toISOString() }
              }
            })),
            ...rows.map(({ data, event, subject_id, tags, workspace_id }) => ({
              workspace_id,
              event,
              subject_id,
              tags,
              at: now,
              data: { ...data, resumed: true }
            }))
          )
        }
        return released >= batch ? "more" : "all"
      })

      return {
        // Problems to release are looked for before a transaction begins, because usually there are
        // none.
        release: Effect.gen(function* () {
          const now = yield* clock
          if ((yield* findReleasing(now)).length === 0) return "all"
          yield* memberChannels.createDue(now)
          return yield* transaction(releaseSome)
        }).pipe(Effect.withSpan("Router.release")),

        /** Waits until the next escalation step is due, but at most `atMostMs`. */
        awaitStep: Effect.fn("Router.awaitStep")(function* (atMostMs: number) {
          const now = yield* clock
          const next = yield* repo.findNextStepAt(now)
          const ms = next === null ? atMostMs : next.getTime() - now.getTime()
          yield* steps.wait(Math.min(ms, atMostMs))
        }),
        route: transaction(routeSome).pipe(Effect.withSpan("Router.route")),
        remind: transaction(remindSome).pipe(Effect.withSpan("Router.remind"))
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/** Routes in the background. `wakeSender` is called when there may be new deliveries. */
export const runRouter = Effect.fnUntraced(function* (wakeSender: () => void) {
  const waker = yield* OutboxWaker
  const router = yield* Router
  const signals = yield* Signals
  yield* Effect.acquireRelease(
    Effect.sync(() => void (waker.isWatched = true)),
    () => Effect.sync(() => void (waker.isWatched = false))
  )
  yield* signals.subscribe({
    received: (payload) => {
      if (payload === "outbox") waker.wake()
    },
    connected: () => waker.wake()
  })
  const runInSlices = (yield* Semaphore.make(1)).withPermit

  const routeAll = Effect.gen(function* () {
    const progress = yield* runInSlices(router.route)
    wakeSender()
    if (progress === "all") yield* waker.wait(pollMs)
    if (progress === "busy") yield* Effect.sleep(whileBusyMs)
  })
  yield* Effect.forkScoped(loop("routing notifications", routeAll, stuckRestartOptions))

  const remindAll = Effect.gen(function* () {
    const progress = yield* runInSlices(router.remind)
    if (progress === "all") yield* Effect.sleep("15 seconds")
    if (progress === "busy") yield* Effect.sleep(whileBusyMs)
  })
  yield* Effect.forkScoped(loop("reminding", remindAll))

  const releaseAll = Effect.gen(function* () {
    const progress = yield* runInSlices(router.release)
    if (progress === "all") yield* router.awaitStep(pollMs)
    if (progress === "busy") yield* Effect.sleep(whileBusyMs)
  })
  yield* Effect.forkScoped(loop("notifying of withheld problems", releaseAll))
})

/**
 * The interval at which the outbox is read even without a signal, to find events whose signal was
 * lost.
 */
const pollMs = 1_000

/**
 * The delay before the next try while another node is routing. That node will finish soon, but it
 * may have read the outbox before the latest event was added.
 */
const whileBusyMs = 50

const unique = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(items)]
