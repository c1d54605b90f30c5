import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey, statusAndError } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { setUpCron } from "./tasks.ts"

layer(testAppLayer())("the preview of a schedule", (it) => {
  it.effect("shows the next ten firings in UTC by default", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body, status } = yield* cron.preview({ schedule: "*/20 12 * * *" })
      assert.strictEqual(status, 200)
      assert.strictEqual(body.data.length, 10)
      assert.deepStrictEqual(body.data.slice(0, 3), [
        {
          at: "2026-06-01T12:20:00.000Z",
          local: "2026-06-01T12:20:00+00:00",
          clock_change: null,
          excluded: false
        },
        {
          at: "2026-06-01T12:40:00.000Z",
          local: "2026-06-01T12:40:00+00:00",
          clock_change: null,
          excluded: false
        },
        {
          at: "2026-06-02T12:00:00.000Z",
          local: "2026-06-02T12:00:00+00:00",
          clock_change: null,
          excluded: false
        }
      ])
      const { body: most } = yield* cron.preview({ schedule: "* * * * *", count: "100" })
      assert.strictEqual(most.data.length, 100)
    })
  )

  it.effect("searches ten years ahead, and further only for the first firing", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const years = (query: object) =>
        Effect.map(cron.preview({ count: "100", ...query }), ({ body }) =>
          body.data.map(({ at }: { readonly at: string }) => at.slice(0, 4))
        )
      assert.deepStrictEqual(yield* years({ schedule: "0 0 29 2 *" }), ["2028", "2032", "2036"])
      const leapSundays = { schedule: "0 0 *,29W 2 SUN#5" }
      assert.deepStrictEqual(yield* years(leapSundays), ["2032"])
      const later = { ...leapSundays, starts_at: "2033-01-01T00:00:00Z" }
      assert.deepStrictEqual(yield* years(later), ["2060"])
    })
  )

  it.effect("says what clock changes do", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const berlin = { schedule: "30 2 * * *", timezone: "Europe/Berlin" }
      yield* leap(Date.UTC(2026, 9, 24, 12) - testNow)
      const back = yield* cron.preview({ ...berlin, count: "2" })
      assert.deepStrictEqual(back.body.data, [
        {
          at: "2026-10-25T00:30:00.000Z",
          local: "2026-10-25T02:30:00+02:00",
          clock_change: null,
          excluded: false
        },
        {
          at: "2026-10-25T01:30:00.000Z",
          local: "2026-10-25T02:30:00+01:00",
          clock_change: "dropped",
          excluded: false
        },
        {
          at: "2026-10-26T01:30:00.000Z",
          local: "2026-10-26T02:30:00+01:00",
          clock_change: null,
          excluded: false
        }
      ])
      const both = yield* cron.preview({ ...berlin, count: "2", dst_overlap: "both" })
      assert.deepStrictEqual(
        both.body.data.map(({ at, clock_change }: Record<string, unknown>) => [at, clock_change]),
        [
          ["2026-10-25T00:30:00.000Z", null],
          ["2026-10-25T01:30:00.000Z", "doubled"]
        ]
      )
      yield* leap(Date.UTC(2027, 2, 27, 12) - Date.UTC(2026, 9, 24, 12))
      const forward = yield* cron.preview({ ...berlin, count: "1" })
      assert.deepStrictEqual(forward.body.data, [
        {
          at: "2027-03-28T01:00:00.000Z",
          local: "2027-03-28T03:00:00+02:00",
          clock_change: "moved",
          excluded: false
        }
      ])
    })
  )

  it.effect("rejects invalid schedules, and callers without access to tasks", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      for (const [query, path] of [
        [{}, ["schedule"]],
        [{ schedule: "61 * * * *" }, ["schedule"]],
        [{ schedule: "* * * * *", timezone: "CEST" }, ["timezone"]],
        [{ schedule: "* * * * *", dst_overlap: "last" }, ["dst_overlap"]],
        [{ schedule: "* * * * *", count: "0" }, ["count"]],
        [{ schedule: "* * * * *", count: "101" }, ["count"]],
        [{ schedule: "* * * * *", from: "now" }, ["from"]],
        [
          { schedule: "* * * * *", excluded_calendar: "https://example.com/days.ics" },
          ["excluded_calendar"]
        ]
      ] as const) {
        const answer = yield* cron.preview(query)
        assert.strictEqual(statusAndError(answer), "422 validation_failed", JSON.stringify(query))
        assert.deepStrictEqual(answer.body.detail.issues[0].path, path)
      }
      const { key } = yield* createKey(member, { scopes: ["executions:read"] })
      const blind = yield* ask("GET", `${member.workspace}/cron/preview?schedule=*+*+*+*+*`, {
        token: key
      })
      assert.strictEqual(statusAndError(blind), "403 insufficient_scope")
    })
  )
})
