import { IncidentSubjectKind } from "@scheduling/domain/incidents/Incident"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { DateTime, Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { escapeHtml, Secrets } from "../../core/index.ts"
import { expiredLinkPage, linkPage } from "../../http/index.ts"
import { type IncidentRow, Incidents, IncidentsRepo } from "../../incidents/index.ts"
import { type ChannelRow, ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { readAcknowledgeToken } from "./acknowledgeLinks.ts"

interface Linked {
  readonly incident: IncidentRow
  readonly channel: ChannelRow
}

/**
 * The page behind the link in a message about an incident. Opening it changes nothing, because
 * mail scanners and chat previews open links; only its button does. The link works until the
 * channel is deleted or paused, and does nothing more once somebody has acknowledged the incident.
 */
export const acknowledgeRoutesLayer = Layer.unwrap(
  Effect.gen(function* () {
    const channels = yield* ChannelsRepo
    const incidents = yield* Incidents
    const repo = yield* IncidentsRepo
    const ring = (yield* Secrets).keys("notification-link")

    const find = Effect.gen(function* () {
      const { token = "" } = yield* HttpRouter.params
      const content = readAcknowledgeToken(ring, token, yield* DateTime.nowAsDate)
      if (content === undefined) return undefined
      const incident = Option.getOrUndefined(yield* repo.findByLink(content.incidentId))
      if (incident === undefined) return undefined
      const found = yield* channels.find(incident.workspace_id, content.channelId)
      const channel = Option.getOrUndefined(found)
      return channel === undefined || channel.paused ? undefined : { incident, channel }
    })

    const acknowledge = ({ channel, incident }: Linked) => {
      const actor: Actor = { kind: "channel", id: channel.id, name: channel.name }
      const access = {
        workspaceId: incident.workspace_id,
        kinds: IncidentSubjectKind.literals,
        actor
      }
      return incidents.acknowledge(access, incident.id)
    }

    const answer = (linked: Linked | undefined, confirmed: Effect.Effect<unknown>) => {
      if (linked === undefined) return Effect.succeed(expiredLinkPage)
      const { acknowledged_at, closed_at } = linked.incident
      const name = escapeHtml(linked.incident.subject_name)
      if (closed_at !== null) {
        return Effect.succeed(linkPage(`The incident of ${name} is closed.`))
      }
      if (acknowledged_at !== null) {
        return Effect.succeed(linkPage(`Somebody takes care of the incident of ${name} already.`))
      }
      return Effect.as(confirmed, linkPage(`Thank you. No more reminders are sent about ${name}.`))
    }

    return Layer.mergeAll(
      HttpRouter.add(
        "GET",
        "/notifications/acknowledge/:token",
        Effect.gen(function* () {
          const linked = yield* find
          const isOpen =
            linked !== undefined &&
            linked.incident.closed_at === null &&
            linked.incident.acknowledged_at === null
          return isOpen
            ? linkPage(
                `Do you take care of the incident of ${escapeHtml(linked.incident.subject_name)}?`,
                "Acknowledge the incident"
              )
            : yield* answer(linked, Effect.void)
        })
      ),
      HttpRouter.add(
        "POST",
        "/notifications/acknowledge/:token",
        Effect.gen(function* () {
          const linked = yield* find
          const confirmed = linked === undefined ? Effect.void : Effect.orDie(acknowledge(linked))
          return yield* answer(linked, confirmed)
        })
      )
    )
  })
)
