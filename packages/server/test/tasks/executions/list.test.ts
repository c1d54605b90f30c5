import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { SqlClient } from "effect/sql"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { type Answer, ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { finishRun, insertRuns, isUnfinished, runAt, type RunOrExecution } from "./history.ts"

const hour = 3_600_000
const day = 24 * hour
const minute = 60_000

type Query = Readonly<Record<string, string | ReadonlyArray<string | number> | undefined>>

/** A filter that has several values repeats its parameter. */
const parametersOf = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value = []]) =>
      [value].flat().map((one) => [name, String(one)])
    )
  )

const list = (member: Member, query: Query = {}) =>
  ask("GET", `${member.workspace}/executions?${parametersOf(query)}`, {
    token: member.access_token
  })

/** Reads all pages. */
const listAll = Effect.fnUntraced(function* (
  member: Member,
  query: Query,
  between: Effect.Effect<void, unknown, never> = Effect.void
) {
  const ids: Array<string> = []
  let cursor: string | null = null
  do {
    const page: Answer = yield* list(member, {
      ...query,
      ...(cursor === null ? {} : { cursor })
    })
    assert.strictEqual(page.status, 200)
    ids.push(...page.body.data.map((execution: { id: string }) => execution.id))
    cursor = page.body.next_cursor
    yield* Effect.orDie(between)
  } while (cursor !== null)
  return ids
})

const newestFirst = (runs: ReadonlyArray<RunOrExecution>) =>
  runs
    .map(({ id }) => id)
    .toSorted()
    .toReversed()

const pick = <A>(values: ReadonlyArray<A>): A => {
  const value = values[Math.floor(Math.random() * values.length)]
  if (value === undefined) throw new Error("nothing to pick from")
  return value
}

const kinds = ["cron", "delayed", "chain"] as const
const triggers = ["schedule", "manual", "rerun"] as const
const statuses = ["queued", "running", "succeeded", "failed", "cancelled", "skipped"] as const

