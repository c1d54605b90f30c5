import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { QuotaExceeded, RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer } from "effect"
import { Limits } from "../../limits/Limits.ts"
import { Ids } from "../../platform/Ids.ts"
import { Throttle } from "../../throttle/Throttle.ts"
import { DeliveriesRepo } from "../deliveries/DeliveriesRepo.ts"
import { emptyDelivery } from "../deliveries/emptyDelivery.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import { ConfirmingRepo } from "./ConfirmingRepo.ts"

/** Whether somebody wants mails: nobody gets any who has not said so. Call it in a transaction. */
export class Confirming extends Context.Service<
  Confirming,
  {
    /** Who is a member has agreed to get mails from here. Everybody else is asked first. */
    readonly isAgreed: (
      channel: Pick<ChannelRow, "workspace_id" | "kind" | "config">
    ) => Effect.Effect<boolean>
    /** By a mail to the address that the channel has now. */
    readonly ask: (channel: ChannelRow) => Effect.Effect<void, QuotaExceeded | RateLimited>
  }
>()("@scheduling/server/notifications/channels/Confirming") {
  static readonly layer: Layer.Layer<
    Confirming,
    never,
    ConfirmingRepo | DeliveriesRepo | Ids | Limits | Throttle
  > = Layer.effect(
    Confirming,
    Effect.gen(function* () {
      const deliveries = yield* DeliveriesRepo
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* ConfirmingRepo
      const throttle = yield* Throttle

      /** Where a workspace that is deleted, and another one that is made, change nothing. */
      const count = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, to: string) {
        const account = yield* repo.findAccount(workspaceId)
        const asked = yield* throttle.countOfDay("confirmations by", account)
        yield* limits.allowAfter(workspaceId, "confirmation_mails_a_day", asked - 1)
        yield* throttle.countMail("confirmations to", to)
      })

      return Confirming.of({
        isAgreed: (channel) =>
          channel.kind === "email"
            ? repo.isMember(channel.workspace_id, addressOf(channel))
            : Effect.succeed(true),

        ask: Effect.fn("Confirming.ask")(function* (channel) {
          const now = yield* DateTime.nowAsDate
          yield* count(channel.workspace_id, addressOf(channel))
          // One that waits would go to this address too.
          yield* deliveries.cancelConfirmations(channel.workspace_id, channel.id, now)
          yield* deliveries.insert(emptyDelivery(yield* ids.next, channel, now))
        })
      })
    })
  )
}

const addressOf = ({ config }: Pick<ChannelRow, "config">) => String(config["to"]).toLowerCase()
