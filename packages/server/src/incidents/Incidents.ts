import {
  type IncidentDetail,
  type IncidentFilters,
  type IncidentPage,
  type IncidentSubjectKind,
  maxIncidentActions,
  maxSnoozeDays
} from "@scheduling/domain/incidents/Incident"
import { Conflict, type NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { IncidentId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { Timestamp } from "@scheduling/domain/shared/Timestamp"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, dayMs, Ids, orNotFound } from "../core/index.ts"
import { Outbox } from "../events/index.ts"
import { pageRequest, StoreClock, toPage, transactionOf } from "../store/index.ts"
import { IncidentsRepo, type IncidentRow, toIncident, toIncidentDelivery } from "./IncidentsRepo.ts"
import { IncidentSubscribers } from "./IncidentSubscribers.ts"
import { holdRouting } from "./routingTurn.ts"
import { type IncidentAction, TimelineRepo } from "./TimelineRepo.ts"

/**
 * The person or API key that reads incidents or acts on them, and the kinds of subjects whose
 * incidents they are allowed to see.
 */
export interface IncidentAccess {
  readonly workspaceId: AuthorizedWorkspaceId
  readonly kinds: ReadonlyArray<IncidentSubjectKind>
  readonly actor: Actor
}

/** Lists incidents, and records how people act on them. */
export class Incidents extends Context.Service<Incidents>()(
  "@scheduling/server/incidents/Incidents",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const { retentionDays: retention_days } = yield* AppConfig
      const now = Effect.orDie((yield* StoreClock)(sql))
      const ids = yield* Ids
      const outbox = yield* Outbox
      const repo = yield* IncidentsRepo
      const subscribers = yield* IncidentSubscribers
      const timeline = yield* TimelineRepo

      const find = ({ kinds, workspaceId }: IncidentAccess, id: IncidentId) =>
        requireIncident(
          Effect.map(
            repo.find(workspaceId, id),
            Option.filter(({ subject_kind }) => kinds.includes(subject_kind))
          )
        )

      const get = Effect.fnUntraced(function* (access: IncidentAccess, id: IncidentId) {
        const row = yield* find(access, id)
        const sent = yield* repo.listDeliveries(access.workspaceId, id)
        const deliveries = sent.map(toIncidentDelivery)
        return { ...toIncident(row), deliveries, timeline: yield* timeline.list(row, deliveries) }
      })

      /** Records an action, without a limit: an incident is acknowledged and closed only once. */
      const record = Effect.fnUntraced(function* (
        { id: incident_id, workspace_id }: IncidentRow,
        actor: Actor,
        action: Pick<IncidentAction, "at" | "message" | "type" | "until">
      ) {
        const id = yield* ids.next
        yield* timeline.insertAction({ ...action, id, incident_id, workspace_id, actor })
      })

      /**
       * Records an action that can be repeated, up to the maximum number of actions per incident.
       */
      const recordRepeatable = Effect.fnUntraced(function* (
        incident: IncidentRow,
        actor: Actor,
        action: Parameters<typeof record>[2]
      ) {
        if ((yield* timeline.countActions(incident)) >= maxIncidentActions) {
          return yield* new Conflict({
            resource: "incident",
            field: null,
            message: `The incident already has ${maxIncidentActions} notes and actions. Close it, or continue elsewhere.`
          })
        }
        yield* record(incident, actor, action)
      })

      return {
        list: Effect.fn("Incidents.list")(function* (
          { kinds, workspaceId }: IncidentAccess,
          query: PageQuery & IncidentFilters
        ): Effect.fn.Return<IncidentPage> {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, query, kinds, page)
          return { ...toPage(rows, page, toIncident), retention_days }
        }),

        get: (access: IncidentAccess, id: IncidentId): Effect.Effect<IncidentDetail, NotFound> =>
          Effect.withSpan(get(access, id), "Incidents.get"),

        acknowledge: Effect.fn("Incidents.acknowledge")(function* (
          access: IncidentAccess,
          id: IncidentId
        ) {
          const before = yield* find(access, id)
          if (before.acknowledged_at !== null) return yield* get(access, id)
          yield* holdRouting(sql, access.workspaceId)
          const at = yield* now
          const { actor, workspaceId } = access
          if (yield* repo.updateAcknowledged(workspaceId, id, actor.id, at)) {
            yield* record(before, actor, { at, type: "acknowledged" })
            if (before.closed_at === null) yield* subscribers.silenced(before, at)
          }
          return yield* get(access, id)
        }, transaction),

        snooze: Effect.fn("Incidents.snooze")(function* (
          access: IncidentAccess,
          id: IncidentId,
          until: Timestamp | null
        ) {
          yield* holdRouting(sql, access.workspaceId)
          const at = yield* now
          const incident = yield* find(access, id)
          if (incident.closed_at !== null) return yield* isClosed("snoozed")
          const end = until === null ? null : new Date(until)
          if (end !== null && !isWithinSnooze(end, at)) {
            return yield* ValidationFailed.at(
              ["until"],
              "out_of_range",
              `must be in the future, and at most ${maxSnoozeDays} days ahead`
            )
          }
          yield* recordRepeatable(incident, access.actor, { at, type: "snoozed", until: end })
          yield* repo.updateSnoozed(access.workspaceId, id, end)
          if (incident.acknowledged_at === null) yield* subscribers.snoozed(incident, end, at)
          return yield* get(access, id)
        }, transaction),

        addNote: Effect.fn("Incidents.addNote")(function* (
          access: IncidentAccess,
          id: IncidentId,
          message: string
        ) {
          const incident = yield* find(access, id)
          yield* recordRepeatable(incident, access.actor, { at: yield* now, type: "note", message })
          return yield* get(access, id)
        }, transaction),

        close: Effect.fn("Incidents.close")(function* (access: IncidentAccess, id: IncidentId) {
          yield* holdRouting(sql, access.workspaceId)
          const incident = yield* find(access, id)
          if (incident.closed_at === null) {
            const at = yield* now
            yield* repo.updateClosedByHand(incident, at)
            yield* record(incident, access.actor, { at, type: "closed" })
            const { subject_id, workspace_id } = incident
            yield* outbox.forget({ workspace_id, subject_id })
            yield* subscribers.silenced(incident, at)
          }
          return yield* get(access, id)
        }, transaction)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const requireIncident = orNotFound("incident")

const isClosed = (action: string) =>
  Effect.fail(
    new Conflict({
      resource: "incident",
      field: "status",
      message: `The incident is closed, so it cannot be ${action}.`
    })
  )

const isWithinSnooze = (until: Date, now: Date) =>
  until > now && until.getTime() <= now.getTime() + maxSnoozeDays * dayMs
