import { DateTime, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { escapeHtml, Secrets } from "../../core/index.ts"
import { expiredLinkPage, linkPage, readBodyStart } from "../../http/index.ts"
import { Approvals } from "../../tasks/index.ts"
import { ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { actorOfLink, channelOfLink } from "./channelOfLink.ts"
import { readLinkToken } from "./messageLinks.ts"

const maxBodyBytes = 1_000

/**
 * The page that opens from the link in a message about a step that waits for approval. Mail
 * scanners and chat previews open links, so opening the page changes nothing. Only its buttons do.
 * The link works until somebody has decided, the step has timed out, or the channel is deleted or
 * paused. A step with approvers has no such link, because everybody in the channel could use it.
 */
export const approveRoutesLayer = Layer.unwrap(
  Effect.gen(function* () {
    const approvals = yield* Approvals
    const channels = yield* ChannelsRepo
    const ring = (yield* Secrets).keys("notification-link")

    const find = Effect.gen(function* () {
      const { token = "" } = yield* HttpRouter.params
      const content = readLinkToken(ring, "approve", token, yield* DateTime.nowAsDate)
      if (content === undefined) return undefined
      const requested = yield* approvals.findByLink(content.subjectId)
      if (requested === undefined) return "decided"
      const channel = yield* channelOfLink(channels, requested.workspace_id, content.channelId)
      if (channel === undefined) return undefined
      const { approval } = requested
      if (approval === null) return "decided"
      return approval.approvers.length > 0 ? undefined : { approval, channel, requested }
    })

    return Layer.mergeAll(
      HttpRouter.add(
        "GET",
        "/notifications/approve/:token",
        Effect.map(find, (linked) => {
          if (linked === undefined) return expiredLinkPage
          if (linked === "decided") return decidedPage
          const { chain, step } = linked.requested
          const what =
            linked.approval.message ?? `The step ${step} of ${chain} is waiting for approval.`
          return linkPage(escapeHtml(`${what} Approve or reject?`), choices)
        })
      ),
      HttpRouter.add(
        "POST",
        "/notifications/approve/:token",
        Effect.gen(function* () {
          const linked = yield* find
          if (linked === undefined) return expiredLinkPage
          if (linked === "decided") return decidedPage
          const request = yield* HttpServerRequest.HttpServerRequest
          const body = new URLSearchParams(yield* readBodyStart(request, maxBodyBytes))
          const decision = body.get("decision")
          if (decision !== "approve" && decision !== "reject") {
            return linkPage("Choose one of the buttons.", choices, 400)
          }
          const { channel, requested } = linked
          const by = actorOfLink(channel)
          const approved = decision === "approve"
          return yield* approvals
            .decide(requested.workspace_id, requested.id, { approved, by, note: null })
            .pipe(
              Effect.as(linkPage(`Thank you. The step was ${approved ? "approved" : "rejected"}.`)),
              Effect.catch(() => Effect.succeed(decidedPage))
            )
        })
      )
    )
  })
)

const choices = [
  { name: "decision", value: "approve", label: "Approve" },
  { name: "decision", value: "reject", label: "Reject" }
]

const decidedPage = linkPage("The step is no longer waiting for approval.")
