import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, Ids, loop, Meters, restartIfStuck } from "../../core/index.ts"
import { Outbox, OutboxWaker, Signals } from "../../events/index.ts"
import { awaitRoutingTurn, MaintenanceRepo } from "../../incidents/index.ts"
import { Limits } from "../../plans/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { noSettings, SettingsRepo } from "../settings/SettingsRepo.ts"
import type { OutboxEvent } from "./OutboxEvent.ts"
import { remindAt } from "./problemAfter.ts"
import {
  type CallbackQuota,
  channelsToAsk,
  incidentOf,
  needsNotified,
  type ProblemRow,
  route
} from "./route.ts"
import { RoutingRepo } from "./RoutingRepo.ts"

// 1. `route` takes events from the outbox, alerts before callbacks.
// 2. It loads what is stored about their subjects and locks the channels that may be notified.
// 3. The pure function `route` (route.ts) decides which deliveries to create.
// 4. `RoutingRepo.write` writes the deliveries and deletes the events from the outbox. Steps 1 to 4
//    are one transaction, so a node that dies half-way has changed nothing.
// 5. `remind` puts reminders and missed recoveries back into the outbox.
// 6. `runRouter` repeats this whenever an event is added to the outbox.

/** Maximum number of rows per transaction, to keep it short. */
const batch = 1_000

/**
 * Turns events into deliveries. Only one node routes at a time, so events of a subject stay in
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
      const maintenance = yield* MaintenanceRepo
      const outbox = yield* Outbox
      const repo = yield* RoutingRepo
      const settingsRepo = yield* SettingsRepo
      const runSync = Effect.runSyncWith(yield* Effect.context<never>())
      const counted = (yield* Meters).counts(
        "scheduling_callbacks_total",
        "Callbacks of tasks: `accepted`, or `dropped` because too many were already waiting.",
        "outcome",
        ["accepted", "dropped"]
      )
      /** With fewer waiting callbacks, the plan of the workspace is not read. */
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
          ...alerts.map(incidentOf),
          ...[...problems.values()].map(({ incident_id }) => incident_id)
        ].filter((id) => id !== null)
        return {
          settings: yield* settingsRepo.findAll(unique(alerts.map((one) => one.workspace_id))),
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
            unique(alerts.filter(needsNotified).map(({ subject_id }) => subject_id))
          ),
          callbacks: yield* findCallbacks(events, now)
        }
      })

      // `routeSome`, `remindSome` and `releaseSome` return "all" if everything is done, "more" if there may be
      // more to do, and "busy" if another node is routing.
      const routeSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const listed = yield* repo.list(batch)
        if (listed.length === 0) return "all"
        // Locks the workspaces before the rows. Otherwise this transaction could deadlock with the
        // deletion of a monitor and the deletion of its workspace.
        const workspaces = yield* repo.findWorkspaces(
          unique(listed.map(({ workspace_id }) => workspace_id))
        )
        yield* awaitRoutingTurn(sql, [...workspaces])
        const rows = yield* repo.claimEvents(listed.map(({ ordinal }) => ordinal))
        const events = rows.filter(({ workspace_id }) => workspaces.has(workspace_id))
        const now = yield* clock
        const state = yield* findState(events, now)
        const channels = yield* repo.lockChannels(channelsToAsk(events, state, now))
        const routed = route(events, state, channels, now, () => runSync(ids.next))
        yield* repo.write(routed, now)
        yield* repo.remove(rows.map(({ ordinal }) => ordinal))
        const callbacks = routed.deliveries.filter(({ channel_id }) => channel_id === null)
        yield* sql.afterCommit(
          Effect.sync(() => {
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
            remind_at: remindAt(settings.get(row.workspace_id) ?? noSettings, now)
          }))
        yield* repo.updateProblems(
          changed,
          due.filter(isGone).map(({ subject_id }) => subject_id)
        )
        // Paused tasks send no reminders.
        const reminded = changed.filter(
          ({ ends_snooze, remind_at, subject_id }) =>
            (remind_at !== null || ends_snooze) && tasks.get(subject_id)?.status !== "paused"
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

      /** Announces the problems that are still there after their maintenance. */
      const releaseSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const workspaceIds = yield* repo.findWithholding
        if (workspaceIds.length === 0) return "all"
        const now = yield* clock
        const coverage = yield* maintenance.findCoverage(workspaceIds, now)
        let released = 0
        for (const workspaceId of workspaceIds) {
          const own = coverage.get(workspaceId)
          if (own?.everything === true || released >= batch) continue
          const rows = yield* repo.takeReleasable(workspaceId, own, batch)
          released += rows.length
          yield* outbox.announce(
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
        // Usually nothing is withheld, and no transaction is needed.
        release: Effect.flatMap(repo.findWithholding, ({ length }) =>
          length === 0 ? Effect.succeed("all" as const) : transaction(releaseSome)
        ).pipe(Effect.withSpan("Router.release")),
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
  yield* Effect.forkScoped(loop("routing notifications", routeAll, restartIfStuck))

  const remindAll = Effect.gen(function* () {
    const progress = yield* runInSlices(router.remind)
    if (progress === "all") yield* Effect.sleep("15 seconds")
    if (progress === "busy") yield* Effect.sleep(whileBusyMs)
  })
  yield* Effect.forkScoped(loop("reminding", remindAll))

  const releaseAll = Effect.gen(function* () {
    const progress = yield* runInSlices(router.release)
    if (progress === "all") yield* Effect.sleep("1 second")
    if (progress === "busy") yield* Effect.sleep(whileBusyMs)
  })
  yield* Effect.forkScoped(loop("notifying after maintenance", releaseAll))
})

/** Events whose signal was lost are found after this time. */
const pollMs = 1_000

/** The routing node may have started before the latest event, and finishes soon. */
const whileBusyMs = 50

const unique = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(items)]
