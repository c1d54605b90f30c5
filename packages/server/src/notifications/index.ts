/**
 * Decides who is notified of what, and through which channel. An event becomes a message in these
 * steps:
 *
 * 1. Outbox: the change itself writes an event, in its own transaction (`events/Outbox.ts`; for
 *    finished runs `events/announceFinished.ts`, including callbacks of tasks).
 * 2. Routing: `routing/Router.ts` takes events from the outbox and loads what is stored about their
 *    subjects. The pure function in `routing/routeEvents.ts` decides which deliveries to create.
 * 3. Delivery: a row for one message to one channel, or to a callback's URL
 *    (`sending/DeliveriesRepo.ts`).
 * 4. Attempt: `sending/Sender.ts` claims deliveries, sends each through its kind (`kinds/email.ts`,
 *    `kinds/callback.ts`, …) and records the result. `sending/decideAfterAttempt.ts` decides when to
 *    retry.
 *
 * `escalations/` has the policies that notify people step by step, `channels/` has a workspace's
 * channels and the consent of email addresses, and `settings/` has the rules, thresholds and quiet
 * hours.
 */
import { DateTime, Effect, Layer } from "effect"
import { AppConfig, dayMs, loop, onlyOnRunnerNodes, runAllInSequence } from "../core/index.ts"
import { stopAtShutdown } from "../http/index.ts"
import { Channels } from "./channels/Channels.ts"
import { ChannelsRepo } from "./channels/ChannelsRepo.ts"
import { Consent } from "./channels/Consent.ts"
import { PauseChannel } from "./channels/PauseChannel.ts"
import { FollowAccountsLayer } from "./channels/followAccounts.ts"
import { FollowIncidentsLayer } from "./sending/followIncidents.ts"
import { linkRoutesLayer } from "./channels/linkRoutes.ts"
import { incidentRoutesLayer } from "./links/incidentRoutes.ts"
import { approveRoutesLayer } from "./links/approveRoutes.ts"
import { Escalations } from "./escalations/Escalations.ts"
import { EscalationsRepo } from "./escalations/EscalationsRepo.ts"
import { EscalationsHandlers } from "./escalations/http.ts"
import { MemberChannels } from "./escalations/MemberChannels.ts"
import { NotificationsHandlers } from "./http.ts"
import { Recipients } from "./routing/Recipients.ts"
import { Router, runRouter } from "./routing/Router.ts"
import { RoutingRepo } from "./routing/RoutingRepo.ts"
import { Deliveries } from "./sending/Deliveries.ts"
import { DeliveriesRepo } from "./sending/DeliveriesRepo.ts"
import { runSender, Sender } from "./sending/Sender.ts"
import { Transport } from "./sending/Transport.ts"
import { Settings } from "./settings/Settings.ts"
import { SettingsRepo } from "./settings/SettingsRepo.ts"

export { correctNotificationTimesAfterClockSetBack } from "./correctNotificationTimesAfterClockSetBack.ts"

/** Routes and sends notifications in the background. It can run on any number of nodes. */
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
const RunnerLayer = onlyOnRunnerNodes(
  stopAtShutdown(NotifierLayer.pipe(Layer.provide([Sender.layer, Router.layer])))
)

export const NotificationsLayer = Layer.mergeAll(
  NotificationsHandlers,
  EscalationsHandlers,
  linkRoutesLayer,
  incidentRoutesLayer,
  approveRoutesLayer,
  FollowAccountsLayer,
  FollowIncidentsLayer,
  RunnerLayer
).pipe(
  Layer.provide([Channels.layer, Deliveries.layer, Escalations.layer, Recipients.layer]),
  Layer.provide([Settings.layer, Consent.layer, MemberChannels.layer]),
  Layer.provide([PauseChannel.layer, Transport.layer]),
  Layer.provide([
    ChannelsRepo.layer,
    DeliveriesRepo.layer,
    EscalationsRepo.layer,
    RoutingRepo.layer,
    SettingsRepo.layer
  ])
)
