import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  MonitorKind as MonitorKindName,
  MonitorQuery
} from "@scheduling/domain/monitors/Monitor"
import { definitionFields } from "@scheduling/domain/definitions/definitionFields"
import {
  type Conflict,
  type NotFound,
  type QuotaExceeded,
  type Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import type { Dependency } from "@scheduling/domain/incidents/Dependency"
import type { CountedPage, Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { definitionOfKind } from "@scheduling/domain/definitions/DefinitionsDocument"
import { Effect, type Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  ChangeLog,
  changesOf,
  currentAuthor,
  type RecordedDefinition,
  type VersionedRecords
} from "../accounts/index.ts"
import {
  retryOnConflict,
  checkVersion,
  Ids,
  matchesDefinition,
  orNotFound,
  withExistingId,
  upsertByKey,
  type UpsertResult
} from "../core/index.ts"
import { Outbox } from "../events/index.ts"
import { issuesIn } from "../http/index.ts"
import { makeDependencies } from "../incidents/index.ts"
import { Limits, UsageRepo } from "../plans/index.ts"
import {
  countedPage,
  listRequest,
  pageRequest,
  StoreClock,
  timestampOf,
  toPage,
  transactionOf
} from "../store/index.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"
import {
  isSettingsProblem,
  type KindTypes,
  type MonitorDecision,
  type MonitorKind
} from "./MonitorKind.ts"
import { monitorSorts } from "./MonitorTable.ts"
import { MonitorsRepo } from "./MonitorsRepo.ts"
import { StatusChanges } from "./StatusChanges.ts"

/** The operations on monitors of one kind. */
export interface KindMonitors<Types extends KindTypes> extends VersionedRecords<
  Types["Monitor"],
  NotFound | Conflict | Stale | ValidationFailed
> {
  readonly kind: MonitorKindName
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    query: MonitorQuery
  ) => Effect.Effect<CountedPage<Types["Monitor"]>, ValidationFailed>
  readonly get: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Types["Monitor"], NotFound>
  /** Returns the settings that a new monitor would have, without creating it. */
  readonly settingsOfNew: (
    workspaceId: AuthorizedWorkspaceId,
    input: Types["Input"]
  ) => Effect.Effect<Partial<Types["Columns"]>, ValidationFailed>
  readonly create: (
    workspaceId: AuthorizedWorkspaceId,
    input: Types["Input"]
  ) => Effect.Effect<Types["Monitor"], NotFound | Conflict | QuotaExceeded | ValidationFailed>
  /**
   * Creates the monitor with the key, or replaces its definition. Changes nothing if the definition
   * is the same.
   */
  readonly upsert: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    definition: Types["Input"]
  ) => Effect.Effect<
    UpsertResult<Types["Monitor"]>,
    NotFound | Conflict | QuotaExceeded | Stale | ValidationFailed
  >
  readonly update: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId,
    changes: Types["Changes"]
  ) => Effect.Effect<Types["Monitor"], NotFound | Conflict | Stale | ValidationFailed>
  readonly remove: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId,
    version?: number
  ) => Effect.Effect<void, NotFound | Stale>
  readonly pause: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Types["Monitor"], NotFound>
  readonly resume: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId
  ) => Effect.Effect<Types["Monitor"], NotFound>
  readonly events: (
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId,
    query: PageQuery
  ) => Effect.Effect<Page<Types["Event"]>, NotFound>
  /** Locks the monitor, runs the action and returns the changed monitor. */
  readonly act: <E>(
    workspaceId: AuthorizedWorkspaceId,
    id: MonitorId,
    action: (row: Types["Row"], at: Date) => Effect.Effect<unknown, E>
  ) => Effect.Effect<Types["Monitor"], E | NotFound>
}

