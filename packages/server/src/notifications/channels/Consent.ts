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
 * Tracks whether the owners of email addresses have consented. Nothing is sent to an address
 * without consent. Call the methods in a transaction.
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

      const hashesOf = (address: string) => refusalHashes(ring, address)

      /**
       * Counts a confirmation email. The daily limit applies to the account, so that creating
       * another workspace does not reset it.
       */
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
            message: refusedMessage
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
         * Returns whether the address's owner consents. Members consent to their workspaces' emails
         * by joining, unless they have refused. Everybody else must first be asked.
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
         * Sends an email to the channel's current address to request consent. An owner who has
         * refused is asked again only rarely, and only if a channel to the address is not paused.
         */
        ask: Effect.fn("Consent.ask")(function* (channel: ChannelRow, address: "new" | "known") {
          const now = yield* DateTime.nowAsDate
          yield* unlessRefused(channel, address, now)
          yield* count(channel.workspace_id, addressOf(channel))
          // An earlier confirmation email that is still waiting would go to the same address, so it
          // is cancelled.
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

        /**
         * Records that the recipient consents by the link in the email. This also overrides a
         * refusal. Returns false if the channel no longer sends to this address.
         */
        confirm: Effect.fn("Consent.confirm")(function* (channel: ChannelRow, now: Date) {
          const to = addressOf(channel)
          const { id, workspace_id } = channel
          if (!(yield* channels.confirmByLink(workspace_id, id, to, now))) return false
          yield* channels.removeRefusals(workspace_id, hashesOf(to))
          return true
        }),

        /** Pauses all of the workspace's channels to this channel's address. */
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

        /**
         * Confirms the channels to an address that a member has verified, in all of the member's
         * workspaces.
         */
        confirmOfMember: (userId: string, email: string, now: Date) =>
          channels.confirmOfMember(userId, email, hashesOf(email), now),

        /**
         * Handles an address that no longer belongs to a member. Pauses the channels that were
         * confirmed only by the membership. Resuming such a channel sends an email to the address
         * to request consent.
         */
        endOfMember: Effect.fn("Consent.endOfMember")(function* (
          email: string,
          workspaceIds: ReadonlyArray<string>,
          { request_id }: RequestOrigin
        ) {
          const now = yield* DateTime.nowAsDate
          for (const channel of yield* channels.listByMembership(workspaceIds, email)) {
            yield* giveUp(channel, formerMemberMessage, request_id, now)
          }
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/** Returns the MACs under which an address's refusal can be stored, one for each key. */
export const refusalHashes = (
  ring: ReturnType<Secrets["Service"]["keys"]>,
  address: string
): ReadonlyArray<string> => ring.map((key) => mac(key, `refusal:${address}`))

const formerMemberMessage =
  "The recipient is no longer a member. If you resume the channel, an email asks them for consent."

const refusedMessage =
  "The recipient has refused mails from this workspace. You can ask again 30 days after the refusal."

const quietMs = 30 * dayMs

/**
 * Returns a channel's address in its canonical spelling, as it was stored when the channel was
 * created.
 */
const addressOf = ({ config }: Pick<ChannelRow, "config">) => String(config["to"])
