import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { QuotaExceeded, RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer } from "effect"
import type { RequestOrigin } from "../../http/request/RequestOrigin.ts"
import { Limits } from "../../limits/Limits.ts"
import { Ids } from "../../platform/Ids.ts"
import { Throttle } from "../../throttle/Throttle.ts"
import { DeliveriesRepo } from "../deliveries/DeliveriesRepo.ts"
import { emptyDelivery } from "../deliveries/emptyDelivery.ts"
import type { ChannelRow } from "./ChannelsRepo.ts"
import { ConfirmingRepo } from "./ConfirmingRepo.ts"
import { Disabling } from "./Disabling.ts"

/** Whether somebody wants mails: nobody gets any who has not said so. Call it in a transaction. */
export class Confirming extends Context.Service<
  Confirming,
  {
    /** Who is a member has agreed to get mails from here. Everybody else is asked first. */
    readonly agreed: (
      channel: Pick<ChannelRow, "workspace_id" | "kind" | "config">
    ) => Effect.Effect<Pick<ChannelRow, "confirmed" | "by_membership">>
    /** By a mail to the address that the channel has now. */
    readonly ask: (channel: ChannelRow) => Effect.Effect<void, QuotaExceeded | RateLimited>
    /**
     * The email is no member's any more: what only the membership confirmed is disabled, until
     * somebody enables it and so asks by a mail.
     */
    readonly endOfMember: (
      email: string,
      workspaceIds: ReadonlyArray<string>,
      { request_id }: RequestOrigin
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/Confirming") {
  static readonly layer: Layer.Layer<
    Confirming,
    never,
    ConfirmingRepo | DeliveriesRepo | Disabling | Ids | Limits | Throttle
  > = Layer.effect(
    Confirming,
    Effect.gen(function* () {
      const deliveries = yield* DeliveriesRepo
      const disabling = yield* Disabling
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
        agreed: Effect.fn("Confirming.agreed")(function* (channel) {
          if (channel.kind !== "email") return { confirmed: true, by_membership: false }
          const isMember = yield* repo.isMember(channel.workspace_id, addressOf(channel))
          return { confirmed: isMember, by_membership: isMember }
        }),

        ask: Effect.fn("Confirming.ask")(function* (channel) {
          const now = yield* DateTime.nowAsDate
          yield* count(channel.workspace_id, addressOf(channel))
          // One that waits would go to this address too.
          yield* deliveries.cancelConfirmations(channel.workspace_id, channel.id, now)
          yield* deliveries.insert(emptyDelivery(yield* ids.next, channel, now))
        }),

        endOfMember: Effect.fn("Confirming.endOfMember")(function* (
          email,
          workspaceIds,
          { request_id }
        ) {
          const now = yield* DateTime.nowAsDate
          for (const channel of yield* repo.listByMembership(workspaceIds, email)) {
            yield* repo.updateUnconfirmed(channel.workspace_id, channel.id, now)
            yield* disabling.disable(channel, noMember, request_id, now)
          }
        })
      })
    })
  )
}

const noMember = "The receiver is no longer a member. If you enable it, they are asked by a mail."

const addressOf = ({ config }: Pick<ChannelRow, "config">) => String(config["to"]).toLowerCase()