export const makeKindMonitors = <Types extends KindTypes>(kind: MonitorKind<Types>) =>
  Effect.gen(function* (): Effect.fn.Return<KindMonitors<Types>, never, Needed> {
    type ShownRow = Types["Row"] & Types["Joined"]
    const sql = yield* SqlClient.SqlClient
    const transaction = transactionOf(sql)
    const now = Effect.orDie((yield* StoreClock)(sql))
    const changeLog = yield* ChangeLog
    const ids = yield* Ids
    const limits = yield* Limits
    const eventsRepo = yield* MonitorEventsRepo
    const monitors = yield* MonitorsRepo
    const outbox = yield* Outbox
    const statusChanges = yield* StatusChanges
    const usage = yield* UsageRepo
    const dependencies = yield* makeDependencies
    const { rows, table } = kind
    const fields = definitionFields(table.kind)

    const definitionOf = (row: ShownRow, at: Date): RecordedDefinition => {
      const monitor = kind.show(row, at)
      const depends_on = row.depends_on.map((one) => ({ kind: one.kind, id: one.id }))
      const shown = { ...pick(monitor, fields), depends_on }
      const { updated_by, version } = monitor
      const stored = { ...pick({ ...monitor, ...kind.stored?.(row) }, fields), depends_on }
      return { version, updated_by, updated_at: row.updated_at, shown, stored }
    }

    const record = (before: ShownRow | undefined, after: ShownRow | undefined, at: Date) => {
      const details = { kind: table.kind }
      const definition = (row: ShownRow) => definitionOf(row, at)
      return changeLog.record(changesOf("monitor", definition, () => ({ details }))(before, after))
    }

    /**
     * Records a change of the locked monitor in the change log, and returns the changed monitor.
     */
    const recordChange = Effect.fnUntraced(function* <E>(
      { id, workspace_id }: Types["Row"],
      change: Effect.Effect<unknown, E>
    ) {
      const before = yield* requireMonitor(rows.find(workspace_id, id))
      yield* change
      const after = yield* requireMonitor(rows.find(workspace_id, id))
      const at = yield* now
      yield* record(before, after, at)
      return kind.show(after, at)
    })

    const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
      return kind.show(yield* requireMonitor(rows.find(workspaceId, id)), yield* now)
    })

    /** Converts a definition to settings. `before` is the monitor whose definition is replaced. */
    const settingsOf = (input: Types["Input"], before?: Types["Row"]) => {
      const settings = kind.toSettings(input, before)
      return isSettingsProblem(settings) ? reject(settings) : Effect.succeed(settings)
    }

    const checkTarget = (
      workspaceId: AuthorizedWorkspaceId,
      given: Types["Input"] | Types["Changes"],
      current: Effect.Effect<Option.Option<Types["Row"]>> = Effect.succeedNone
    ) => kind.checkTarget?.(workspaceId, given, current) ?? Effect.void

    /**
     * Locks the monitor for a change. If the change has dependencies, locks the workspace first, so
     * that two concurrent changes cannot create a circular dependency.
     */
    const lock = Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      given: Types["Input"] | Types["Changes"],
      dependsOn: ReadonlyArray<object> = [],
      current?: Effect.Effect<Option.Option<Types["Row"]>>
    ) {
      if (dependsOn.length > 0) yield* limits.hold(workspaceId)
      yield* checkTarget(workspaceId, given, current)
      return yield* rows.findForUpdate(workspaceId, id)
    })

    /**
     * Locks the workspace before anything else, in the same order as the deletion of a workspace.
     */
    const create = Effect.fnUntraced(function* (
      workspace_id: AuthorizedWorkspaceId,
      { depends_on, paused = false, ...given }: Types["Input"]
    ) {
      const input = given as Types["Input"]
      const settings = yield* settingsOf(input)
      const { key, name, tags } = settings
      yield* limits.allowOneMore(workspace_id, "monitors")
      yield* checkTarget(workspace_id, input)
      const dependsOn = yield* dependencies.resolve(workspace_id, depends_on ?? [])
      const created_at = yield* now
      const id = MonitorId.make(yield* ids.next)
      // Pausing counts as a change and increments the version. A monitor that is created paused
      // therefore starts at version 0 and then has version 1.
      const version = paused ? 0 : 1
      const created_by = (yield* currentAuthor).actor
      const common = { id, workspace_id, key, version, name, tags, created_by, created_at }
      yield* monitors.insert({ ...common, kind: table.kind })
      const rowId = { monitor_id: id, workspace_id }
      yield* rows.insert(rowId, { ...settings, ...kind.initialColumns?.(settings, created_at) })
      yield* dependencies.insert({ workspace_id, kind: table.kind, id }, dependsOn)
      const problem = yield* kind.afterInsert?.(rowId, input) ?? Effect.undefined
      if (problem !== undefined) return yield* reject(problem)
      yield* usage.record("monitors", [workspace_id], created_at)
      if (paused) yield* Effect.orDie(pauseAgain(workspace_id, id, true))
      const at = yield* now
      const row = yield* Effect.orDie(requireMonitor(rows.find(workspace_id, id)))
      yield* record(undefined, row, at)
      return kind.show(row, at)
    })

    /** Writes a decision about a row that the transaction has locked. */
    const write = (row: Types["Row"], decision: MonitorDecision<Types["Columns"]>) =>
      statusChanges.write(table, rows, row, decision)

    const change = Effect.fnUntraced(function* (
      row: Types["Row"],
      named: Parameters<typeof monitors.update>[1],
      settings: Partial<Types["Columns"]>,
      {
        dependsOn = row.depends_on,
        paused = isPaused(row)
      }: {
        readonly paused?: boolean | undefined
        readonly dependsOn?: ReadonlyArray<Dependency> | undefined
      }
    ) {
      const isSame = matchesDefinition(row, {
        ...namedIn(named),
        ...settings,
        depends_on: dependsOn
      })
      if (isSame && paused === isPaused(row)) return
      const at = yield* now
      const updated_by = (yield* currentAuthor).actor
      // Changing the fields and pausing are one change, so the version increases once.
      const version = paused === isPaused(row) ? row.version + 1 : row.version
      yield* dependencies.replace({ ...row, kind: table.kind }, row.depends_on, dependsOn)
      yield* monitors.update({ ...row, version, updated_by, kind: table.kind }, named, at)
      yield* write(row, kind.decideSettings(row, settings, at))
      if (paused !== isPaused(row)) yield* pauseAgain(row.workspace_id, row.id, paused)
    })

    const writePaused = Effect.fnUntraced(function* (row: Types["Row"], paused: boolean) {
      if (isPaused(row) === paused) return
      yield* write(row, kind.decidePaused(row, paused, yield* now))
      yield* monitors.updateAuthor(row, (yield* currentAuthor).actor)
    })

    /**
     * Pauses or resumes a monitor that this transaction has changed, after reading its changed row.
     */
    const pauseAgain = (workspaceId: AuthorizedWorkspaceId, id: MonitorId, paused: boolean) =>
      Effect.flatMap(requireMonitor(rows.findForUpdate(workspaceId, id)), (row) =>
        writePaused(row, paused)
      )

    const act: KindMonitors<Types>["act"] = (workspaceId, id, action) =>
      Effect.gen(function* () {
        const row = yield* requireMonitor(rows.findForUpdate(workspaceId, id))
        yield* action(row, yield* now)
        return yield* get(workspaceId, id)
      }).pipe(transaction)

    const setPaused = (paused: boolean) =>
      Effect.fn("KindMonitors.setPaused")(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: MonitorId
      ) {
        const row = yield* requireMonitor(rows.findForUpdate(workspaceId, id))
        return yield* recordChange(row, writePaused(row, paused))
      }, transaction)

    return {
      kind: table.kind,

      list: Effect.fn("KindMonitors.list")(function* (workspaceId, query) {
        const page = yield* listRequest(query, monitorSorts)
        const at = yield* now
        const listed = rows.list(workspaceId, query, page, at)
        return yield* countedPage(
          query,
          Effect.map(listed, (found) => toPage(found, page, (row) => kind.show(row, at))),
          rows.count(workspaceId, query, at)
        )
      }),

      get,

      settingsOfNew: Effect.fn("KindMonitors.settingsOfNew")(function* (workspaceId, input) {
        const settings = yield* settingsOf(input)
        yield* checkTarget(workspaceId, input)
        return settings
      }),

      create: Effect.fn("KindMonitors.create")(create, transaction, (write, workspaceId, { key }) =>
        withExistingId(key, (taken) => rows.findByKey(workspaceId, taken))(write)
      ),

      upsert: Effect.fn("KindMonitors.upsert")(
        function* (workspaceId, key, { depends_on = [], paused, version, ...given }) {
          const definition = given as Types["Input"]
          const dependsOn = yield* dependencies.resolve(workspaceId, depends_on)
          const definedFor = (row: Types["Row"]) =>
            Effect.map(settingsOf(definition, row), (settings) => ({ ...settings, key }))
          return yield* upsertByKey(
            { key, resource: "monitor", version },
            {
              find: rows.findByKey(workspaceId, key),
              make: create(workspaceId, {
                ...definition,
                key,
                depends_on: dependsOn,
                ...(paused !== undefined && { paused })
              }),
              isDefined: (row) =>
                Effect.map(
                  definedFor(row),
                  (defined) =>
                    matchesDefinition(row, { ...defined, depends_on: dependsOn }) &&
                    (paused === undefined || paused === isPaused(row))
                ),
              show: (row) => Effect.map(now, (at) => kind.show(row, at)),
              lock: ({ id }) => lock(workspaceId, id, definition, dependsOn),
              change: (row) =>
                recordChange(
                  row,
                  Effect.flatMap(definedFor(row), (defined) =>
                    change(row, defined, defined, { paused, dependsOn })
                  )
                )
            }
          )
        },
        transaction,
        retryOnConflict
      ),

      update: Effect.fn("KindMonitors.update")(
        function* (workspaceId, id, given) {
          const { depends_on, paused, version, ...others } = given
          const changes = others as Types["Changes"] & Parameters<typeof monitors.update>[1]
          const dependsOn = depends_on && (yield* dependencies.resolve(workspaceId, depends_on))
          const row = yield* requireMonitor(
            lock(workspaceId, id, changes, dependsOn, rows.find(workspaceId, id))
          )
          yield* checkVersion(row, version)
          if (Object.keys(changes).length === 0 && dependsOn === undefined) {
            return yield* recordChange(row, writePaused(row, paused ?? isPaused(row)))
          }
          const settings = kind.changeSettings(row, changes)
          if (isSettingsProblem(settings)) {
            return yield* reject(settings)
          }
          return yield* recordChange(row, change(row, changes, settings, { paused, dependsOn }))
        },
        transaction,
        (write, workspaceId, _, { key }) =>
          withExistingId(key, (taken) => rows.findByKey(workspaceId, taken))(write)
      ),

      /** Deletes a monitor. The workspace is locked first, in the same order as in `create`. */
      remove: Effect.fn("KindMonitors.remove")(function* (workspaceId, id, version) {
        yield* limits.hold(workspaceId)
        yield* checkVersion(yield* requireMonitor(rows.findForUpdate(workspaceId, id)), version)
        const monitor = yield* requireMonitor(rows.find(workspaceId, id))
        yield* record(monitor, undefined, yield* now)
        yield* monitors.remove(workspaceId, id)
        yield* usage.record("monitors", [workspaceId], yield* now)
        yield* outbox.forget({ workspace_id: workspaceId, subject_id: id })
      }, transaction),

      pause: setPaused(true),

      resume: setPaused(false),

      act,

      versions: Effect.fn("KindMonitors.versions")(function* (workspaceId, id) {
        const row = yield* requireMonitor(rows.find(workspaceId, id))
        const current = definitionOf(row, yield* now)
        return yield* changeLog.listVersions(workspaceId, row.id, current)
      }),

      restore: Effect.fn("KindMonitors.restore")(
        function* (workspaceId, id, { stored }, version) {
          const { key, paused, ...wanted } = stored
          const { depends_on = [], ...given } = yield* decodeDefinition(table.kind, wanted)
          const definition = given as Types["Input"]
          const dependsOn = yield* dependencies.resolve(workspaceId, depends_on)
          const row = yield* requireMonitor(lock(workspaceId, id, definition, dependsOn))
          yield* checkVersion(row, version)
          const settings = kind.toSettings(definition, row)
          if (isSettingsProblem(settings)) return yield* reject(settings)
          const restored = { ...settings, key: key as string | null }
          const others = { paused: paused === true, dependsOn }
          return yield* recordChange(row, change(row, restored, restored, others))
        },
        transaction,
        (write, workspaceId, _, { stored }) =>
          withExistingId(stored["key"] as string | null, (taken) =>
            rows.findByKey(workspaceId, taken)
          )(write)
      ),

      events: Effect.fn("KindMonitors.events")(function* (workspaceId, id, query) {
        yield* get(workspaceId, id)
        const page = pageRequest(query)
        const listed = yield* eventsRepo.list<Types["Details"]>(workspaceId, id, page)
        return toPage(listed, page, ({ at, details, id: eventId, status, type }) => ({
          id: eventId,
          type,
          at: timestampOf(at),
          status,
          ...kind.showDetails(details ?? {})
        }))
      })
    }
  })

