import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { RequestOrigin } from "../../http/index.ts"
import { Limits } from "../../plans/index.ts"
import { dayMs, Ids, mac, Secrets } from "../../core/index.ts"
import { Throttle } from "../../accounts/index.ts"
import { DeliveriesRepo } from "../sending/DeliveriesRepo.ts"
import { newDelivery } from "../sending/newDelivery.ts"
import { type ChannelRow, ChannelsRepo } from "./ChannelsRepo.ts"
import { PauseChannel } from "./PauseChannel.ts"

/**
 * Whether the owner of an address wants mails: nobody gets any without consent. Call it in a
 * transaction.
 */
export class Consent extends Context.Service<Consent>()(
  "@scheduling/server/notifications/channels/Consent",
  {
    make: Effect.gen(function* () {
      const channels = yield* ChannelsRepo
      const deliveries = yield* DeliveriesRepo
      const pauseChannel = yield* PauseChannel
      const ids = yield* Ids
      const limits = yield* Limits
      const ring = (yield* Secrets).keys("notification-link")
      const throttle = yield* Throttle

      const hashesOf = (address: string) => ring.map((key) => mac(key, `refusal:${address}`))

      /** Counted by account, so that a new workspace begins no new count. */
      const count = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, to: string) {
        const account = yield* channels.findAccount(workspaceId)
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
        const found = yield* channels.findRefusal(channel.workspace_id, hashes)
        if (Option.isNone(found)) return
        const { asked_at, refused_at } = found.value
        const since = asked_at ?? (address === "new" ? refused_at : null)
        if (since !== null && now.getTime() - since.getTime() < quietMs) {
          return yield* new Conflict({
            resource: "notification_channel",
            field: "config",
            message: wantsNone
          })
        }
        yield* channels.updateAsked(channel.workspace_id, hashes, now)
      })

      const giveUp = Effect.fnUntraced(function* (
        channel: ChannelRow,
        reason: string,
        foundBy: string,
        now: Date
      ) {
        yield* channels.updateUnconfirmed(channel.workspace_id, channel.id, now)
        yield* pauseChannel(channel, reason, foundBy, now)
      })

      return {
        /**
         * A member has agreed to get mails from their workspaces, unless they have refused. Everybody
         * else is asked first.
         */
        agreed: Effect.fn("Consent.agreed")(function* (
          channel: Pick<ChannelRow, "workspace_id" | "kind" | "config">
        ) {
          if (channel.kind !== "email") return { confirmed: true, by_membership: false }
          const to = addressOf(channel)
          const confirmed =
            (yield* channels.isMember(channel.workspace_id, to)) &&
            Option.isNone(yield* channels.findRefusal(channel.workspace_id, hashesOf(to)))
          return { confirmed, by_membership: confirmed }
        }),

        /**
         * Asks by a mail to the current address of the channel. An address that has refused is asked
         * again only if a channel that it knows is not paused, and not often.
         */
        ask: Effect.fn("Consent.ask")(function* (channel: ChannelRow, address: "new" | "known") {
          const now = yield* DateTime.nowAsDate
          yield* unlessRefused(channel, address, now)
          yield* count(channel.workspace_id, addressOf(channel))
          // A mail that still waits would go to this address too.
          yield* deliveries.cancel(channel.workspace_id, channel.id, "confirmations", now)
          const mail = newDelivery({
            id: yield* ids.next,
            workspace_id: channel.workspace_id,
            channel_id: channel.id,
            channel_kind: channel.kind,
            due_at: now
          })
          yield* deliveries.write([mail], now)
        }),

        /** Somebody opened the link of a mail. It counts also after a refusal. */
        confirm: Effect.fn("Consent.confirm")(function* (channel: ChannelRow, now: Date) {
          yield* channels.confirmByLink(channel.workspace_id, channel.id, now)
          yield* channels.removeRefusals(channel.workspace_id, hashesOf(addressOf(channel)))
        }),

        /** Disables all channels of the workspace to the address of this one. */
        refuse: Effect.fn("Consent.refuse")(function* (
          channel: ChannelRow,
          { request_id }: RequestOrigin
        ) {
          const now = yield* DateTime.nowAsDate
          const to = addressOf(channel)
          for (const one of yield* channels.listTo(channel.workspace_id, to)) {
            yield* giveUp(one, "The recipient unsubscribed.", request_id, now)
          }
          const [hash] = hashesOf(to)
          if (hash !== undefined) yield* channels.insertRefusal(channel.workspace_id, hash, now)
        }),

        /** A member has verified their address: confirms the channels to it in all their workspaces. */
        confirmOfMember: (userId: string, email: string, now: Date) =>
          channels.confirmOfMember(userId, email, hashesOf(email), now),

        /**
         * The address belongs to no member any more. Channels that only the membership confirmed are
         * paused, until somebody resumes them and so asks by a mail.
         */
        endOfMember: Effect.fn("Consent.endOfMember")(function* (
          email: string,
          workspaceIds: ReadonlyArray<string>,
          { request_id }: RequestOrigin
        ) {
          const now = yield* DateTime.nowAsDate
          for (const channel of yield* channels.listByMembership(workspaceIds, email)) {
            yield* giveUp(channel, noMember, request_id, now)
          }
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const noMember =
  "The recipient is no longer a member. If you enable the channel, they are asked by a mail."

const wantsNone =
  "The recipient has refused mails from this workspace. Ask again 30 days after that."

const quietMs = 30 * dayMs

/** In the canonical spelling, as it was when the channel was created. */
const addressOf = ({ config }: Pick<ChannelRow, "config">) => String(config["to"])
