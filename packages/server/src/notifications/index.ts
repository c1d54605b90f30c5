/**
 * Decides who is notified of what, and through which channel. An event becomes a message in these
 * steps:
 *
 * 1. Outbox: the change itself writes an event, in its own transaction (`events/Outbox.ts`; for
 *    finished runs `events/announceFinished.ts`, including callbacks of tasks).
 * 2. Route: `routing/Router.ts` takes events from the outbox and loads what is stored about their
 *    subjects. The pure function in `routing/route.ts` decides which deliveries to create.
 * 3. Delivery: a row for one message to one channel, or to the URL of a callback
 *    (`sending/DeliveriesRepo.ts`).
 * 4. Attempt: `sending/Sender.ts` claims deliveries, sends each through its kind (`kinds/email.ts`,
 *    `kinds/callback.ts`, …) and records the result. `sending/afterAttempt.ts` decides when to
 *    retry.
 *
 * `channels/` has the channels of a workspace and the consent of email addresses, `settings/` the
 * rules, thresholds and quiet hours.
 */
import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, onRunnerNodes, runAllInSequence } from "../core/index.ts"
import { untilStopping } from "../http/index.ts"
import { Channels } from "./channels/Channels.ts"
import { ChannelsRepo } from "./channels/ChannelsRepo.ts"
import { Consent } from "./channels/Consent.ts"
import { PauseChannel } from "./channels/PauseChannel.ts"
import { FollowAccountsLayer } from "./channels/followAccounts.ts"
import { FollowIncidentsLayer } from "./sending/followIncidents.ts"
import { linkRoutesLayer } from "./channels/linkRoutes.ts"
import { acknowledgeRoutesLayer } from "./links/acknowledgeRoutes.ts"
import { NotificationsHandlers } from "./http.ts"
import { Router, runRouter } from "./routing/Router.ts"
import { RoutingRepo } from "./routing/RoutingRepo.ts"
import { Deliveries } from "./sending/Deliveries.ts"
import { DeliveriesRepo } from "./sending/DeliveriesRepo.ts"
import { runSender, Sender } from "./sending/Sender.ts"
import { Transport } from "./sending/Transport.ts"
import { Settings } from "./settings/Settings.ts"
import { SettingsRepo } from "./settings/SettingsRepo.ts"

export { correctNotificationTimes } from "./correctNotificationTimes.ts"

/** Routes and sends notifications in the background. Can run on any number of nodes. */
export const NotifierLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const wakeSender = yield* runSender
    yield* runRouter(wakeSender)
    yield* cleanUp
  })
)

const cleanUp = Effect.gen(function* () {
  const { retentionDays } = yield* AppConfig
  const deliveries = yield* DeliveriesRepo
  const problems = yield* RoutingRepo
  const tidyUp = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs)
    yield* runAllInSequence([
      problems.removeOrphans(now),
      deliveries.removeFinished(daysAgo(retentionDays), daysAgo(1))
    ])
  })
  yield* Effect.forkScoped(
    loop("tidying up notifications", tidyUp, {
      between: () => Effect.sleep("10 minutes"),
      pauseAtMost: "1 minute"
    })
  )
})

/** Nodes with `RUNNER=off` send nothing. */
const RunnerLayer = onRunnerNodes(
  untilStopping(NotifierLayer.pipe(Layer.provide([Sender.layer, Router.layer])))
)

export const NotificationsLayer = Layer.mergeAll(
  NotificationsHandlers,
  linkRoutesLayer,
  acknowledgeRoutesLayer,
  FollowAccountsLayer,
  FollowIncidentsLayer,
  RunnerLayer
).pipe(
  Layer.provide([Channels.layer, Deliveries.layer]),
  Layer.provide([Settings.layer, Consent.layer]),
  Layer.provide([PauseChannel.layer, Transport.layer]),
  Layer.provide([ChannelsRepo.layer, DeliveriesRepo.layer, RoutingRepo.layer, SettingsRepo.layer])
)
