import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chainClientOf } from "../chains/chains.ts"
import { setUpCron, cronClientOf } from "../cron/tasks.ts"
import { ask, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const beginForecast = Effect.gen(function* () {
  const { cron, key: token, member } = yield* setUpCron
  return {
    cron,
    member,
    chains: chainClientOf({ ...member, access_token: token }),
    delay: (name: string, run_at: string) =>
      ask("POST", `${member.workspace}/delayed`, {
        token,
        body: { name, run_at, url: "https://api.example.com/once" }
      }),
    forecast: (query: Readonly<Record<string, string>> = {}) =>
      ask("GET", `${member.workspace}/forecast?${new URLSearchParams(query)}`, { token })
  }
})

const hour = { from: "2026-06-02T03:00:00.000Z", to: "2026-06-02T04:00:00.000Z" }
const inSevenDays = "2026-06-08T12:00:00.000Z"

/** Inserts active tasks directly, because creating them with requests would take too long. */
const insertCrons = Effect.fnUntraced(function* (
  workspaceId: string,
  schedules: ReadonlyArray<string>
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tasks (
      id, workspace_id, kind, name, status, method, url, headers, timeout_seconds, retry_count,
      schedule, timezone, overlap, missed, dst_overlap, lane, created_at, updated_at
    )
    SELECT
      gen_random_uuid(), ${workspaceId}::uuid, 'cron', 'Crowd', 'active', 'POST',
      'https://api.example.com/', '{}', 30, 0, schedule, 'UTC', 'skip', 'once', 'first', 0, now(),
      now()
    FROM unnest(${schedules}::text[]) AS schedule`
})

layer(testAppLayer())("a forecast", (it) => {
  it.effect("says how many runs begin in each minute, and which tasks collide", () =>
    Effect.gen(function* () {
      const { chains, cron, delay, forecast } = yield* beginForecast
      const { body: nightly } = yield* cron.create({ name: "Nightly", schedule: "0 3 * * *" })
      const { body: berlin } = yield* cron.create({
        name: "Berlin",
        schedule: "0 5 * * *",
        timezone: "Europe/Berlin"
      })
      yield* cron.create({ name: "Half", schedule: "30 3 * * *" })
      const { body: chain } = yield* chains.create({ name: "Chain", schedule: "0 3 * * *" })
      yield* chains.create({ name: "By hand only" })
      const { body: paused } = yield* cron.create({ name: "Paused", schedule: "0 3 * * *" })
      yield* cron.act(paused.id, "pause")
      const { body: late } = yield* delay("Late", "2026-06-02T03:00:59.999Z")
      yield* delay("After it", "2026-06-02T04:00:00.000Z")

      const { body, status } = yield* forecast(hour)
      assert.strictEqual(status, 200)
      const { busiest, ...rest } = body
      assert.deepStrictEqual(rest, {
        ...hour,
        runs: 5,
        minutes: [
          { at: "2026-06-02T03:00:00.000Z", runs: 4 },
          { at: "2026-06-02T03:30:00.000Z", runs: 1 }
        ],
        spread: [
          { seconds: 0, most_per_second: 3.02 },
          { seconds: 60, most_per_second: 0.07 },
          { seconds: 300, most_per_second: 0.03 },
          { seconds: 900, most_per_second: 0.02 }
        ]
      })
      assert.strictEqual(busiest.length, 1)
      assert.deepInclude(busiest[0], { at: "2026-06-02T03:00:00.000Z", runs: 4 })
      assert.sameDeepMembers(busiest[0].tasks, [
        { kind: "cron", task_id: nightly.id, name: "Nightly" },
        { kind: "cron", task_id: berlin.id, name: "Berlin" },
        { kind: "chain", task_id: chain.id, name: "Chain" },
        { kind: "delayed", task_id: late.id, name: "Late" }
      ])
    })
  )

  it.effect("counts schedules with seconds in their minutes and seconds", () =>
    Effect.gen(function* () {
      const { cron, forecast } = yield* beginForecast
      yield* cron.create({ schedule: "*/5 * 3 * * *", precision: "second" })
      yield* cron.create({ schedule: "*/10 0 3 * * *", precision: "second" })
      yield* cron.create({ schedule: "0 3 * * *" })
      const to = "2026-06-02T03:02:00.000Z"
      const { body } = yield* forecast({ ...hour, to })
      assert.strictEqual(body.runs, 12 + 6 + 1 + 12)
      assert.deepStrictEqual(body.minutes, [
        { at: "2026-06-02T03:00:00.000Z", runs: 19 },
        { at: "2026-06-02T03:01:00.000Z", runs: 12 }
      ])
      assert.strictEqual(body.busiest[0].tasks.length, 3)
      assert.deepStrictEqual(body.spread.slice(0, 2), [
        { seconds: 0, most_per_second: 3 },
        { seconds: 60, most_per_second: 0.32 }
      ])
    })
  )

  it.effect("leaves out slots before a start, after an end and on excluded days", () =>
    Effect.gen(function* () {
      const { cron, forecast } = yield* beginForecast
      const schedule = "0 0 * * *"
      yield* cron.create({
        schedule,
        timezone: "Asia/Tokyo",
        starts_at: "2026-06-02T15:00:00Z",
        ends_at: "2026-06-05T15:00:00Z",
        excluded_days: ["2026-06-04", "2026-12-24"],
        jitter_seconds: 30
      })
      const { body } = yield* forecast({ to: inSevenDays })
      assert.deepStrictEqual(
        body.minutes.map(({ at }: { readonly at: string }) => at),
        ["2026-06-02T15:00:00.000Z", "2026-06-04T15:00:00.000Z", "2026-06-05T15:00:00.000Z"]
      )
      yield* cron.create({ schedule: "0 15 2 * *" })
      const together = (yield* forecast({ to: inSevenDays })).body.busiest
      assert.strictEqual(together.length, 1)
      assert.strictEqual(together[0].tasks.length, 2)
    })
  )

  it.effect("begins now and is a day long by default", () =>
    Effect.gen(function* () {
      const { cron, forecast } = yield* beginForecast
      yield* cron.create({ schedule: "0 * * * *" })
      const day = { from: "2026-06-01T12:00:00.000Z", to: "2026-06-02T12:00:00.000Z" }
      assert.deepInclude((yield* forecast()).body, { ...day, runs: 24 })
      const past = yield* forecast({ from: "2020-01-01T00:00:00Z" })
      assert.deepInclude(past.body, { ...day, runs: 24 })
      const week = yield* forecast({ to: inSevenDays })
      assert.strictEqual(week.body.runs, 7 * 24)
      assert.isEmpty(week.body.busiest)
    })
  )

  it.effect("of more than 7 days, of the past and of the far future is rejected", () =>
    Effect.gen(function* () {
      const { forecast } = yield* beginForecast
      const refused: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
        ["to", { to: "2026-06-08T12:00:00.001Z" }],
        ["to", { to: "2026-06-01T12:00:00Z" }],
        ["to", { from: "2026-06-03T00:00:00Z", to: "2026-06-02T00:00:00Z" }],
        ["from", { from: "2027-06-02T12:00:00Z" }],
        ["days", { days: "3" }]
      ]
      for (const [path, query] of refused) {
        const answer = yield* forecast(query)
        assert.strictEqual(statusAndError(answer), "422 validation_failed")
        assert.deepStrictEqual(answer.body.detail.issues[0].path, [path])
      }
    })
  )

  it.effect("counts ten thousand tasks with one schedule together, and names ten of them", () =>
    Effect.gen(function* () {
      const { forecast, member } = yield* beginForecast
      const crowd = Array.from({ length: 10_000 }, () => "* * * * *")
      yield* insertCrons(member.workspace_id, crowd)
      const { body } = yield* forecast({ to: inSevenDays })
      assert.strictEqual(body.runs, 7 * 24 * 60 * 10_000)
      assert.strictEqual(body.minutes.length, 7 * 24 * 60)
      assert.strictEqual(body.busiest.length, 10)
      for (const { runs, tasks } of body.busiest) {
        assert.strictEqual(runs, 10_000)
        assert.strictEqual(tasks.length, 10)
      }
    })
  )

  it.effect("of too many different schedules is rejected, and of less time is not", () =>
    Effect.gen(function* () {
      const { forecast, member } = yield* beginForecast
      // Schedules with the same slots, written in different ways.
      const different = Array.from({ length: 600 }, (_, index) => {
        const minutes = `${index % 60},*`
        const hours = `${Math.floor(index / 60)},*`
        return `${minutes} ${hours} * * *`
      })
      yield* insertCrons(member.workspace_id, different)
      const refused = yield* forecast({ to: inSevenDays })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      const message =
        "to must be earlier, because the schedules have more than 5000000 slots until then."
      assert.deepStrictEqual(refused.body.detail.issues, [
        { path: ["to"], code: "out_of_range", message }
      ])
      const { body } = yield* forecast({ to: "2026-06-01T18:00:00Z" })
      assert.strictEqual(body.runs, 600 * 6 * 60)
    })
  )

  it.effect("is not shown to others, and counts nothing of other workspaces", () =>
    Effect.gen(function* () {
      const { member } = yield* beginForecast
      yield* cronClientOf(member).create({ schedule: "* * * * *" })
      const { access_token: token, workspace } = yield* signUp()
      const own = yield* ask("GET", `${workspace}/forecast`, { token })
      assert.deepInclude(own.body, { runs: 0, minutes: [], busiest: [] })
      const others = yield* ask("GET", `${member.workspace}/forecast`, { token })
      assert.strictEqual(statusAndError(others), "404 not_found")
    })
  )
})