layer(testAppLayer())("listing executions", (it) => {
  it.effect("shows finished, running and waiting executions, field by field", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace_id } = member
      const ended = runAt(now - 3 * hour, {
        workspace_id,
        kind: "chain",
        trigger: "chain",
        status: "failed",
        chain_run_id: randomUUID(),
        step_index: 1,
        step: "close",
        started_at: new Date(now - 3 * hour + 4),
        finished_at: new Date(now - 3 * hour + 131),
        attempts_count: 3,
        status_code: 503,
        error: "http_status: responded with 503"
      })
      const running = runAt(now - 2 * hour, {
        workspace_id,
        status: "running",
        trigger: "manual",
        started_at: new Date(now - 2 * hour + 7),
        attempts_count: 2,
        status_code: 429,
        error: "http_status: responded with 429"
      })
      const queued = runAt(now, { workspace_id, kind: "delayed", status: "queued" })
      yield* insertRuns([ended, running, queued])
      const { body, status } = yield* list(member)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, {
        data: [
          {
            id: queued.id,
            kind: "delayed",
            task_id: queued.task_id,
            chain_run_id: null,
            step: null,
            flow_key: null,
            trigger: "schedule",
            status: "queued",
            scheduled_for: "2026-06-01T12:00:00.000Z",
            started_at: null,
            finished_at: null,
            lateness_ms: null,
            duration_ms: null,
            attempts_count: 0,
            status_code: null,
            error: null,
            awaiting_completion_since: null,
            waits_until: null,
            approval: null
          },
          {
            id: running.id,
            kind: "cron",
            task_id: running.task_id,
            chain_run_id: null,
            step: null,
            flow_key: null,
            trigger: "manual",
            status: "running",
            scheduled_for: "2026-06-01T10:00:00.000Z",
            started_at: "2026-06-01T10:00:00.007Z",
            finished_at: null,
            lateness_ms: 7,
            duration_ms: null,
            attempts_count: 2,
            status_code: 429,
            error: { code: "http_status", message: "responded with 429" },
            awaiting_completion_since: null,
            waits_until: null,
            approval: null
          },
          {
            id: ended.id,
            kind: "chain",
            task_id: ended.task_id,
            chain_run_id: ended.chain_run_id,
            step: "close",
            flow_key: null,
            trigger: "chain",
            status: "failed",
            scheduled_for: "2026-06-01T09:00:00.000Z",
            started_at: "2026-06-01T09:00:00.004Z",
            finished_at: "2026-06-01T09:00:00.131Z",
            lateness_ms: 4,
            duration_ms: 127,
            attempts_count: 3,
            status_code: 503,
            error: { code: "http_status", message: "responded with 503" },
            awaiting_completion_since: null,
            waits_until: null,
            approval: null
          }
        ],
        next_cursor: null,
        total: null
      })
    })
  )

  it.effect(
    "shows an empty page for a workspace without executions, and none of other workspaces",
    () =>
      Effect.gen(function* () {
        const owner = yield* signUp()
        const stranger = yield* signUp()
        const run = runAt(now - hour, { workspace_id: owner.workspace_id })
        const going = runAt(now, { workspace_id: owner.workspace_id, status: "running" })
        yield* insertRuns([run, going])
        const empty = { data: [], next_cursor: null, total: null }
        assert.deepStrictEqual((yield* list(stranger)).body, empty)
        assert.deepStrictEqual((yield* list(stranger, { task_id: run.task_id })).body, empty)
        assert.deepStrictEqual((yield* list(stranger, { task_id: going.task_id })).body, empty)
        const path = `${owner.workspace}/executions`
        const peek = yield* ask("GET", path, { token: stranger.access_token })
        assert.strictEqual(statusAndError(peek), "404 not_found")
      })
  )

  it.effect("gives each run once, in order, while runs end between the pages", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace_id } = member
      const runs = Array.from({ length: 80 }, (_, index) =>
        runAt(now - index * 37 * minute, {
          workspace_id,
          status: index % 3 === 0 ? "succeeded" : index % 3 === 1 ? "running" : "queued"
        })
      )
      yield* insertRuns(runs)
      const going = runs.filter(isUnfinished).map(({ id }) => id)
      const context = yield* Effect.context<Effect.Services<ReturnType<typeof finishRun>>>()
      const endSome = Effect.forEach(
        Array.from({ length: 6 }, () => going.splice(Math.floor(Math.random() * going.length), 1)),
        ([id]) => (id === undefined ? Effect.void : finishRun(id)),
        { discard: true }
      ).pipe(Effect.provideContext(context))
      const ids = yield* listAll(member, { limit: "7" }, endSome)
      assert.deepStrictEqual(ids, newestFirst(runs))
    })
  )

  it.effect("finds and counts by any mix of filters and values, whichever table holds it", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace_id } = member
      const tagsOf = [["billing"], ["billing", "nightly"], [], ["reports"]] as const
      const tasks = yield* Effect.forEach(tagsOf, (tags, index) =>
        Effect.map(
          ask("POST", `${member.workspace}/cron`, {
            token: member.access_token,
            body: {
              name: `task ${index}`,
              schedule: "0 3 * * *",
              url: "https://example.com/",
              tags
            }
          }),
          ({ body }): string => body.id
        )
      )
      const hasTag = ({ task_id }: RunOrExecution, tag: ReadonlyArray<string>) =>
        tagsOf[tasks.indexOf(task_id)]?.some((one) => tag.includes(one)) === true
      const runs = Array.from({ length: 150 }, () => {
        const at = now - Math.floor(Math.random() * 3 * day)
        // A missed firing can run hours late, but the id is at most an hour older than the start.
        const status = pick(statuses)
        const made = Math.random() < 0.2 ? Math.min(now, at + Math.floor(Math.random() * day)) : at
        return runAt(at, {
          workspace_id,
          id: makeRunId(at, made),
          task_id: pick(tasks),
          kind: pick(kinds),
          trigger: pick(triggers),
          status,
          status_code: pick([200, 204, 404, 503, null]),
          ...(isUnfinished({ status }) || status === "skipped"
            ? {}
            : { finished_at: new Date(at + pick([0, 20, 1_000, 60_000])) })
        })
      })
      yield* insertRuns(runs)
      const maybe = <A>(value: () => A) => (Math.random() < 0.5 ? value() : undefined)
      const someOf = <A>(values: ReadonlyArray<A>) =>
        maybe(() => pick([[pick(values)], [pick(values), pick(values)], [...values]]))
      for (let round = 0; round < 25; round++) {
        const kind = someOf(kinds)
        const task_id = someOf(tasks)
        const tag = someOf(["billing", "nightly", "unknown"])
        const status = someOf(statuses)
        const trigger = someOf(triggers)
        const status_code = someOf([200, 404, 503])
        const min_duration_ms = maybe(() => pick([0, 21, 1_000]))
        const from = maybe(() => pick(runs).scheduled_for)
        const later = maybe(() => pick(runs).scheduled_for)
        const to = from !== undefined && later !== undefined && later < from ? from : later
        const query = {
          limit: String(pick([3, 20, 100])),
          kind,
          task_id,
          tag,
          status,
          trigger,
          status_code,
          min_duration_ms: min_duration_ms?.toString(),
          from: from?.toISOString(),
          to: to?.toISOString()
        }
        const durationOf = ({ finished_at, started_at }: RunOrExecution) =>
          started_at === null || finished_at === null
            ? -1
            : finished_at.getTime() - started_at.getTime()
        const expected = runs.filter(
          (run) =>
            (kind === undefined || kind.includes(run.kind)) &&
            (task_id === undefined || task_id.includes(run.task_id)) &&
            (tag === undefined || hasTag(run, tag)) &&
            (status === undefined || status.includes(run.status)) &&
            (trigger === undefined || trigger.some((one) => one === run.trigger)) &&
            (status_code === undefined || status_code.some((one) => one === run.status_code)) &&
            (min_duration_ms === undefined || durationOf(run) >= min_duration_ms) &&
            (from === undefined || run.scheduled_for >= from) &&
            (to === undefined || run.scheduled_for < to)
        )
        const ids = yield* listAll(member, query)
        assert.deepStrictEqual(ids, newestFirst(expected), JSON.stringify(query))
        const counted = yield* list(member, { ...query, limit: "1", total: "true" })
        assert.strictEqual(counted.body.total, expected.length, JSON.stringify(query))
      }
    })
  )

  it.effect("counts up to 10,000, and says 10,001 for more", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sql = yield* SqlClient.SqlClient
      const insert = (from: number, to: number) => sql`
        INSERT INTO executions (
          id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count
        )
        SELECT
          (left(${makeRunId(now - hour, now - hour)}, 24) || lpad(to_hex(n), 12, '0'))::uuid,
          ${member.workspace_id}, ${randomUUID()}, 'cron', 'schedule', 'cancelled',
          ${new Date(now - hour)}, ${new Date(now - hour)}, 0
        FROM generate_series(${from}::int, ${to}::int) AS n`
      yield* insert(1, 10_000)
      const exact = yield* list(member, { total: "true", limit: "1" })
      assert.strictEqual(exact.body.total, 10_000)
      yield* insert(10_001, 10_002)
      const more = yield* list(member, {
        total: "true",
        limit: "1",
        status: ["cancelled", "failed"]
      })
      assert.strictEqual(more.body.total, 10_001)
    })
  )

  it.effect("rejects invalid filters by name", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const refused: ReadonlyArray<readonly [string, string]> = [
        ["kind", "webhook"],
        ["status", "done"],
        ["trigger", "nobody"],
        ["status_code", "99"],
        ["status_code", "OK"],
        ["min_duration_ms", "-1"],
        ["total", "yes"],
        ["task_id", "7"],
        ["from", "yesterday"],
        ["to", "2026-06-01T12:00:00"],
        ["limit", "101"],
        ["cursor", "x"],
        ["colour", "red"]
      ]
      for (const [name, value] of refused) {
        const answer = yield* list(member, { [name]: value })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", name)
        assert.strictEqual(answer.body.detail.issues[0].path[0], name)
      }
      const bounds = { from: "2026-06-01T12:00:01Z", to: "2026-06-01T12:00:00Z" }
      const inverted = yield* list(member, bounds)
      assert.strictEqual(statusAndError(inverted), "422 validation_failed")
      assert.deepStrictEqual(inverted.body.detail.issues[0].path, ["from"])
      const again = yield* ask("POST", `${member.workspace}/executions/rerun`, {
        token: member.access_token,
        body: { status: ["failed"], ...bounds }
      })
      assert.strictEqual(statusAndError(again), "422 validation_failed")
    })
  )
})
