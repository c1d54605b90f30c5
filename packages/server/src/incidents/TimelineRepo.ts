import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import {
  type IncidentDelivery,
  type IncidentEntry,
  maxIncidentActions,
  maxShownFailures
} from "@scheduling/domain/incidents/Incident"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { ExecutionId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { firstIdAt } from "../engine/index.ts"
import { timestampOf, timestampOrNull } from "../store/index.ts"
import type { IncidentRow } from "./IncidentsRepo.ts"

/** Something that a person or an API key did about an incident. */
export interface IncidentAction {
  readonly id: string
  readonly incident_id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly at: Date
  readonly type: "acknowledged" | "snoozed" | "note" | "closed" | "escalated"
  readonly actor: Actor
  readonly message?: string
  readonly until?: Date | null
}

interface ActionRow extends Omit<IncidentAction, "message" | "until"> {
  readonly message: string | null
  readonly until: Date | null
}

/** A subject's success or failure before its incident opened. */
interface ResultRow {
  readonly at: Date
  readonly is_good: boolean
  readonly message: string | null
  readonly execution_id: ExecutionId | null
}

/**
 * The maximum number of escalation steps that the timeline shows in addition to people's actions.
 */
const maxShownSteps = 200

const entry = (
  at: Date,
  type: IncidentEntry["type"],
  fields: Partial<IncidentEntry> = {}
): IncidentEntry => ({
  at: timestampOf(at),
  type,
  message: null,
  actor: null,
  until: null,
  execution_id: null,
  delivery_id: null,
  ...fields
})

/** Reads and writes an incident's history. */
export class TimelineRepo extends Context.Service<TimelineRepo>()(
  "@scheduling/server/incidents/TimelineRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const listActions = ({ id, workspace_id }: IncidentRow) => sql<ActionRow>`
        SELECT *
        FROM incident_actions
        WHERE workspace_id = ${workspace_id}
          AND incident_id = ${id}
        ORDER BY id
        LIMIT ${maxIncidentActions + maxShownSteps}`

      /**
       * Returns a task's results before the incident: the last success, and the failures after it. In
       * a chain, the last success is the one of the step that failed last: the steps before it have
       * succeeded in the failed run too.
       */
      const listRuns = ({ opened_at, subject_id, workspace_id }: IncidentRow) => {
        const until = firstIdAt(opened_at.getTime() + 1)
        return sql<ResultRow>`
          WITH failed AS MATERIALIZED (
            SELECT id, step
            FROM executions
            WHERE workspace_id = ${workspace_id}
              AND task_id = ${subject_id}
              AND id < ${until}
              AND status = 'failed'
              AND finished_at < ${new Date(opened_at.getTime() + 1)}
            ORDER BY id DESC
            LIMIT 1
          ), success AS MATERIALIZED (
            SELECT id, finished_at
            FROM executions
            WHERE workspace_id = ${workspace_id}
              AND task_id = ${subject_id}
              AND id < ${until}
              AND status = 'succeeded'
              AND step IS NOT DISTINCT FROM (SELECT step FROM failed)
            ORDER BY id DESC
            LIMIT 1
          ), failures AS MATERIALIZED (
            SELECT id, finished_at, error
            FROM executions
            WHERE workspace_id = ${workspace_id}
              AND task_id = ${subject_id}
              AND id < ${until}
              AND status = 'failed'
              AND finished_at < ${new Date(opened_at.getTime() + 1)}
              AND id > coalesce((SELECT id FROM success), ${firstIdAt(0)})
            ORDER BY id DESC
            LIMIT ${maxShownFailures}
          )
          SELECT finished_at AS at, true AS is_good, NULL AS message, id AS execution_id
          FROM success
          UNION ALL
          SELECT finished_at, false, error, id
          FROM failures`.pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              ...row,
              message: row.message === null ? null : parseErrorLine(row.message).message
            }))
          )
        )
      }

      /** Returns a monitor's results before the incident, as far as its events contain them. */
      const listMonitorEvents = ({ opened_at, subject_id, workspace_id }: IncidentRow) => {
        const until = firstIdAt(opened_at.getTime() + 1)
        return sql<ResultRow>`
          WITH success AS MATERIALIZED (
            SELECT id, at
            FROM monitor_events
            WHERE workspace_id = ${workspace_id}
              AND monitor_id = ${subject_id}
              AND id < ${until}
              AND status IN ('up', 'warning')
              AND details -> 'error' ->> 'code' IS NULL
            ORDER BY id DESC
            LIMIT 1
          ), failures AS MATERIALIZED (
            SELECT
              id,
              at,
              coalesce(details -> 'error' ->> 'message', details ->> 'message') AS message
            FROM monitor_events
            WHERE workspace_id = ${workspace_id}
              AND monitor_id = ${subject_id}
              AND id < ${until}
              AND (status = 'down' OR details -> 'error' ->> 'code' IS NOT NULL)
              AND id > coalesce((SELECT id FROM success), ${firstIdAt(0)})
            ORDER BY id DESC
            LIMIT ${maxShownFailures}
          )
          SELECT at, true AS is_good, NULL AS message, NULL::uuid AS execution_id
          FROM success
          UNION ALL
          SELECT at, false, message, NULL
          FROM failures`
      }

      return {
        countActions: Effect.fn("TimelineRepo.countActions")(function* ({
          id,
          workspace_id
        }: IncidentRow) {
          const [row] = yield* sql<{ readonly actions: number }>`
            SELECT count(*)::int AS actions
            FROM incident_actions
            WHERE workspace_id = ${workspace_id}
              AND incident_id = ${id}
              AND type <> 'escalated'`
          return row?.actions ?? 0
        }, Effect.orDie),

        insertAction: Effect.fn("TimelineRepo.insertAction")(function* (action: IncidentAction) {
          const { actor, at, id, incident_id, message, type, until, workspace_id } = action
          yield* sql`
            INSERT INTO incident_actions
              (id, incident_id, workspace_id, at, type, actor, message, until)
            VALUES
              (${id}, ${incident_id}, ${workspace_id}, ${at}, ${type},
               ${JSON.stringify(actor)}::jsonb, ${message ?? null}, ${until ?? null})`
        }, Effect.orDie),

        /** Returns the whole history, oldest entry first. */
        list: Effect.fn("TimelineRepo.list")(function* (
          incident: IncidentRow,
          deliveries: ReadonlyArray<IncidentDelivery>
        ) {
          const isTask = incident.subject_kind === "cron" || incident.subject_kind === "chain"
          const results = yield* isTask ? listRuns(incident) : listMonitorEvents(incident)
          const actions = yield* listActions(incident)
          const { cause_message, closed_at, opened_at, recovered } = incident
          const isClosedByHand = actions.some(({ type }) => type === "closed")
          return [
            ...results.map(({ at, execution_id, is_good, message }) =>
              is_good
                ? entry(at, "last_good", { execution_id })
                : entry(at, "failure", {
                    // A heartbeat's events have no message. The one that opened the incident is
                    // its cause.
                    message:
                      message ?? (at.getTime() === opened_at.getTime() ? cause_message : null),
                    execution_id
                  })
            ),
            entry(opened_at, "opened", { message: cause_message }),
            // The incident may have been added to a message that was already waiting to be sent.
            ...deliveries.map(({ created_at, id }) =>
              entry(
                new Date(Math.max(Date.parse(created_at), opened_at.getTime())),
                "notification",
                {
                  delivery_id: id
                }
              )
            ),
            ...actions.map(({ actor, at, message, type, until }) =>
              entry(at, type, {
                actor: type === "escalated" ? null : actor,
                message,
                until: timestampOrNull(until)
              })
            ),
            ...(closed_at === null || isClosedByHand
              ? []
              : [entry(closed_at, recovered ? "recovered" : "closed")])
          ].toSorted((one, other) => one.at.localeCompare(other.at))
        }, Effect.orDie)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
