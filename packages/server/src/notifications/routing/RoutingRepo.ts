import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hourMs } from "../../core/index.ts"
import type { FailedStep } from "../../events/index.ts"
import { type MaintenanceCoverage, IncidentsRepo } from "../../incidents/index.ts"
import { lockNextDeliveries, unfinishedDeliverySql } from "../sending/updateNextDeliveries.ts"
import { writeDeliveries } from "../sending/writeDeliveries.ts"
import type { DependentsDown } from "./describeEvent.ts"
import type { ActiveChannel } from "./groupNotices.ts"
import type { EscalationPolicyRow } from "../escalations/EscalationsRepo.ts"
import type { EscalatedStep, Escalation, PolicyWithChannels } from "./escalate.ts"
import type { DueStep, OutboxEvent } from "./OutboxEvent.ts"
import type {
  CallbackQuota,
  IncidentState,
  NotifiedChannel,
  ProblemRow,
  RoutingResult
} from "./routeEvents.ts"

interface RoutedTaskRow {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly status: string
}

/** The router's queries. They run in a transaction that only one node can have at a time. */
export class RoutingRepo extends Context.Service<RoutingRepo>()(
  "@scheduling/server/notifications/routing/RoutingRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const incidents = yield* IncidentsRepo

      /** Takes the routing lock until the commit. Returns false if another node holds it. */
      const claim = sql<{ readonly mine: boolean }>`
        SELECT pg_try_advisory_xact_lock(${routingLock}) AS mine`.pipe(
        Effect.map(([row]) => row?.mine === true),
        Effect.orDie
      )

      /** Returns the first events of the outbox, alerts before callbacks. */
      const list = Effect.fn("RoutingRepo.list")(function* (limit: number) {
        return yield* sql<Pick<OutboxEvent, "ordinal" | "workspace_id">>`
          SELECT ordinal, workspace_id
          FROM outbox
          ORDER BY (callback_url IS NOT NULL), ordinal
          LIMIT ${limit}`
      }, Effect.orDie)

      /** Locks the events, except those that another transaction is deleting from the outbox. */
      const claimEvents = Effect.fn("RoutingRepo.claimEvents")(function* (
        ordinals: ReadonlyArray<bigint>
      ) {
        return yield* sql<OutboxEvent>`
          SELECT *
          FROM outbox
          WHERE ordinal = ANY (${ordinals.map(String)}::bigint[])
          ORDER BY ordinal
          FOR UPDATE SKIP LOCKED`
      }, Effect.orDie)

      /**
       * Adds the failed step to the events of chain runs that continued after it, for example with
       * a step that runs on failure. The event itself only has the last step.
       */
      const addFailedSteps = Effect.fn("RoutingRepo.addFailedSteps")(function* (
        events: ReadonlyArray<OutboxEvent>
      ) {
        const chainRunIds = events.flatMap(({ data: { run }, event }) =>
          event === "chain_run.failed" && run?.chain_run_id != null ? [run.chain_run_id] : []
        )
        if (chainRunIds.length === 0) return events
        // No step has an id below that of its chain run, so older partitions need not be read.
        const rows = yield* sql<FailedStep & { readonly chain_run_id: string }>`
          SELECT asked.chain_run_id, failed.step, failed.error
          FROM unnest(${chainRunIds}::uuid[]) AS asked (chain_run_id)
          CROSS JOIN LATERAL (
            SELECT step, error
            FROM executions
            WHERE executions.chain_run_id = asked.chain_run_id
              AND executions.id >= asked.chain_run_id
              AND status = 'failed'
            ORDER BY id
            LIMIT 1
          ) AS failed`
        const failedSteps = new Map(rows.map(({ chain_run_id, ...step }) => [chain_run_id, step]))
        return events.map((event) => {
          const failed_step = failedSteps.get(event.data.run?.chain_run_id ?? "")
          return failed_step === undefined
            ? event
            : { ...event, data: { ...event.data, failed_step } }
        })
      }, Effect.orDie)

      /** Returns those of the workspaces that exist. They cannot be deleted until the commit. */
      const findWorkspaces = Effect.fn("RoutingRepo.findWorkspaces")(function* (
        ids: ReadonlyArray<string>
      ) {
        const rows = yield* sql<{ readonly id: string }>`
          SELECT id
          FROM workspaces
          WHERE id = ANY (${ids}::uuid[])
          ORDER BY id
          FOR KEY SHARE`
        return new Set(rows.map(({ id }) => id))
      }, Effect.orDie)

      const findTasks = Effect.fn("RoutingRepo.findTasks")(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) return new Map<string, RoutedTaskRow>()
        const rows = yield* sql<RoutedTaskRow>`
          SELECT id, workspace_id, coalesce(name, url, kind) AS name, status
          FROM tasks
          WHERE id = ANY (${ids}::uuid[])`
        return new Map(rows.map((row) => [row.id, row]))
      }, Effect.orDie)

      const findProblems = Effect.fn("RoutingRepo.findProblems")(function* (
        subjectIds: ReadonlyArray<string>
      ) {
        const rows = yield* sql<ProblemRow>`
          SELECT *
          FROM problems
          WHERE subject_id = ANY (${subjectIds}::uuid[])
          ORDER BY subject_id
          FOR UPDATE`
        return new Map(rows.map((row) => [row.subject_id, row]))
      }, Effect.orDie)

      /** Returns how people have acted on incidents. Call `awaitRoutingTurn` before. */
      const findIncidents = Effect.fn("RoutingRepo.findIncidents")(function* (
        ids: ReadonlyArray<string>
      ) {
        if (ids.length === 0) return new Map<string, IncidentState>()
        const rows = yield* sql<IncidentState>`
          SELECT id, closed_at, acknowledged_at, snoozed_until, suppressed_by
          FROM incidents
          WHERE id = ANY (${ids}::uuid[])`
        return new Map(rows.map((row) => [row.id, row]))
      }, Effect.orDie)

      /**
       * Returns, for each subject, how many monitors and tasks are down and depend on it (directly
       * or indirectly), and some of their names.
       */
      const findDependents = Effect.fn("RoutingRepo.findDependents")(function* (
        subjectIds: ReadonlyArray<string>
      ) {
        if (subjectIds.length === 0) return new Map<string, DependentsDown>()
        const rows = yield* sql<DependentsDown & { readonly subject_id: string }>`
          WITH RECURSIVE below AS (
            SELECT on_id, subject_id
            FROM dependencies
            WHERE on_id = ANY (${subjectIds}::uuid[])
            UNION
            SELECT below.on_id, dependencies.subject_id
            FROM below
            JOIN dependencies ON dependencies.on_id = below.subject_id
          )
          SELECT
            below.on_id AS subject_id, count(*)::int AS count,
            (array_agg(incidents.subject_name ORDER BY incidents.subject_name))[1:5] AS names
          FROM below
          JOIN incidents
            ON incidents.subject_id = below.subject_id
            AND incidents.closed_at IS NULL
          GROUP BY below.on_id`
        return new Map(rows.map((row) => [row.subject_id, row]))
      }, Effect.orDie)

      const findNotified = Effect.fn("RoutingRepo.findNotified")(function* (
        subjectIds: ReadonlyArray<string>
      ) {
        if (subjectIds.length === 0) return []
        return yield* sql<NotifiedChannel>`
          WITH asked AS MATERIALIZED (
            SELECT channel_id, subject_id, incident_key
            FROM notified_channels
            WHERE subject_id = ANY (${subjectIds}::uuid[])
          ), shared AS (
            SELECT channel_id, incident_key, count(*)::int AS sharing
            FROM notified_channels
            WHERE (channel_id, incident_key) IN (
              SELECT channel_id, incident_key
              FROM asked
              WHERE incident_key <> subject_id
            )
            GROUP BY channel_id, incident_key
          )
          SELECT
            asked.channel_id, asked.subject_id, asked.incident_key,
            coalesce(shared.sharing, 1) AS sharing
          FROM asked
          LEFT JOIN shared
            ON shared.channel_id = asked.channel_id
            AND shared.incident_key = asked.incident_key`
      }, Effect.orDie)

      /**
       * Locks the channels that are confirmed and not paused, and their claimable deliveries, so
       * that nothing is sent to them until the commit.
       */
      const lockChannels = Effect.fn("RoutingRepo.lockChannels")(function* ({
        channelIds,
        workspaceIds
      }: {
        readonly channelIds: ReadonlyArray<string>
        readonly workspaceIds: ReadonlyArray<string>
      }) {
        if (channelIds.length === 0 && workspaceIds.length === 0) return []
        const channels = yield* sql<Pick<ActiveChannel, "id" | "workspace_id" | "kind">>`
          SELECT id, workspace_id, kind
          FROM notification_channels
          WHERE NOT paused
            AND confirmed
            AND (
              id = ANY (${channelIds}::uuid[])
              OR workspace_id = ANY (${workspaceIds}::uuid[])
            )
          ORDER BY id
          FOR UPDATE`
        if (channels.length === 0) return []
        const ids = channels.map(({ id }) => id)
        yield* lockNextDeliveries(sql, ids)
        // This is a separate statement, so that it sees messages that were sent before the lock was
        // taken.
        const waiting = yield* sql<
          Pick<ActiveChannel, "unfinished" | "open_delivery"> & { readonly channel_id: string }
        >`
          SELECT
            channel_id,
            count(*)::int AS unfinished,
            (array_agg(CASE WHEN mergeable THEN id END ORDER BY ordinal DESC))[1] AS open_delivery
          FROM notification_deliveries AS deliveries
          WHERE channel_id = ANY (${ids}::uuid[])
            AND ${sql.literal(unfinishedDeliverySql())}
          GROUP BY channel_id`
        const byChannel = new Map(waiting.map((row) => [row.channel_id, row]))
        return channels.map((row): ActiveChannel => {
          const { open_delivery = null, unfinished: count = 0 } = byChannel.get(row.id) ?? {}
          return { ...row, unfinished: count, open_delivery }
        })
      }, Effect.orDie)

      /**
       * Returns, for each workspace, the number of waiting callbacks, and the id of the record that
       * counts recently dropped callbacks.
       */
      const findCallbacks = Effect.fn("RoutingRepo.findCallbacks")(function* (
        workspaceIds: ReadonlyArray<OutboxEvent["workspace_id"]>,
        now: Date
      ) {
        if (workspaceIds.length === 0) return []
        return yield* sql<Omit<CallbackQuota, "limit"> & Pick<OutboxEvent, "workspace_id">>`
          SELECT
            workspace_id,
            (
              SELECT count(*)::int
              FROM notification_deliveries AS deliveries
              WHERE deliveries.workspace_id = asked.workspace_id
                AND ${sql.literal(unfinishedDeliverySql())}
                AND channel_id IS NULL
            ) AS waiting,
            (
              SELECT id
              FROM notification_deliveries AS deliveries
              WHERE deliveries.workspace_id = asked.workspace_id
                AND status = 'dropped'
                AND created_at > ${new Date(now.getTime() - hourMs)}
              LIMIT 1
            ) AS dropped_id
          FROM unnest(${workspaceIds}::uuid[]) AS asked (workspace_id)`
      }, Effect.orDie)

      /**
       * Returns escalation policies. Each member is replaced by the channel to the member's
       * verified address. Users who are no longer members are omitted.
       */
      const findPolicies = Effect.fn("RoutingRepo.findPolicies")(function* (
        ids: ReadonlyArray<string>
      ) {
        if (ids.length === 0) return new Map<string, PolicyWithChannels>()
        const policies = yield* sql<EscalationPolicyRow>`
          SELECT *
          FROM escalation_policies
          WHERE id = ANY (${ids}::uuid[])`
        const members = policies.flatMap(({ steps }) => steps.flatMap((step) => step.member_ids))
        const channels = yield* findMemberChannels(members)
        return new Map(
          policies.map((policy): readonly [string, PolicyWithChannels] => [
            policy.id,
            {
              ...policy,
              steps: policy.steps.map(({ after_seconds, channel_ids, member_ids }) => ({
                after_seconds,
                channel_ids: [
                  ...channel_ids,
                  ...member_ids.flatMap((id) => channels.get(`${policy.workspace_id} ${id}`) ?? [])
                ]
              }))
            }
          ])
        )
      }, Effect.orDie)

      /**
       * Returns subjects with a policy that still has steps left for them, each as the ids of the
       * subject and the policy, separated by a space.
       */
      const findRunning = Effect.fn("RoutingRepo.findRunning")(function* (
        subjectIds: ReadonlyArray<string>
      ) {
        if (subjectIds.length === 0) return new Set<string>()
        const rows = yield* sql<Pick<Escalation, "subject_id" | "policy_id">>`
          SELECT subject_id, policy_id
          FROM escalations
          WHERE subject_id = ANY (${subjectIds}::uuid[])`
        return new Set(rows.map(({ policy_id, subject_id }) => `${subject_id} ${policy_id}`))
      }, Effect.orDie)

      /** Returns each member's channels, by workspace and user. Paused channels come last. */
      const findMemberChannels = Effect.fnUntraced(function* (userIds: ReadonlyArray<string>) {
        if (userIds.length === 0) return new Map<string, string>()
        const rows = yield* sql<{ readonly member: string; readonly channel_id: string }>`
          SELECT DISTINCT ON (member)
            memberships.workspace_id || ' ' || memberships.user_id AS member,
            channels.id AS channel_id
          FROM memberships
          JOIN users ON users.id = memberships.user_id
          JOIN notification_channels AS channels
            ON channels.workspace_id = memberships.workspace_id
            AND channels.kind = 'email'
            AND channels.config ->> 'to' = users.email
          WHERE memberships.user_id = ANY (${userIds}::uuid[])
            AND users.email_verified_at IS NOT NULL
          ORDER BY member, channels.paused, channels.confirmed DESC, channels.id`
        return new Map(rows.map(({ channel_id, member }) => [member, channel_id]))
      })

      const updateEscalations = Effect.fnUntraced(function* (
        escalations: ReadonlyArray<Escalation>
      ) {
        if (escalations.length === 0) return
        const rows = sql`
          json_populate_recordset(NULL::escalations, ${JSON.stringify(escalations)}::json) AS given`
        yield* sql`
          DELETE FROM escalations
          USING ${rows}
          WHERE escalations.subject_id = given.subject_id
            AND escalations.policy_id = given.policy_id
            AND given.due_at IS NULL`
        // A policy may have been deleted after it was read.
        yield* sql`
          INSERT INTO escalations
          SELECT given.*
          FROM ${rows}
          JOIN escalation_policies AS policies ON policies.id = given.policy_id
          WHERE given.due_at IS NOT NULL
          FOR KEY SHARE OF policies
          ON CONFLICT (subject_id, policy_id) DO UPDATE
          SET step = EXCLUDED.step, round = EXCLUDED.round, due_at = EXCLUDED.due_at`
      })

      /**
       * Adds steps to the histories of incidents. An incident may have been deleted together with
       * its monitor.
       */
      const insertEscalated = Effect.fnUntraced(function* (
        escalated: ReadonlyArray<EscalatedStep>,
        now: Date
      ) {
        if (escalated.length === 0) return
        yield* sql`
          INSERT INTO incident_actions (id, incident_id, workspace_id, at, type, actor, message)
          SELECT
            given.id, incidents.id, incidents.workspace_id, ${now}, 'escalated',
            ${JSON.stringify({ kind: "system", id: null, name: null })}::jsonb, given.message
          FROM json_populate_recordset(
            NULL::incident_actions, ${JSON.stringify(escalated)}::json
          ) AS given
          JOIN incidents ON incidents.id = given.incident_id
          FOR KEY SHARE OF incidents`
      })

      const updateProblems = Effect.fn("RoutingRepo.updateProblems")(function* (
        changed: ReadonlyArray<ProblemRow>,
        ended: ReadonlyArray<string>
      ) {
        if (ended.length > 0) {
          yield* sql`
            DELETE FROM problems
            WHERE subject_id = ANY (${ended}::uuid[])`
        }
        if (changed.length === 0) return
        yield* sql`
          INSERT INTO problems
          SELECT *
          FROM json_populate_recordset(NULL::problems, ${JSON.stringify(changed)}::json)
          ON CONFLICT (subject_id) DO UPDATE
          SET
            event = EXCLUDED.event,
            failures = EXCLUDED.failures,
            since = EXCLUDED.since,
            notified_at = EXCLUDED.notified_at,
            remind_at = EXCLUDED.remind_at,
            check_at = EXCLUDED.check_at,
            incident_id = EXCLUDED.incident_id,
            withheld = EXCLUDED.withheld,
            hold_until = EXCLUDED.hold_until,
            tags = EXCLUDED.tags,
            data = EXCLUDED.data`
      }, Effect.orDie)

      /** Writes the result of `routeEvents`. The channels must be locked. */
      const write = Effect.fn("RoutingRepo.write")(function* (routed: RoutingResult, now: Date) {
        yield* updateProblems(routed.changedProblems, routed.endedProblems)
        yield* incidents.updateClosed(routed.closed)
        yield* incidents.insert(routed.opened)
        yield* incidents.updateSuppressed(routed.suppressions)
        if (routed.notified.length > 0) {
          yield* sql`
            INSERT INTO notified_channels
            SELECT *
            FROM json_populate_recordset(
              NULL::notified_channels, ${JSON.stringify(routed.notified)}::json
            )
            ON CONFLICT DO NOTHING`
        }
        yield* updateEscalations(routed.escalations)
        yield* insertEscalated(routed.escalated, now)
        yield* writeDeliveries(sql, routed.deliveries, now)
      }, Effect.orDie)

      const remove = Effect.fn("RoutingRepo.remove")(function* (ordinals: ReadonlyArray<bigint>) {
        yield* sql`
          DELETE FROM outbox
          WHERE ordinal = ANY (${ordinals.map(String)}::bigint[])`
      }, Effect.orDie)

      const listToRemind = Effect.fn("RoutingRepo.listToRemind")(function* (
        now: Date,
        limit: number
      ) {
        return yield* sql<ProblemRow & { readonly ends_snooze: boolean }>`
          SELECT
            *,
            EXISTS (
              SELECT
              FROM incidents
              WHERE incidents.id = problems.incident_id
                AND incidents.snoozed_until = problems.remind_at
            ) AS ends_snooze
          FROM problems
          WHERE remind_at <= ${now}
          ORDER BY remind_at
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED`
      }, Effect.orDie)

      /**
       * Returns the workspaces with problems that are not announced for now because of maintenance
       * or a dependency.
       */
      const findWithholding = sql<{ readonly workspace_id: string }>`
        SELECT DISTINCT workspace_id
        FROM problems
        WHERE withheld`.pipe(
        Effect.map((rows) => rows.map(({ workspace_id }) => workspace_id)),
        Effect.orDie
      )

      /** Returns the workspaces in which escalation steps are due. */
      const findEscalating = Effect.fn("RoutingRepo.findEscalating")(function* (now: Date) {
        const rows = yield* sql<{ readonly workspace_id: string }>`
          SELECT DISTINCT workspace_id
          FROM escalations
          WHERE due_at <= ${now}`
        return rows.map(({ workspace_id }) => workspace_id)
      }, Effect.orDie)

      /**
       * Returns when the first step after `now` is due. Steps that were due earlier are waiting for
       * something else.
       */
      const findNextStepAt = Effect.fn("RoutingRepo.findNextStepAt")(function* (now: Date) {
        const [row] = yield* sql<{ readonly due_at: Date | null }>`
          SELECT min(due_at) AS due_at
          FROM escalations
          WHERE due_at > ${now}`
        return row?.due_at ?? null
      }, Effect.orDie)

      /**
       * Returns the workspace's problems whose next step is due, unless they are in maintenance.
       * Each step is returned only once and is then routed.
       */
      const takeDueSteps = Effect.fn("RoutingRepo.takeDueSteps")(function* (
        workspaceId: string,
        coverage: MaintenanceCoverage | undefined,
        now: Date,
        limit: number
      ) {
        return yield* sql<ProblemRow & Omit<DueStep, "at"> & { readonly due_at: Date }>`
          WITH due AS MATERIALIZED (
            SELECT escalations.subject_id, escalations.policy_id, escalations.due_at
            FROM escalations
            JOIN problems ON problems.subject_id = escalations.subject_id
            WHERE escalations.workspace_id = ${workspaceId}
              AND escalations.due_at <= ${now}
              AND NOT problems.tags && ${[...(coverage?.tags ?? [])]}::text[]
              AND problems.subject_id <> ALL (${[...(coverage?.ids ?? [])]}::uuid[])
            ORDER BY escalations.due_at
            LIMIT ${limit}
            FOR UPDATE OF escalations SKIP LOCKED
          )
          UPDATE escalations
          SET due_at = NULL
          FROM due, problems
          WHERE escalations.subject_id = due.subject_id
            AND escalations.policy_id = due.policy_id
            AND problems.subject_id = due.subject_id
          RETURNING
            problems.*, escalations.policy_id, escalations.step, escalations.round, due.due_at`
      }, Effect.orDie)

      /**
       * Returns the workspace's withheld problems that may be ready for release. Problems in
       * maintenance are omitted. A problem may be ready if its delay has passed, if the incident
       * that suppressed it is closed, or if a dependency went down or recovered. Each problem is
       * returned only once and is then routed again.
       */
      const takeReleasable = Effect.fn("RoutingRepo.takeReleasable")(function* (
        workspaceId: string,
        coverage: MaintenanceCoverage | undefined,
        now: Date,
        limit: number
      ) {
        return yield* sql<ProblemRow>`
          WITH RECURSIVE below AS (
            SELECT dependencies.subject_id
            FROM dependencies
            JOIN incidents
              ON incidents.subject_id = dependencies.on_id
              AND incidents.closed_at IS NULL
            WHERE dependencies.workspace_id = ${workspaceId}
            UNION
            SELECT dependencies.subject_id
            FROM below
            JOIN dependencies ON dependencies.on_id = below.subject_id
          ), suppressed AS (
            SELECT incidents.id
            FROM incidents
            JOIN incidents AS suppressor
              ON suppressor.id = incidents.suppressed_by
              AND suppressor.closed_at IS NULL
            WHERE incidents.workspace_id = ${workspaceId}
              AND incidents.closed_at IS NULL
              AND incidents.suppressed_by IS NOT NULL
          ), due AS MATERIALIZED (
            SELECT subject_id
            FROM problems
            WHERE workspace_id = ${workspaceId}
              AND withheld
              AND NOT tags && ${[...(coverage?.tags ?? [])]}::text[]
              AND subject_id <> ALL (${[...(coverage?.ids ?? [])]}::uuid[])
              AND CASE
                WHEN incident_id IS NULL THEN true
                WHEN hold_until IS NOT NULL THEN
                  hold_until <= ${now} OR subject_id IN (TABLE below)
                ELSE incident_id NOT IN (TABLE suppressed) OR subject_id NOT IN (TABLE below)
              END
            ORDER BY subject_id
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED
          )
          UPDATE problems
          SET withheld = false
          FROM due
          WHERE problems.subject_id = due.subject_id
          RETURNING problems.*`
      }, Effect.orDie)

      /**
       * Writes missed recoveries to the outbox. A recovery is missed if the success was written at
       * the same time as the preceding failure. Returns how many problems were checked.
       */
      const announceMissed = Effect.fn("RoutingRepo.announceMissed")(function* (
        now: Date,
        limit: number
      ) {
        const checked = yield* sql`
          WITH due AS MATERIALIZED (
            SELECT subject_id, workspace_id, data
            FROM problems
            WHERE check_at <= ${now}
            ORDER BY check_at
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED
          ), announced AS (
            INSERT INTO outbox (workspace_id, event, subject_id, at, data)
            SELECT
              due.workspace_id, 'task.recovered', due.subject_id,
              success.finished_at,
              jsonb_build_object('run', jsonb_build_object(
                'execution_id', success.id,
                'chain_run_id', success.chain_run_id,
                'step', success.step,
                'kind', success.kind,
                'status', success.status,
                'status_code', success.status_code,
                'error', NULL,
                'attempts', success.attempts_count
              ))
            FROM due
            JOIN executions AS failure
              ON failure.workspace_id = due.workspace_id
              AND failure.id = (due.data -> 'run' ->> 'execution_id')::uuid
            CROSS JOIN LATERAL (${sql.literal(lastSuccess)}) AS success
          )
          UPDATE problems
          SET check_at = NULL
          FROM due
          WHERE problems.subject_id = due.subject_id
          RETURNING problems.subject_id`
        return checked.length
      }, Effect.orDie)

      /** Deletes the problems of deleted tasks and chains, and closes their incidents. */
      const removeOrphans = Effect.fn("RoutingRepo.removeOrphans")(function* (now: Date) {
        const removed = yield* sql<Pick<ProblemRow, "subject_id" | "incident_id">>`
          DELETE FROM problems
          WHERE event IN ('execution.failed', 'chain_run.failed')
            AND NOT EXISTS (
              SELECT
              FROM tasks
              WHERE tasks.id = problems.subject_id
            )
          RETURNING subject_id, incident_id`
        yield* incidents.updateClosed(
          removed.flatMap(({ incident_id, subject_id }) =>
            incident_id === null ? [] : [{ subject_id, at: now.getTime(), recovered: false }]
          )
        )
      }, Effect.orDie)

      return {
        claim,
        list,
        claimEvents,
        addFailedSteps,
        findWorkspaces,
        findTasks,
        findProblems,
        findIncidents,
        findDependents,
        findNotified,
        lockChannels,
        findCallbacks,
        findPolicies,
        findRunning,
        updateProblems,
        write,
        remove,
        listToRemind,
        findWithholding,
        findEscalating,
        findNextStepAt,
        takeDueSteps,
        takeReleasable,
        announceMissed,
        removeOrphans
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/**
 * The key of the advisory lock for routing. It is an arbitrary number that is used nowhere else.
 */
const routingLock = 7_410_925_001

/**
 * SQL for the latest success of the task of `due` that finished after `failure`. The search is
 * limited to successes that were scheduled no more than an hour before the failure, because a task
 * can have a long history.
 */
const lastSuccess = `
  SELECT *
  FROM executions AS ended
  WHERE ended.workspace_id = due.workspace_id
    AND ended.task_id = due.subject_id
    AND ended.id >= (
      lpad(to_hex(
        (date_part('epoch', failure.finished_at) * 1000)::bigint - ${hourMs}::bigint
      ), 12, '0') || repeat('0', 20)
    )::uuid
    AND ended.status = 'succeeded'
    AND ended.finished_at > failure.finished_at
    -- A chain run has succeeded once all of it has.
    AND NOT EXISTS (
      SELECT
      FROM runs
      WHERE runs.chain_run_id = ended.chain_run_id
    )
    AND NOT EXISTS (
      SELECT
      FROM executions AS other
      WHERE other.workspace_id = ended.workspace_id
        AND other.chain_run_id = ended.chain_run_id
        AND other.id >= ended.chain_run_id
        AND other.status IN ('failed', 'cancelled')
    )
  ORDER BY ended.finished_at DESC
  LIMIT 1`
