import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorFilters, MonitorKind } from "@scheduling/domain/monitors/Monitor"
import type {
  Conflict,
  NotFound,
  QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Limits, UsageRepo } from "../plans/index.ts"
import { Outbox } from "../events/index.ts"
import { Ids, type Upserted } from "../core/index.ts"
import { pageRequest, StoreClock, toPage } from "../store/index.ts"
import { type MonitorEventRow, MonitorEventsRepo } from "./MonitorEventsRepo.ts"
import { MonitorsRepo } from "./MonitorsRepo.ts"
import { type StatusChange, StatusChanges } from "./StatusChanges.ts"

/** What the services of all kinds offer alike. */
export interface MonitorsOfKind<Monitor, Definition, Event> {
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    query: PageQuery & MonitorFilters
  ) => Effect.Effect<Page<Monitor>>
  readonly get: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Monitor, NotFound>
  /**
   * Gives the monitor with the key this definition, or makes it. Changes nothing if it is already
   * defined so.
   */
  readonly upsert: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    definition: Definition
  ) => Effect.Effect<Upserted<Monitor>, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  readonly remove: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<void, NotFound>
  readonly pause: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Monitor, NotFound>
  readonly resume: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Monitor, NotFound>
  readonly events: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId,
    query: PageQuery
  ) => Effect.Effect<Page<Event>, NotFound>
}

/** A monitor whose rows the transaction has locked. */
interface Locked {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly monitor_id: MonitorId
  readonly key: string | null
}

interface LockedStatus extends Locked, Pick<StatusChange, "kind"> {
  readonly status: StatusChange["from"]
}

/**
 * What becomes of a monitor whatever its kind. The service of the kind calls it in its transaction,
 * and does what concerns its own row.
 */
export class MonitorRecords extends Context.Service<
  MonitorRecords,
  {
    /** As far as the limit of the workspace allows. */
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      kind: MonitorKind,
      named: {
        readonly key: string | null
        readonly name: string
        readonly tags: ReadonlyArray<string>
      }
    ) => Effect.Effect<
      { readonly id: MonitorId; readonly created_at: Date },
      NotFound | Conflict | QuotaExceeded
    >
    readonly update: (
      locked: Locked,
      changes: {
        readonly key?: string | null
        readonly name?: string
        readonly tags?: ReadonlyArray<string>
      },
      at: Date
    ) => Effect.Effect<void, Conflict>
    /** Locks the workspace before the monitor. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      lock: Effect.Effect<Locked, NotFound>
    ) => Effect.Effect<void, NotFound>
    /** For kinds for which a pause has no other effect. Call it where it changes something. */
    readonly setPaused: (locked: LockedStatus, isPaused: boolean, at: Date) => Effect.Effect<void>
    /** For one that watches something else from now on. What it was down for is over. */
    readonly beginAgain: (locked: LockedStatus, at: Date) => Effect.Effect<void>
    readonly events: <Details, Event>(
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      query: PageQuery,
      toEvent: (row: MonitorEventRow<Details>) => Event
    ) => Effect.Effect<Page<Event>>
  }
>()("@scheduling/server/monitoring/MonitorRecords") {
  static readonly layer: Layer.Layer<
    MonitorRecords,
    never,
    | Ids
    | Limits
    | MonitorEventsRepo
    | MonitorsRepo
    | Outbox
    | SqlClient.SqlClient
    | StatusChanges
    | UsageRepo
  > = Layer.effect(
    MonitorRecords,
    Effect.gen(function* () {
      const now = Effect.orDie((yield* StoreClock)(yield* SqlClient.SqlClient))
      const ids = yield* Ids
      const limits = yield* Limits
      const eventsRepo = yield* MonitorEventsRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox
      const statusChanges = yield* StatusChanges
      const usage = yield* UsageRepo

      return MonitorRecords.of({
        create: Effect.fnUntraced(function* (workspace_id, kind, { key, name, tags }) {
          yield* limits.allowOneMore(workspace_id, "monitors")
          const created_at = yield* now
          const id = MonitorId.make(yield* ids.next)
          yield* monitors.insert({ id, workspace_id, kind, key, name, tags, created_at })
          yield* usage.record("monitors", [workspace_id], created_at)
          return { id, created_at }
        }),

        update: Effect.fnUntraced(function* (locked, { key, name, tags }, updated_at) {
          const { key: former, monitor_id: id, workspace_id } = locked
          if (key !== undefined && key !== former)
            yield* monitors.giveKey({ id, workspace_id }, key)
          yield* monitors.update({ id, workspace_id, name, tags, updated_at })
        }),

        remove: Effect.fnUntraced(function* (workspace_id, lock) {
          yield* limits.hold(workspace_id)
          const { monitor_id } = yield* lock
          yield* monitors.remove(workspace_id, monitor_id)
          yield* usage.record("monitors", [workspace_id], yield* now)
          yield* outbox.forget({ workspace_id, subject_id: monitor_id })
        }),

        setPaused: Effect.fnUntraced(function* (locked, isPaused, at) {
          const { kind, monitor_id, status: from, workspace_id } = locked
          const place = { workspace_id, monitor_id, at: at.getTime() }
          const to = isPaused ? "paused" : "new"
          yield* statusChanges.record([{ ...place, kind, from, to, cause: null }])
          const type = isPaused ? "paused" : "resumed"
          yield* eventsRepo.insert([{ ...place, type, status: to, details: null }])
        }),

        beginAgain: Effect.fnUntraced(function* (locked, at) {
          const { kind, monitor_id, status: from, workspace_id } = locked
          if (from === "new" || from === "paused") return
          const place = { workspace_id, monitor_id, at: at.getTime() }
          yield* statusChanges.record([{ ...place, kind, from, to: "new", cause: null }])
        }),

        events: <Details, Event>(
          workspaceId: AuthorizedWorkspaceId,
          id: MonitorId,
          query: PageQuery,
          toEvent: (row: MonitorEventRow<Details>) => Event
        ) => {
          const page = pageRequest(query)
          return Effect.map(eventsRepo.list<Details>(workspaceId, id, page), (rows) =>
            toPage(rows, page, toEvent)
          )
        }
      })
    })
  )
}
