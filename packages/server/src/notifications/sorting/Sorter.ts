import { isTrouble, recoveries } from "@scheduling/domain/notifications/NotificationEvent"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox, subjectGone } from "../../events/index.ts"
import { Ids } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { channelsFor, decide, type Happening, remindAt, type Trouble } from "./decide.ts"
import { describe } from "./describe.ts"
import { gather, type Receiver } from "./gather.ts"
import { kinds } from "../kinds.ts"
import { noSettings, SettingsRepo } from "../settings/SettingsRepo.ts"
import type { OutboxRow, WrittenRow } from "./OutboxRow.ts"
import { SorterRepo } from "./SorterRepo.ts"
import { checkAfterMs, type TroubleRow } from "./troubles.ts"
import { isForAll, type Judged, tellEach, whereTold } from "./tellEach.ts"

/** Whether all is done, there may be more, or somebody else does it at this moment. */
export type Sorted = "all" | "more" | "busy"

/**
 * Turns what happened into deliveries. One node does it at a time, so that what happens to a thing is
 * told in the order in which it happened; a batch is one transaction, so that a node that dies half-way
 * has done nothing.
 */
export class Sorter extends Context.Service<
  Sorter,
  {
    readonly sort: Effect.Effect<Sorted>
    /**
     * Puts into the outbox again what goes on failing, where the workspace wants to be reminded, and
     * what has recovered without anybody noticing.
     */
    readonly remind: Effect.Effect<Sorted>
  }
>()("@scheduling/server/notifications/sorting/Sorter") {
  static readonly layer: Layer.Layer<
    Sorter,
    never,
    Ids | Outbox | SettingsRepo | SorterRepo | SqlClient.SqlClient
  > = Layer.effect(
    Sorter,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const ids = yield* Ids
      const outbox = yield* Outbox
      const repo = yield* SorterRepo
      const settingsRepo = yield* SettingsRepo

      /** What each row makes of the troubles, and who is to hear of it by the rules. */
      const judge = Effect.fnUntraced(function* (rows: ReadonlyArray<WrittenRow>, now: Date) {
        const subjects = [...new Set(rows.map(({ subject_id }) => subject_id))]
        const workspaces = [...new Set(rows.map(({ workspace_id }) => workspace_id))]
        const settingsOf = yield* settingsRepo.findAll(workspaces)
        const tasks = yield* repo.findTasks(
          rows.flatMap(({ data, subject_id }) => (data.kind === undefined ? [] : [subject_id]))
        )
        const before = yield* repo.findTroubles(subjects)
        const troubles = new Map<string, TroubleRow>(before.map((row) => [row.subject_id, row]))
        const touched = new Set<string>()
        const judged: Array<Judged> = []
        for (const written of rows) {
          const settings = settingsOf.get(written.workspace_id) ?? noSettings
          const known = troubles.get(written.subject_id)
          const row = asEvent(written, known)
          if (row === undefined) continue
          const { telling, trouble } = decide(known, happeningOf(row), settings, now)
          if (trouble !== known) {
            touched.add(row.subject_id)
            if (trouble === undefined) troubles.delete(row.subject_id)
            else troubles.set(row.subject_id, troubleRow(row, trouble, known, now))
          }
          if (telling === undefined) continue
          const task = tasks.get(row.subject_id)
          const name = task?.workspace_id === row.workspace_id ? task.name : undefined
          judged.push({
            row,
            telling,
            settings,
            isGone: written.event === subjectGone,
            event: describe(row, name, trouble ?? known),
            channelIds: channelsFor(settings.rules, row)
          })
        }
        return { judged, touched, troubles, existed: new Set(before.map((row) => row.subject_id)) }
      })

      const sortSome = Effect.gen(function* () {
        if (!(yield* repo.claim)) return "busy"
        const listed = yield* repo.list(batch)
        if (listed.length === 0) return "all"
        // Lock the workspaces before the rows. Otherwise this, the deletion of a monitor and the
        // deletion of its workspace could wait for each other in a circle.
        const there = yield* repo.findWorkspaces([
          ...new Set(listed.map(({ workspace_id }) => workspace_id))
        ])
        const rows = yield* repo.claimRows(listed.map(({ ordinal }) => ordinal))
        const now = yield* clock
        const {
          existed,
          judged: byRules,
          touched,
          troubles
        } = yield* judge(
          rows.filter(({ workspace_id }) => there.has(workspace_id)),
          now
        )
        const tellings = yield* repo.findTellings(
          byRules.flatMap(({ row, telling }) =>
            telling === "ended" || telling === "reminder" ? [row.subject_id] : []
          )
        )
        const judged = byRules.map((one) => (one.isGone ? whereTold(one, tellings) : one))
        const receivers = yield* receiversOf(repo, judged)
        const told = tellEach(judged, receivers, tellings, now)

        const ended = [...touched].filter((id) => !troubles.has(id) && existed.has(id))
        const changed = [...touched].flatMap((id) => {
          const trouble = troubles.get(id)
          return trouble === undefined ? [] : [trouble]
        })
        const idsOfDrafts = yield* Effect.replicateEffect(ids.next, told.length)
        let used = 0
        const drafts = gather(told, () => idsOfDrafts[used++] ?? "")
        yield* repo.updateTroubles(changed, ended)
        yield* repo.insertTellings(
          drafts.flatMap(({ id, incident_key, opened, receiver }) =>
            [...opened]
              .filter((subject_id) => troubles.has(subject_id))
              .map((subject_id) => ({
                channel_id: receiver.id,
                subject_id,
                // Where there are no incidents, each stands for itself.
                incident_key: receiver.keeps_incidents ? (incident_key ?? id) : subject_id
              }))
          )
        )
        yield* repo.insertDrafts(drafts, now)
        yield* repo.remove(rows.map(({ ordinal }) => ordinal))
        return listed.length === batch ? "more" : "all"
      })

      return Sorter.of({
        sort: transaction(sortSome).pipe(Effect.withSpan("Sorter.sort")),

        remind: transaction(
          Effect.gen(function* () {
            if (!(yield* repo.claim)) return "busy"
            const now = yield* clock
            const checked = yield* repo.announceMissed(now, batch)
            const due = yield* repo.listToRemind(now, batch)
            if (due.length === 0) return checked === batch ? "more" : "all"
            const settingsOf = yield* settingsRepo.findAll([
              ...new Set(due.map(({ workspace_id }) => workspace_id))
            ])
            const tasks = yield* repo.findTasks(due.map(({ subject_id }) => subject_id))
            const isGone = ({ data, subject_id }: TroubleRow) =>
              data.kind !== undefined && !tasks.has(subject_id)
            const changed = due
              .filter((row) => !isGone(row))
              .map((row) => ({
                ...row,
                remind_at: remindAt(settingsOf.get(row.workspace_id) ?? noSettings, now)
              }))
            yield* repo.updateTroubles(
              changed,
              due.filter(isGone).map(({ subject_id }) => subject_id)
            )
            // What is paused is known to somebody.
            yield* outbox.announce(
              ...changed
                .filter(
                  (row) => row.remind_at !== null && tasks.get(row.subject_id)?.status !== "paused"
                )
                .map(({ data, event, subject_id, tags, workspace_id }) => ({
                  workspace_id,
                  event,
                  subject_id,
                  tags,
                  at: now,
                  data: { ...data, reminder: true }
                }))
            )
            return due.length === batch || checked === batch ? "more" : "all"
          })
        ).pipe(Effect.withSpan("Sorter.remind"))
      })
    })
  )
}

