import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { chainClientOf, runOf } from "../chains/chains.ts"
import { setUpCron, cronClientOf, insertRun } from "../cron/tasks.ts"
import { insertRuns, runAt } from "../executions/history.ts"
import { type Answer, ask, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"

const minuteMs = 60_000

const beginActivity = Effect.gen(function* () {
  const { cron, key: token, member } = yield* setUpCron
  const activity = (path: string) => ask("GET", `${member.workspace}/activity/${path}`, { token })
  return {
    cron,
    member,
    chains: chainClientOf({ ...member, access_token: token }),
    delay: (name: string | undefined, run_at: string) =>
      ask("POST", `${member.workspace}/delayed`, {
        token,
        body: { ...(name && { name }), run_at, url: "https://api.example.com/once" }
      }),
    failing: (query = "") => activity(`failing${query}`),
    upcoming: (query = "") => activity(`upcoming${query}`),
    recent: (ids: ReadonlyArray<string>, more = "") =>
      activity(`recent?task_ids=${ids.join(",")}${more}`),
    names: (ids: ReadonlyArray<string>) => activity(`names?task_ids=${ids.join(",")}`),
    /** Inserts runs of this task that finished the given numbers of minutes ago. */
    ended: (
      taskId: string,
      ...runs: ReadonlyArray<readonly [minutesAgo: number, status: string]>
    ) =>
      insertRuns(
        runs.map(([minutesAgo, status]) =>
          runAt(testNow - minutesAgo * minuteMs, {
            workspace_id: member.workspace_id,
            task_id: taskId,
            status: status as "failed"
          })
        )
      )
  }
})

const idsOf = ({ body }: Answer): ReadonlyArray<string> =>
  body.data.map(({ task_id }: { readonly task_id: string }) => task_id)

interface Shown {
  readonly id: string
  readonly status: string
  readonly duration_ms: number | null
}

const runsOf = ({ body }: Answer): ReadonlyMap<string, ReadonlyArray<Shown>> =>
  new Map(
    body.data.map((task: { readonly task_id: string; readonly runs: ReadonlyArray<Shown> }) => [
      task.task_id,
      task.runs
    ])
  )

layer(testAppLayer())("the list of failing tasks", (it) => {
  it.effect("has tasks of all kinds, latest failure first", () =>
    Effect.gen(function* () {
      const { chains, cron, ended, failing } = yield* beginActivity
      const { body: once } = yield* cron.create({ name: "Failed once" })
      const { body: again } = yield* cron.create({ name: "Failed again" })
      const { body: well } = yield* cron.create({ name: "Works again" })
      const { body: paused } = yield* cron.create({ name: "Paused" })
      const { body: chain } = yield* chains.create({ name: "Chain" })
      yield* ended(once.id, [50, "succeeded"], [40, "failed"], [1, "skipped"], [0, "cancelled"])
      yield* ended(again.id, [30, "failed"], [20, "failed"])
      yield* ended(well.id, [10, "failed"], [5, "succeeded"])
      yield* ended(paused.id, [3, "failed"])
      yield* cron.act(paused.id, "pause")
      yield* insertRuns(
        runOf(chain, testNow - 30 * minuteMs, [
          { step: "login" },
          {
            step: "close",
            status: "failed",
            status_code: 500,
            error: "http_status: responded with 500"
          },
          { step: "alarm" }
        ])
      )

      const { body } = yield* failing()
      assert.deepStrictEqual(
        body.data.map(({ kind, name }: { readonly kind: string; readonly name: string }) => [
          kind,
          name
        ]),
        [
          ["cron", "Failed again"],
          ["chain", "Chain"],
          ["cron", "Failed once"]
        ]
      )
      assert.strictEqual(body.data[1].execution.step, "close")
      assert.deepStrictEqual(body.data[1].execution.error, {
        code: "http_status",
        message: "responded with 500"
      })
      assert.deepStrictEqual(idsOf(yield* failing("?limit=1")), [again.id])
    })
  )

  it.effect("keeps failing until the next run of a chain has finished", () =>
    Effect.gen(function* () {
      const { chains, failing } = yield* beginActivity
      const { body: chain } = yield* chains.create()
      yield* insertRuns(runOf(chain, testNow - 30 * minuteMs, [{ status: "failed" }]))
      yield* insertRuns(runOf(chain, testNow - 20 * minuteMs, [{}, { status: "running" }]))
      assert.deepStrictEqual(idsOf(yield* failing()), [chain.id])
      yield* insertRuns(runOf(chain, testNow - 10 * minuteMs, [{}, {}]))
      assert.deepStrictEqual(idsOf(yield* failing()), [])
    })
  )

  it.effect("is found beneath a flood of failures of another task, up to the bound", () =>
    Effect.gen(function* () {
      const { cron, ended, failing } = yield* beginActivity
      const { body: quiet } = yield* cron.create({ name: "Quiet" })
      const { body: loud } = yield* cron.create({ name: "Loud" })
      yield* ended(quiet.id, [600, "failed"])
      yield* ended(loud.id, ...Array.from({ length: 500 }, (_, n) => [n / 2, "failed"] as const))
      assert.deepStrictEqual(idsOf(yield* failing()), [loud.id, quiet.id])
      yield* ended(loud.id, ...Array.from({ length: 500 }, (_, n) => [n / 3, "failed"] as const))
      assert.deepStrictEqual(idsOf(yield* failing()), [loud.id])
    })
  )
})

layer(testAppLayer())("the list of upcoming runs", (it) => {
  it.effect("has the next run of each task, soonest first", () =>
    Effect.gen(function* () {
      const { chains, cron, delay, upcoming } = yield* beginActivity
      const { body: nightly } = yield* cron.create({ name: "Nightly", schedule: "0 3 * * *" })
      const { body: soon } = yield* cron.create({ name: "Soon", schedule: "5 12 * * *" })
      const { body: paused } = yield* cron.create({ name: "Paused", schedule: "1 12 * * *" })
      yield* cron.act(paused.id, "pause")
      const { body: chain } = yield* chains.create({ name: "Chain", schedule: "0 2 * * *" })
      yield* chains.create({ name: "By hand only" })
      const { body: once } = yield* delay(undefined, "2026-06-01T12:30:00.000Z")

      const { body } = yield* upcoming()
      assert.deepStrictEqual(body.data, [
        {
          kind: "cron",
          task_id: soon.id,
          name: "Soon",
          url: soon.url,
          at: "2026-06-01T12:05:00.000Z"
        },
        {
          kind: "delayed",
          task_id: once.id,
          name: null,
          url: once.url,
          at: "2026-06-01T12:30:00.000Z"
        },
        {
          kind: "chain",
          task_id: chain.id,
          name: "Chain",
          url: null,
          at: "2026-06-02T02:00:00.000Z"
        },
        {
          kind: "cron",
          task_id: nightly.id,
          name: "Nightly",
          url: nightly.url,
          at: "2026-06-02T03:00:00.000Z"
        }
      ])
      assert.deepStrictEqual(idsOf(yield* upcoming("?limit=2")), [soon.id, once.id])
    })
  )

  it.effect("is shown with its jitter, as the task shows it", () =>
    Effect.gen(function* () {
      const { cron, upcoming } = yield* beginActivity
      const { body: task } = yield* cron.create({ schedule: "0 3 * * *", jitter_seconds: 3_000 })
      const { body } = yield* upcoming()
      assert.strictEqual(body.data[0].at, task.next_run_at)
      assert.notStrictEqual(task.next_run_at, "2026-06-02T03:00:00.000Z")
    })
  )
})

layer(testAppLayer())("the recent runs of many tasks", (it) => {
  it.effect("are their outcomes and durations, newest first", () =>
    Effect.gen(function* () {
      const { chains, cron, ended, member, recent } = yield* beginActivity
      const { body: task } = yield* cron.create()
      const { body: never } = yield* cron.create({ name: "Never ran" })
      const { body: chain } = yield* chains.create()
      yield* ended(task.id, [30, "succeeded"], [20, "failed"], [10, "skipped"])
      yield* insertRun(member.workspace_id, task.id, {
        slot: new Date(testNow),
        now: testNow,
        state: "running"
      })
      yield* insertRuns(runOf(chain, testNow - 30 * minuteMs, [{}, { status: "failed" }, {}]))
      yield* insertRuns(runOf(chain, testNow - 20 * minuteMs, [{}, {}, { status: "skipped" }]))
      yield* insertRuns(runOf(chain, testNow - 10 * minuteMs, [{}, { status: "running" }]))

      const byTask = runsOf(yield* recent([chain.id, task.id, never.id, randomUUID()]))
      assert.strictEqual(byTask.size, 2)
      const shown = (id: string) =>
        byTask.get(id)?.map(({ duration_ms, status }) => [status, duration_ms])
      assert.deepStrictEqual(shown(task.id), [
        ["skipped", null],
        ["failed", 0],
        ["succeeded", 0]
      ])
      assert.deepStrictEqual(shown(chain.id), [
        ["succeeded", 2_000],
        ["failed", 2_000]
      ])
      const latest = runsOf(yield* recent([task.id], "&runs=1"))
      assert.deepStrictEqual(latest.get(task.id), byTask.get(task.id)?.slice(0, 1))
      const { body } = yield* chains.runs(chain.id)
      assert.strictEqual(byTask.get(chain.id)?.[0]?.id, body.data[1].id)
    })
  )

  it.effect("are not shown to another workspace", () =>
    Effect.gen(function* () {
      const { cron, ended } = yield* beginActivity
      const { body: task } = yield* cron.create()
      yield* ended(task.id, [1, "failed"])
      const stranger = yield* signUp()
      yield* cronClientOf(stranger).create()
      for (const path of [`recent?task_ids=${task.id}`, `names?task_ids=${task.id}`, "failing"]) {
        const { body } = yield* ask("GET", `${stranger.workspace}/activity/${path}`, {
          token: stranger.access_token
        })
        assert.deepStrictEqual(body, { data: [] })
      }
    })
  )

  it.effect("are shown for up to 100 tasks in one request, whose ids are UUIDs", () =>
    Effect.gen(function* () {
      const { recent } = yield* beginActivity
      const ids = Array.from({ length: 101 }, () => randomUUID())
      assert.strictEqual(statusAndError(yield* recent(ids.slice(1))), "200")
      assert.strictEqual(statusAndError(yield* recent(ids)), "422 validation_failed")
      assert.strictEqual(statusAndError(yield* recent(["nothing"])), "422 validation_failed")
      assert.strictEqual(
        statusAndError(yield* recent([ids[0]!], "&runs=21")),
        "422 validation_failed"
      )
    })
  )
})

layer(testAppLayer())("the names of many tasks", (it) => {
  it.effect("cover all kinds of tasks, and leave out ids that do not exist", () =>
    Effect.gen(function* () {
      const { chains, cron, delay, names } = yield* beginActivity
      const { body: task } = yield* cron.create({ name: "Nightly" })
      const { body: chain } = yield* chains.create({ name: "Export" })
      const { body: unnamed } = yield* delay(undefined, "2026-06-02T00:00:00.000Z")
      const ids = [task.id, chain.id, unnamed.id, task.id, randomUUID()]
      const { body } = yield* names(ids)
      const shown = body.data.map(({ kind, name, task_id, url }: Record<string, unknown>) => [
        task_id,
        kind,
        name,
        url
      ])
      assert.sameDeepMembers(shown, [
        [task.id, "cron", "Nightly", task.url],
        [chain.id, "chain", "Export", null],
        [unnamed.id, "delayed", null, unnamed.url]
      ])
    })
  )

  it.effect("cover up to 100 tasks in one request, whose ids are UUIDs", () =>
    Effect.gen(function* () {
      const { names } = yield* beginActivity
      const ids = Array.from({ length: 101 }, () => randomUUID())
      assert.strictEqual(statusAndError(yield* names(ids.slice(1))), "200")
      assert.strictEqual(statusAndError(yield* names(ids)), "422 validation_failed")
      assert.strictEqual(statusAndError(yield* names(["nothing"])), "422 validation_failed")
    })
  )
})
