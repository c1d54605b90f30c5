import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Conflict, type QuotaExceeded, type RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { RequestOrigin } from "../../http/index.ts"
import { Limits } from "../../plans/index.ts"
import { dayMs, Ids, mac, Secrets } from "../../core/index.ts"
import { Throttle } from "../../accounts/index.ts"
import { DeliveriesRepo } from "../deliveries/DeliveriesRepo.ts"
import { emptyDelivery } from "../deliveries/emptyDelivery.ts"
import { type ChannelRow, ChannelsRepo } from "./ChannelsRepo.ts"
import { ConfirmingRepo } from "./ConfirmingRepo.ts"
import { Disabling } from "./Disabling.ts"
import { RefusalsRepo } from "./RefusalsRepo.ts"

/** Whether somebody wants mails: nobody gets any who has not said so. Call it in a transaction. */
export class Confirming extends Context.Service<
  Confirming,
  {
    /**
     * Who is a member has agreed to get mails from here, unless they have refused. Everybody else
     * is asked first.
     */
    readonly agreed: (
      channel: Pick<ChannelRow, "workspace_id" | "kind" | "config">
    ) => Effect.Effect<Pick<ChannelRow, "confirmed" | "by_membership">>
    /**
     * By a mail to the address that the channel has now. Who has refused is asked again only where
     * a channel that they know is taken up, and not often.
     */
    readonly ask: (
      channel: ChannelRow,
      address: "new" | "known"
    ) => Effect.Effect<void, Conflict | QuotaExceeded | RateLimited>
    /** Who opened a link says yes, also after a no. */
    readonly confirm: (channel: ChannelRow, now: Date) => Effect.Effect<void>
    /** Gives all channels up by which the workspace writes to the address of this one. */
    readonly refuse: (channel: ChannelRow, { request_id }: RequestOrigin) => Effect.Effect<void>
    /** Those to the address of a member who has verified it, wherever they are a member. */
    readonly confirmOfMember: (userId: string, email: string, now: Date) => Effect.Effect<void>
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
    | ChannelsRepo
    | ConfirmingRepo
    | DeliveriesRepo
    | Disabling
    | Ids
    | Limits
    | RefusalsRepo
    | Secrets
    | Throttle
  > = Layer.effect(
    Confirming,
    Effect.gen(function* () {
      const channels = yield* ChannelsRepo
      const deliveries = yield* DeliveriesRepo
      const disabling = yield* Disabling
      const ids = yield* Ids
      const limits = yield* Limits
      const refusals = yield* RefusalsRepo
      const repo = yield* ConfirmingRepo
      const ring = (yield* Secrets).keys("notification-link")
      const throttle = yield* Throttle

      const hashesOf = (address: string) => ring.map((key) => mac(key, `refusal:${address}`))

      /** Where a workspace that is deleted, and another one that is made, change nothing. */
      const count = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, to: string) {
        const account = yield* repo.findAccount(workspaceId)
        const asked = yield* throttle.countOfDay("confirmations by", account)
        yield* limits.allowAfter(workspaceId, "confirmation_mails_a_day", asked - 1)
        yield* throttle.countMailTo("confirmations to", to)
      })

      const unlessRefused = Effect.fnUntraced(function* (
        channel: ChannelRow,
        address: "new" | "known",
        now: Date
      ) {
        const hashes = hashesOf(addressOf(channel))
        const found = yield* refusals.find(channel.workspace_id, hashes)
        if (Option.isNone(found)) return
        const { asked_at, refused_at } = found.value
        const since = asked_at ?? (address === "new" ? refused_at : null)
        if (since !== null && now.getTime() - since.getTime() < quietMs) {
          return yield* new Conflict({ message: wantsNone })
        }
        yield* refusals.updateAsked(channel.workspace_id, hashes, now)
      })

      const giveUp = Effect.fnUntraced(function* (
        channel: ChannelRow,
        reason: string,
        foundBy: string,
        now: Date
      ) {
        yield* repo.updateUnconfirmed(channel.workspace_id, channel.id, now)
        yield* disabling.disable(channel, reason, foundBy, now)
      })

      return Confirming.of({
        agreed: Effect.fn("Confirming.agreed")(function* (channel) {
          if (channel.kind !== "email") return { confirmed: true, by_membership: false }
          const to = addressOf(channel)
          const confirmed =
            (yield* repo.isMember(channel.workspace_id, to)) &&
            Option.isNone(yield* refusals.find(channel.workspace_id, hashesOf(to)))
          return { confirmed, by_membership: confirmed }
        }),

        ask: Effect.fn("Confirming.ask")(function* (channel, address) {
          const now = yield* DateTime.nowAsDate
          yield* unlessRefused(channel, address, now)
          yield* count(channel.workspace_id, addressOf(channel))
          // One that waits would go to this address too.
          yield* deliveries.cancelConfirmations(channel.workspace_id, channel.id, now)
          yield* deliveries.insert(emptyDelivery(yield* ids.next, channel, now))
        }),

        confirm: Effect.fn("Confirming.confirm")(function* (channel, now) {
          yield* channels.confirmByLink(channel.workspace_id, channel.id, now)
          yield* refusals.remove(channel.workspace_id, hashesOf(addressOf(channel)))
        }),

        refuse: Effect.fn("Confirming.refuse")(function* (channel, { request_id }) {
          const now = yield* DateTime.nowAsDate
          const to = addressOf(channel)
          for (const one of yield* repo.listTo(channel.workspace_id, to)) {
            yield* giveUp(one, "The receiver unsubscribed.", request_id, now)
          }
          const [hash] = hashesOf(to)
          if (hash !== undefined) yield* refusals.insert(channel.workspace_id, hash, now)
        }),

        confirmOfMember: (userId, email, now) =>
          repo.confirmOfMember(userId, email, hashesOf(email), now),

        endOfMember: Effect.fn("Confirming.endOfMember")(function* (
          email,
          workspaceIds,
          { request_id }
        ) {
          const now = yield* DateTime.nowAsDate
          for (const channel of yield* repo.listByMembership(workspaceIds, email)) {
            yield* giveUp(channel, noMember, request_id, now)
          }
        })
      })
    })
  )
}

const noMember = "The receiver is no longer a member. If you enable it, they are asked by a mail."

const wantsNone =
  "The receiver has refused mails from this workspace, and is asked again no sooner than 30 days after."

const quietMs = 30 * dayMs

/** In the canonical spelling, as it was when the channel was created. */
const addressOf = ({ config }: Pick<ChannelRow, "config">) => String(config["to"])