/** A transaction is over in a moment, however much there is. */
const batch = 1_000

const happeningOf = ({ data, ...row }: OutboxRow): Happening => ({
  ...row,
  once: data.kind === "delayed",
  reminder: data.reminder === true
})

/** Of a subject that is gone: the end of its trouble, if it is in any. */
const asEvent = (written: WrittenRow, known: TroubleRow | undefined): OutboxRow | undefined => {
  const { event } = written
  if (event !== subjectGone) return { ...written, event }
  if (known === undefined || !isTrouble(known.event)) return undefined
  const data = { ...known.data, reminder: false, reason: "It was paused or deleted." }
  return { ...written, event: recoveries[known.event], data }
}

/** Reminders say what the beginning said. */
const troubleRow = (
  row: OutboxRow,
  trouble: Trouble,
  known: TroubleRow | undefined,
  now: Date
): TroubleRow => ({
  ...trouble,
  check_at:
    row.data.execution_id === undefined
      ? (known?.check_at ?? null)
      : new Date(now.getTime() + checkAfterMs),
  subject_id: row.subject_id,
  workspace_id: row.workspace_id,
  tags: known?.tags ?? row.tags,
  data: row.data
})

/** The channels that are there, enabled and confirmed, with what waits for them. */
const receiversOf = Effect.fnUntraced(function* (
  repo: SorterRepo["Service"],
  judged: ReadonlyArray<Judged>
) {
  const named = new Set(judged.flatMap(({ channelIds }) => [...channelIds]))
  const whole = new Set(
    judged.flatMap(({ row }) => (isForAll(row.event) ? [row.workspace_id] : []))
  )
  if (named.size === 0 && whole.size === 0) return []
  const rows = yield* repo.findReceivers([...named], [...whole])
  return rows.map(({ id, kind, open, unfinished, workspace_id }): Receiver => ({
    id,
    workspace_id,
    kind,
    keeps_incidents: kinds[kind].keepsIncidents,
    unfinished,
    open: open ?? undefined
  }))
})
