import { IncidentSubjectKind } from "@scheduling/domain/incidents/Incident"
import { Timestamp } from "@scheduling/domain/shared/Timestamp"
import { DateTime, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { escapeHtml, Secrets } from "../../core/index.ts"
import { expiredLinkPage, linkPage, readBodyStart } from "../../http/index.ts"
import { type IncidentRow, Incidents, IncidentsRepo } from "../../incidents/index.ts"
import { type ChannelRow, ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { actorOfLink, channelOfLink } from "./channelOfLink.ts"
import { readLinkToken } from "./messageLinks.ts"

/**
 * An open incident that nobody has acknowledged, and the channel whose recipients are allowed to
 * respond.
 */
interface Linked {
  readonly incident: IncidentRow
  readonly channel: ChannelRow
  readonly isSnoozed: boolean
  /** The monitor's or task's name, escaped for HTML. */
  readonly name: string
  readonly now: DateTime.Utc
}

const maxBodyBytes = 1_000

/**
 * The page that opens from the link in a message about an incident. Mail scanners and chat previews
 * open links, so opening the page changes nothing. Only its buttons do. The link works until the
 * channel is deleted or paused. It has no effect once somebody has acknowledged or closed the
 * incident.
 */
export const incidentRoutesLayer = Layer.unwrap(
  Effect.gen(function* () {
    const channels = yield* ChannelsRepo
    const incidents = yield* Incidents
    const repo = yield* IncidentsRepo
    const ring = (yield* Secrets).keys("notification-link")

    const find = Effect.gen(function* () {
      const { token = "" } = yield* HttpRouter.params
      const now = yield* DateTime.now
      const content = readLinkToken(ring, "incident", token, DateTime.toDateUtc(now))
      if (content === undefined) return expiredLinkPage
      const incident = Option.getOrUndefined(yield* repo.findByLink(content.subjectId))
      if (incident === undefined) return expiredLinkPage
      const channel = yield* channelOfLink(channels, incident.workspace_id, content.channelId)
      if (channel === undefined) return expiredLinkPage
      const name = escapeHtml(incident.subject_name)
      if (incident.closed_at !== null) return linkPage(`The incident of ${name} is closed.`)
      if (incident.acknowledged_at !== null) {
        return linkPage(`Somebody is already handling the incident of ${name}.`)
      }
      const isSnoozed = (incident.snoozed_until?.getTime() ?? 0) > now.epochMilliseconds
      return { channel, incident, isSnoozed, name, now }
    })

    const respond = ({ channel, incident, name, now }: Linked, action: string) => {
      const access = {
        workspaceId: incident.workspace_id,
        kinds: IncidentSubjectKind.literals,
        actor: actorOfLink(channel)
      }
      if (action === "acknowledge") {
        return Effect.as(
          incidents.acknowledge(access, incident.id),
          `Thank you. No more reminders will be sent about ${name}.`
        )
      }
      if (action === "close") {
        return Effect.as(incidents.close(access, incident.id), `The incident of ${name} is closed.`)
      }
      const hours = action === "snooze_hour" ? 1 : 24
      const until = DateTime.formatIso(DateTime.add(now, { hours }))
      return Effect.as(
        incidents.snooze(access, incident.id, Timestamp.make(until)),
        `No reminders will be sent about ${name} for ${hours} ${hours === 1 ? "hour" : "hours"}.`
      )
    }

    return Layer.mergeAll(
      HttpRouter.add(
        "GET",
        "/notifications/incident/:token",
        Effect.map(find, (linked) =>
          "incident" in linked
            ? linkPage(
                `What do you want to do about the incident of ${linked.name}?`,
                choicesOf(linked)
              )
            : linked
        )
      ),
      HttpRouter.add(
        "POST",
        "/notifications/incident/:token",
        Effect.gen(function* () {
          const linked = yield* find
          if (!("incident" in linked)) return linked
          const request = yield* HttpServerRequest.HttpServerRequest
          const body = new URLSearchParams(yield* readBodyStart(request, maxBodyBytes))
          const action = body.get("action")
          const choices = choicesOf(linked)
          const chosen = choices.find(({ value }) => value === action)
          if (chosen === undefined) return linkPage("Choose one of the buttons.", choices, 400)
          return yield* respond(linked, chosen.value).pipe(
            Effect.map((text) => linkPage(text)),
            // The incident was closed or deleted in the meantime.
            Effect.catch(() =>
              Effect.succeed(linkPage(`The incident of ${linked.name} is closed.`))
            )
          )
        })
      )
    )
  })
)

const choicesOf = ({ isSnoozed }: Linked) =>
  [
    { value: "acknowledge", label: "Acknowledge" },
    { value: "snooze_hour", label: "Snooze for 1 hour" },
    { value: "snooze_day", label: "Snooze for 24 hours" },
    { value: "close", label: "Close" }
  ]
    .filter(({ value }) => !isSnoozed || !value.startsWith("snooze"))
    .map((choice) => ({ name: "action", ...choice }))
