/** Who is notified of what, and through which channel. */
import { Layer } from "effect"
import { whereRunning } from "../core/index.ts"
import { untilStopping } from "../http/index.ts"
import { NotifierLayer } from "./Notifier.ts"
import { CallbackOutboxRepo } from "./callbacks/CallbackOutboxRepo.ts"
import { CallbackSenderRepo } from "./callbacks/CallbackSenderRepo.ts"
import { CallingBackLayer } from "./callbacks/callingBack.ts"
import { Channels } from "./channels/Channels.ts"
import { ChannelsRepo } from "./channels/ChannelsRepo.ts"
import { Confirming } from "./channels/Confirming.ts"
import { ConfirmingRepo } from "./channels/ConfirmingRepo.ts"
import { Disabling } from "./channels/Disabling.ts"
import { FollowAccountsLayer } from "./channels/followAccounts.ts"
import { linkRoutesLayer } from "./channels/linkRoutes.ts"
import { RefusalsRepo } from "./channels/RefusalsRepo.ts"
import { Starter } from "./channels/Starter.ts"
import { Deliveries } from "./deliveries/Deliveries.ts"
import { DeliveriesRepo } from "./deliveries/DeliveriesRepo.ts"
import { NotificationsHandlers } from "./http.ts"
import { Sender } from "./sending/Sender.ts"
import { SenderRepo } from "./sending/SenderRepo.ts"
import { Transmitter } from "./sending/Transmitter.ts"
import { Settings } from "./settings/Settings.ts"
import { SettingsRepo } from "./settings/SettingsRepo.ts"
import { Sorter } from "./sorting/Sorter.ts"
import { SorterRepo } from "./sorting/SorterRepo.ts"

export { setNotificationsRight } from "./setNotificationsRight.ts"

const Repositories = Layer.mergeAll(
  ChannelsRepo.layer,
  ConfirmingRepo.layer,
  RefusalsRepo.layer,
  SettingsRepo.layer,
  DeliveriesRepo.layer,
  SenderRepo.layer,
  SorterRepo.layer,
  CallbackOutboxRepo.layer,
  CallbackSenderRepo.layer
)

/** Nodes with `RUNNER=off` send nothing. */
const RunnerLayer = whereRunning(
  untilStopping(NotifierLayer.pipe(Layer.provide([Sender.layer, Sorter.layer, CallingBackLayer])))
)

export const NotificationsLayer = Layer.mergeAll(
  NotificationsHandlers,
  linkRoutesLayer,
  FollowAccountsLayer,
  RunnerLayer
).pipe(
  Layer.provide([Channels.layer, Deliveries.layer]),
  Layer.provide(Settings.layer),
  Layer.provide(Confirming.layer),
  Layer.provide([Disabling.layer, Starter.layer, Transmitter.layer]),
  Layer.provide(Repositories)
)
