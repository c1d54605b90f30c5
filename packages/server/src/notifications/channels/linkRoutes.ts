import { DateTime, Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../accounts/index.ts"
import { expiredLinkPage, linkPage, requestOrigin } from "../../http/index.ts"
import { Secrets } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import { type ChannelRow, ChannelsRepo } from "./ChannelsRepo.ts"
import { Consent } from "./Consent.ts"
import type { MailLinkPurpose } from "../kinds/ChannelKind.ts"
import { channelIdOfToken, checkMailLinkToken } from "./mailLinks.ts"

/**
 * The pages that links in emails open. Mail scanners open all links, so opening a link changes
 * nothing. Only the button on the page, or the mail client's unsubscribe button, changes something.
 * The token in the link is the only credential, and only the email's recipient has it.
 */
export const linkRoutesLayer = Layer.unwrap(
  Effect.gen(function* () {
    const transaction = transactionOf(yield* SqlClient.SqlClient)
    const audit = yield* AuditLog
    const channels = yield* ChannelsRepo
    const consent = yield* Consent
    const ring = (yield* Secrets).keys("notification-link")

    const channelBehind = Effect.fnUntraced(function* (what: MailLinkPurpose) {
      const { token = "" } = yield* HttpRouter.params
      const id = channelIdOfToken(token)
      if (id === undefined) return undefined
      const channel = Option.getOrUndefined(yield* channels.findByLink(id))
      if (channel === undefined) return undefined
      const checked = checkMailLinkToken(ring, what, token, channel, yield* DateTime.nowAsDate)
      if (checked === "expired") return "expired"
      return checked === "valid" ? channel : undefined
    })

    const confirm = Effect.fnUntraced(function* (channel: ChannelRow) {
      if (channel.confirmed) return true
      if (!(yield* consent.confirm(channel, yield* DateTime.nowAsDate))) return false
      yield* audit.recordInWorkspace("notification_channel.confirmed", channel.workspace_id, {
        actor_id: null,
        subject_id: channel.id,
        origin: yield* requestOrigin
      })
      return true
    }, transaction)

    const unsubscribe = Effect.fnUntraced(function* (channel: ChannelRow) {
      yield* consent.refuse(channel, yield* requestOrigin)
      return true
    }, transaction)

    const actions = { confirm, unsubscribe }

    const routes = (["confirm", "unsubscribe"] as const).flatMap((what) => [
      HttpRouter.add(
        "GET",
        `/notifications/${what}/:token`,
        Effect.map(channelBehind(what), (channel) => {
          if (channel === "expired") return linkExpired
          return channel === undefined
            ? expiredLinkPage
            : linkPage(texts[what].question, texts[what].button)
        })
      ),
      HttpRouter.add(
        "POST",
        `/notifications/${what}/:token`,
        Effect.gen(function* () {
          const channel = yield* channelBehind(what)
          if (channel === "expired") return linkExpired
          if (channel === undefined) return expiredLinkPage
          const isDone = yield* actions[what](channel)
          return isDone ? linkPage(texts[what].done) : expiredLinkPage
        })
      )
    ])
    return Layer.mergeAll(...(routes as [(typeof routes)[number], ...typeof routes]))
  })
)

const linkExpired = linkPage(
  "This link has expired. Ask the person who wants to send you alerts to resume the channel, which sends you a new link.",
  undefined,
  410
)

const texts = {
  confirm: {
    question: "Do you want to get alerts at this address?",
    button: "Yes, send them",
    done: "Done. Alerts will be sent to this address."
  },
  unsubscribe: {
    question: "Stop receiving these emails?",
    button: "Unsubscribe",
    done: "Done. You will receive no more of these emails."
  }
} as const
