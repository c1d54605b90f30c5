import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type Answer, ask, statusAndError, readPages, signUp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { insertRuns, type RunOrExecution, runAt } from "./history.ts"

const minute = 60_000
const hour = 60 * minute

/** What is due depends on the database's clock, which tests cannot move. */
const setUp = Effect.gen(function* () {
  const now = Date.now()
  yield* leap(now - (yield* Clock.currentTimeMillis))
  const member = yield* signUp()
  const token = member.access_token
  const { workspace_id } = member
  const executions = `${member.workspace}/executions`
  return {
    now,
    member,
    executions,
    run: (at: number, fields: Partial<RunOrExecution> = {}) =>
      runAt(at, { workspace_id, ...fields }),
    get: (query = "") => ask("GET", `${executions}${query}`, { token }),
    scheduled: (query = "") => ask("GET", `${executions}/scheduled${query}`, { token })
  }
})

const idsOf = ({ body }: Answer): ReadonlyArray<string> =>
  body.data.map(({ id }: { readonly id: string }) => id)

layer(testAppLayer())("executions that are scheduled for later", (it) => {
  it.effect("are not among past executions, and have a separate list, soonest first", () =>
    Effect.gen(function* () {
      const { get, member, now, run, scheduled } = yield* setUp
      const ran = run(now - hour)
      const going = run(now - minute, { status: "running" })
      const due = run(now - 1_000, { status: "queued" })
      yield* insertRuns([ran, going, due])
      const { body: later } = yield* ask("POST", `${member.workspace}/delayed`, {
        token: member.access_token,
        body: { url: "https://example.com/", run_at: new Date(now + 2 * hour).toISOString() }
      })
      const { body: sooner } = yield* ask("POST", `${member.workspace}/delayed`, {
        token: member.access_token,
        body: { url: "https://example.com/", delay_seconds: 60 }
      })
      assert.deepStrictEqual(idsOf(yield* get()), [due.id, going.id, ran.id])
      assert.deepStrictEqual(idsOf(yield* get("?status=queued")), [due.id])
      const { body } = yield* scheduled()
      assert.deepStrictEqual(
        body.data.map((one: { readonly task_id: string; readonly status: string }) => [
          one.task_id,
          one.status
        ]),
        [
          [sooner.id, "queued"],
          [later.id, "queued"]
        ]
      )
      assert.isNull(body.next_cursor)
      yield* ask("PATCH", `${member.workspace}/delayed/${later.id}`, {
        token: member.access_token,
        body: { tags: ["reports"] }
      })
      const tagged = yield* scheduled("?tag=reports&tag=unknown")
      assert.deepStrictEqual(
        tagged.body.data.map(({ task_id }: { readonly task_id: string }) => task_id),
        [later.id]
      )
    })
  )

  it.effect("are listed as executions once they have begun or are due", () =>
    Effect.gen(function* () {
      const { get, now, run, scheduled } = yield* setUp
      const early = run(now + minute, { status: "running" })
      const again = run(now - hour, {
        status: "queued",
        started_at: new Date(now - hour),
        attempts_count: 1
      })
      const skewed = run(now - 1_000, { id: makeRunId(now + minute, now), status: "queued" })
      yield* insertRuns([early, again, skewed])
      assert.sameMembers([...idsOf(yield* get())], [early.id, again.id, skewed.id])
      assert.deepStrictEqual(idsOf(yield* scheduled()), [])
    })
  )

  it.effect(
    "that were cancelled are executions from their time on, and at once by their status",
    () =>
      Effect.gen(function* () {
        const { get, now, run, scheduled } = yield* setUp
        const cancelled = run(now + hour, { status: "cancelled", started_at: null })
        const before = run(now - hour, { status: "cancelled", started_at: null })
        yield* insertRuns([cancelled, before])
        assert.deepStrictEqual(idsOf(yield* get()), [before.id])
        assert.deepStrictEqual(idsOf(yield* get("?status=cancelled")), [cancelled.id, before.id])
        assert.deepStrictEqual(idsOf(yield* scheduled()), [])
      })
  )

  it.effect("come page by page, by kind and by task", () =>
    Effect.gen(function* () {
      const { executions, member, now, run, scheduled } = yield* setUp
      const task_id = randomUUID()
      const runs = Array.from({ length: 25 }, (_, index) =>
        run(now + (index + 1) * hour, {
          status: "queued",
          kind: index % 2 === 0 ? "delayed" : "cron",
          ...(index % 5 === 0 ? { task_id } : {})
        })
      )
      yield* insertRuns(runs.toReversed())
      const pages = yield* readPages(`${executions}/scheduled`, member.access_token, 7)
      assert.deepStrictEqual(
        pages.flat().map(({ id }) => id),
        runs.map(({ id }) => id)
      )
      const ofTask = runs.filter((one) => one.task_id === task_id)
      assert.deepStrictEqual(
        idsOf(yield* scheduled(`?task_id=${task_id}`)),
        ofTask.map(({ id }) => id)
      )
      const crons = runs.filter(({ kind }) => kind === "cron")
      assert.deepStrictEqual(
        idsOf(yield* scheduled("?kind=cron&limit=100")),
        crons.map(({ id }) => id)
      )
      const other = yield* signUp()
      const peek = yield* ask("GET", `${executions}/scheduled`, { token: other.access_token })
      assert.strictEqual(statusAndError(peek), "404 not_found")
      assert.strictEqual(
        statusAndError(yield* scheduled("?status=queued")),
        "422 validation_failed"
      )
    })
  )
})
