import { assert, layer } from "@effect/vitest"
import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { maxBatchItems } from "@scheduling/domain/shared/requests/Batch"
import { Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { maxCalendarBytes } from "../../../src/tasks/calendars/CalendarReader.ts"
import { Calendars } from "../../../src/tasks/calendars/Calendars.ts"
import { selfHostedPlan } from "../../../src/core/config/plans.ts"
import { fire } from "../../../src/engine/transitions/fire.ts"
import { setUpChains, chainClientOf } from "../chains/chains.ts"
import { setUpCron } from "../cron/tasks.ts"
import { ask, statusAndError } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { allowedRange, RefreshingCalendarsLayer } from "./refreshing.ts"

const calendar = (...days: ReadonlyArray<string>) =>
  [
    "BEGIN:VCALENDAR",
    ...days.flatMap((day) => ["BEGIN:VEVENT", `DTSTART;VALUE=DATE:${day}`, "END:VEVENT"]),
    "END:VCALENDAR"
  ].join("\r\n")

/** Starts a server whose response the test can change. Tasks fire at 03:00, and today is 1 June. */
const start = Effect.gen(function* () {
  const { cron, key, member } = yield* setUpCron
  const state = {
    requests: 0,
    answer: (response: ServerResponse): void => void response.end(calendar("20260602"))
  }
  const port = yield* httpTarget((_, response) => {
    state.requests++
    state.answer(response)
  })
  return {
    cron,
    member,
    state,
    chains: chainClientOf({ ...member, access_token: key }),
    url: `http://127.0.0.1:${port}/days.ics`,
    says: (text: string) => {
      state.answer = (response) => void response.end(text)
    },
    refresh: Effect.gen(function* () {
      yield* leap("25 hours")
      const { refresh } = yield* Calendars
      while (yield* refresh);
    })
  }
})

const config = { egressAllow: Result.getOrThrow(parseCidrs(allowedRange)) }

layer(RefreshingCalendarsLayer.pipe(Layer.provideMerge(testAppLayer(config))))(
  "a calendar",
  (it) => {
    it.effect("excludes its days in the time zone of the schedule, read once for many tasks", () =>
      Effect.gen(function* () {
        yield* setUpChains
        const { chains, cron, state, url } = yield* start
        const excluded_calendar = { url }
        const made = yield* cron.create({ excluded_calendar })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.strictEqual(made.body.next_run_at, "2026-06-03T03:00:00.000Z")
        const shown = { url, fetched_at: "2026-06-01T12:00:00.000Z", error: null, days: 1 }
        assert.deepStrictEqual(made.body.excluded_calendar, shown)
        assert.deepStrictEqual((yield* cron.get(made.body.id)).body, made.body)
        assert.deepStrictEqual((yield* cron.list()).body.data, [made.body])
        const others = yield* Effect.all(
          [
            cron.create({ excluded_calendar, timezone: "Asia/Tokyo" }),
            chains.create({
              excluded_calendar,
              schedule: "0 3 * * *",
              excluded_days: ["2026-06-03"]
            })
          ],
          { concurrency: 2 }
        )
        assert.deepStrictEqual(
          others.map(({ body }) => body.next_run_at),
          ["2026-06-02T18:00:00.000Z", "2026-06-04T03:00:00.000Z"]
        )
        assert.deepStrictEqual(others[1].body.excluded_calendar, shown)
        assert.strictEqual(state.requests, 1)
        const query = { schedule: "0 3 * * *", count: "1", excluded_calendar: url }
        const { body } = yield* cron.preview(query)
        assert.deepStrictEqual(
          body.data.map(({ excluded }: { readonly excluded: boolean }) => excluded),
          [true, false]
        )
        const bare = yield* cron.update(made.body.id, { excluded_calendar: null })
        assert.isNull(bare.body.excluded_calendar)
        assert.strictEqual(bare.body.next_run_at, "2026-06-02T03:00:00.000Z")
      })
    )

    it.effect("is left out by the forecast", () =>
      Effect.gen(function* () {
        const { cron, member, url } = yield* start
        yield* cron.create({ excluded_calendar: { url } })
        const at = `${member.workspace}/forecast?to=2026-06-04T00:00:00Z`
        const { body } = yield* ask("GET", at, { token: member.access_token })
        assert.deepStrictEqual(body.minutes, [{ at: "2026-06-03T03:00:00.000Z", runs: 1 }])
      })
    )

    it.effect("is read once a day, and its tasks follow", () =>
      Effect.gen(function* () {
        const { cron, refresh, says, state, url } = yield* start
        const { body: task } = yield* cron.create({ excluded_calendar: { url } })
        const { body: paused } = yield* cron.create({ excluded_calendar: { url } })
        yield* cron.act(paused.id, "pause")
        says(calendar("20260603", "20260604", "20260605"))
        yield* refresh
        assert.strictEqual(state.requests, 2)
        const later = (yield* cron.get(task.id)).body
        assert.strictEqual(later.next_run_at, "2026-06-06T03:00:00.000Z")
        assert.strictEqual(later.updated_at, task.updated_at)
        assert.deepInclude(later.excluded_calendar, {
          fetched_at: "2026-06-02T13:00:00.000Z",
          days: 3
        })
        assert.isNull((yield* cron.get(paused.id)).body.next_run_at)
        says(calendar("20270101"))
        yield* refresh
        assert.strictEqual((yield* cron.get(task.id)).body.next_run_at, "2026-06-04T03:00:00.000Z")
      })
    )

    it.effect("keeps the days of its last good copy when the file is missing, and says so", () =>
      Effect.gen(function* () {
        const { cron, refresh, says, state, url } = yield* start
        const { body: task } = yield* cron.create({ excluded_calendar: { url } })
        state.answer = (response) => void response.writeHead(404).end("gone")
        yield* refresh
        const gone = (yield* cron.get(task.id)).body
        assert.strictEqual(gone.next_run_at, task.next_run_at)
        assert.deepStrictEqual(gone.excluded_calendar, {
          ...task.excluded_calendar,
          error: "the server responded with 404"
        })
        says("<!doctype html>")
        yield* refresh
        assert.strictEqual(
          (yield* cron.get(task.id)).body.excluded_calendar.error,
          "it is not a complete iCalendar file"
        )
        // Another task can use a calendar that the service already knows.
        assert.strictEqual((yield* cron.create({ excluded_calendar: { url } })).status, 201)
        says(calendar("20260610"))
        yield* refresh
        assert.deepInclude((yield* cron.get(task.id)).body.excluded_calendar, {
          fetched_at: "2026-06-04T15:00:00.000Z",
          error: null
        })
      })
    )

    it.effect("is rejected if it cannot be read or is not a calendar", () =>
      Effect.gen(function* () {
        const { cron, says, state, url } = yield* start
        const other = yield* httpTarget((_, response) => void response.end())
        const refusedFor = Effect.fnUntraced(function* (at: string = url) {
          const answer = yield* cron.create({ excluded_calendar: { url: at } })
          assert.strictEqual(statusAndError(answer), "422 validation_failed")
          const [issue] = answer.body.detail.issues
          assert.deepStrictEqual(issue.path, ["excluded_calendar", "url"])
          return issue.message
        })
        says("<!doctype html>")
        assert.strictEqual(
          yield* refusedFor(),
          "excluded_calendar.url could not be read: it is not a complete iCalendar file."
        )
        state.answer = (response) => void response.writeHead(500).end()
        assert.strictEqual(
          yield* refusedFor(),
          "excluded_calendar.url could not be read: the server responded with 500."
        )
        says(calendar("20260602").padEnd(maxCalendarBytes, "\n"))
        assert.strictEqual(
          yield* refusedFor(),
          `excluded_calendar.url could not be read: it is too large: the limit is ${maxCalendarBytes} bytes.`
        )
        says(calendar("20260602").padEnd(2 * maxCalendarBytes, "\n"))
        assert.match(yield* refusedFor(), /it is too large: the limit is \d+ bytes\.$/)
        for (const location of ["http://169.254.169.254/", `http://127.0.0.1:${other}/`]) {
          state.answer = (response) => void response.writeHead(302, { location }).end()
          assert.strictEqual(
            yield* refusedFor(),
            "excluded_calendar.url could not be read: the server responded with 302, and redirects are not followed."
          )
        }
        state.answer = (response) => response.destroy()
        assert.match(yield* refusedFor(), /^excluded_calendar\.url could not be read: connection/)
        assert.match(yield* refusedFor("http://10.0.0.1/"), /which this service may not call/)
        assert.strictEqual((yield* cron.list()).body.data.length, 0)
      })
    )

    it.effect("that hangs is aborted", () =>
      Effect.gen(function* () {
        const { cron, state, url } = yield* start
        const asked = new Promise<void>((resolve) => {
          state.answer = () => resolve()
        })
        const asking = yield* Effect.forkChild(cron.create({ excluded_calendar: { url } }))
        yield* Effect.promise(() => asked)
        yield* leap("11 seconds")
        const answer = yield* Fiber.join(asking)
        assert.match(answer.body.detail.issues[0].message, /timeout after 10 s/)
      })
    )

    it.effect("counts towards the limit of the plan while a task uses it", () =>
      Effect.gen(function* () {
        const { cron, member, state, url } = yield* start
        const { calendars } = selfHostedPlan.limits
        const used = Effect.gen(function* () {
          const { body } = yield* ask("GET", `${member.workspace}/billing`, {
            token: member.access_token
          })
          return body.usage.find(({ quota }: { quota: string }) => quota === "calendars").used
        })
        const { body: restless } = yield* cron.create()
        for (let made = 0; made < calendars; made++) {
          const excluded_calendar = { url: `${url}?${made}` }
          assert.strictEqual((yield* cron.update(restless.id, { excluded_calendar })).status, 200)
        }
        assert.strictEqual(yield* used, 1)
        yield* cron.remove(restless.id)
        assert.strictEqual(yield* used, 0)
        const ids: Array<string> = []
        for (let made = 0; made < calendars; made++) {
          ids.push((yield* cron.create({ excluded_calendar: { url: `${url}?${made}` } })).body.id)
        }
        const more = { excluded_calendar: { url: `${url}?more` } }
        const limit = { quota: "calendars", limit: calendars }
        const { requests } = state
        assert.deepInclude((yield* cron.create(more)).body.detail, limit)
        assert.strictEqual(state.requests, requests, "nothing is fetched beyond the plan")
        yield* TestClock.adjust("1 minute")
        const [first = "", second = ""] = ids
        const shared = { excluded_calendar: { url: `${url}?1` } }
        assert.strictEqual((yield* cron.create(shared)).status, 201)
        // A calendar that is no longer used after the update does not count. A calendar that another
        // task uses still counts.
        assert.deepInclude((yield* cron.update(second, more)).body.detail, limit)
        assert.strictEqual((yield* cron.update(first, more)).status, 200)
        yield* cron.remove(first)
        assert.strictEqual((yield* cron.update(second, more)).status, 200)
      })
    )

    it.effect("that no task uses is kept for a while, up to a limit", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cron, member, refresh, state, url } = yield* start
        const count = Effect.map(
          sql`
          SELECT id
          FROM calendars
          WHERE workspace_id = ${member.workspace_id}`,
          (rows) => rows.length
        )
        yield* cron.create({ excluded_calendar: { url } })
        const { body: restless } = yield* cron.create()
        for (let made = 0; made < maxBatchItems + 5; made++) {
          yield* TestClock.adjust("3 seconds")
          const excluded_calendar = { url: `${url}?${made}` }
          assert.strictEqual((yield* cron.update(restless.id, { excluded_calendar })).status, 200)
        }
        const { requests } = state
        yield* cron.update(restless.id, { excluded_calendar: { url: `${url}?${maxBatchItems}` } })
        assert.strictEqual(state.requests, requests)
        assert.strictEqual(yield* count, maxBatchItems + 2)
        yield* refresh
        assert.strictEqual(yield* count, 2)
      })
    )

    it.effect("also applies to a slot that was chosen before the calendar changed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cron, url } = yield* start
        const { body: task } = yield* cron.create({ excluded_calendar: { url } })
        // Simulates a day that was excluded while a node was down, after the node had chosen the
        // slot.
        yield* sql`
        UPDATE calendars
        SET days = to_jsonb(ARRAY[to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')])
        WHERE url = ${url}`
        yield* sql`
        UPDATE tasks
        SET schedule = '* * * * *', next_fire_at = date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
        WHERE id = ${task.id}`
        const options = { node: 1, limit: 500, lookAheadMs: 0, turns: null, leases: () => false }
        yield* fire(sql, options)
        const runs = yield* sql`SELECT id FROM runs WHERE task_id = ${task.id}`
        assert.strictEqual(runs.length, 0)
        const [{ next } = { next: 0 }] = yield* sql<{ readonly next: number }>`
        SELECT date_part('epoch', next_fire_at - date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS next
        FROM tasks
        WHERE id = ${task.id}`
        assert.strictEqual(next, 86_400)
      })
    )
  }
)