type Needed =
  | ChangeLog
  | Ids
  | Limits
  | MonitorEventsRepo
  | MonitorsRepo
  | Outbox
  | SqlClient.SqlClient
  | StatusChanges
  | UsageRepo

/** Decodes a definition with the schema of the PUT endpoint's body. */
const decodeDefinition = (kind: MonitorKindName, definition: object) =>
  Schema.decodeUnknownEffect(
    definitionOfKind[kind] as Schema.Codec<Pick<KindTypes["Input"], "depends_on">, unknown>
  )(definition).pipe(
    Effect.mapError(({ issue }) => new ValidationFailed({ issues: issuesIn(issue) }))
  )

const reject = ({ code, path, problem }: FieldProblem) =>
  Effect.fail(ValidationFailed.at(path, code, problem))

const pick = (from: object, names: ReadonlyArray<string>) => {
  const fields = new Map<string, unknown>(Object.entries(from))
  return Object.fromEntries(names.map((name) => [name, fields.get(name) ?? null]))
}

/** Picks those of the given fields that all kinds of monitors have. */
const namedIn = ({ key, name, tags }: Parameters<MonitorsRepo["Service"]["update"]>[1]) => ({
  ...(key !== undefined && { key }),
  ...(name !== undefined && { name }),
  ...(tags !== undefined && { tags })
})

const isPaused = ({ status }: { readonly status: string }) => status === "paused"

const requireMonitor = orNotFound("monitor")
