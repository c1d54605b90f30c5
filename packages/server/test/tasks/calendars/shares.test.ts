import { assert, layer } from "@effect/vitest"
import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { DateTime, Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { CalendarReader } from "../../../src/tasks/calendars/CalendarReader.ts"
import { Calendars } from "../../../src/tasks/calendars/Calendars.ts"
import { CalendarsRepo } from "../../../src/tasks/calendars/CalendarsRepo.ts"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { allowedRange, RefreshingCalendarsLayer } from "./refreshing.ts"

const text = "BEGIN:VCALENDAR\r\nEND:VCALENDAR"

const save = ({ access_token: token, workspace }: Member, url: string) =>
  ask("POST", `${workspace}/cron`, {
    token,
    body: {
      name: "a task",
      url: "https://example.com/",
      schedule: "0 3 * * *",
      excluded_calendar: { url }
    }
  })

const withWorkspaces = Effect.fnUntraced(function* (member: Member, count: number) {
  const members = [member]
  while (members.length < count) {
    const { body } = yield* ask("POST", "/v1/workspaces", {
      token: member.access_token,
      body: { name: "another" }
    })
    members.push({ ...member, workspace: `/v1/workspaces/${body.id}`, workspace_id: body.id })
  }
  return members
})

/**
 * Starts a server that does not respond to requests whose path contains "slow" until `release` is
 * called.
 */
const startTarget = Effect.gen(function* () {
  const held: Array<ServerResponse> = []
  const state = { requests: 0 }
  const port = yield* httpTarget((request, response) => {
    state.requests++
    if (request.url?.includes("slow")) held.push(response)
    else response.end(text)
  })
  return {
    held,
    state,
    url: `http://127.0.0.1:${port}`,
    release: Effect.sync(() => {
      for (const response of held.splice(0)) response.end(text)
    })
  }
})

const config = { egressAllow: Result.getOrThrow(parseCidrs(allowedRange)) }

layer(RefreshingCalendarsLayer.pipe(Layer.provideMerge(testAppLayer(config))))(
  "calendars that are slow",
  (it) => {
    it.effect(
      "take only the share of their account, and do not keep others from saving tasks",
      () =>
        Effect.gen(function* () {
          const { held, release, url } = yield* startTarget
          const workspaces = yield* withWorkspaces(yield* signUp(), 8)
          const saving = yield* Effect.forEach(
            workspaces.flatMap((one) => [one, one]),
            (one, nr) => Effect.forkChild(save(one, `${url}/slow/${nr}`))
          )
          yield* TestClock.withLive(
            eventually(
              Effect.sync(() => held.length),
              (count) => count === 4
            )
          )
          const other = yield* signUp()
          for (let nr = 0; nr < 3; nr++) {
            assert.strictEqual((yield* save(other, `${url}/quick/${nr}`)).status, 201)
          }
          yield* TestClock.withLive(
            eventually(
              Effect.sync(() => saving.filter((fiber) => fiber.pollUnsafe() !== undefined).length),
              (count) => count === 12
            )
          )
          yield* release
          const answers = yield* Effect.forEach(saving, Fiber.join)
          const outcomes = Object.groupBy(answers, statusAndError)
          assert.strictEqual(outcomes["201"]?.length, 4)
          assert.strictEqual(outcomes["429 rate_limited"]?.length, 12)
        })
    )

    it.effect("are read twenty a minute for a workspace, however many a request names", () =>
      Effect.gen(function* () {
        const { state, url } = yield* startTarget
        const { access_token: token, workspace } = yield* signUp()
        const answer = yield* ask("POST", `${workspace}/cron/batch`, {
          token,
          body: {
            items: Array.from({ length: 100 }, (_, nr) => ({
              name: "a task",
              url: "https://example.com/",
              schedule: "0 3 * * *",
              excluded_calendar: { url: `${url}/${nr}` }
            }))
          }
        })
        assert.strictEqual(statusAndError(answer), "429 rate_limited")
        assert.strictEqual(state.requests, 20)
      })
    )

    it.effect("of its account leave a calendar that is due without an error, for later", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const reader = yield* CalendarReader
        const { held, release, url } = yield* startTarget
        const { body } = yield* save(yield* signUp(), `${url}/quick`)
        const [row] = yield* sql<{ readonly lane: bigint }>`
        SELECT lane
        FROM workspaces
        WHERE id = ${body.workspace_id}`
        const lane = row?.lane ?? 0n
        const reading = yield* Effect.forEach(["a", "b", "c", "d"], (workspace_id) =>
          Effect.forkChild(reader.read({ workspace_id, lane, url: `${url}/slow` }))
        )
        yield* TestClock.withLive(
          eventually(
            Effect.sync(() => held.length),
            (count) => count === 4
          )
        )
        const now = yield* DateTime.nowAsDate
        yield* sql`
        UPDATE calendars
        SET check_at = ${now}
        WHERE workspace_id = ${body.workspace_id}`
        while (yield* (yield* Calendars).refresh);
        const after = yield* sql`
        SELECT error, failures, check_at
        FROM calendars
        WHERE workspace_id = ${body.workspace_id}`
        const check_at = new Date(now.getTime() + 15_000)
        assert.deepStrictEqual(after, [{ error: null, failures: 0, check_at }])
        yield* release
        yield* Effect.forEach(reading, Fiber.join)
      })
    )

    it.effect("are claimed by alternating between accounts", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* startTarget
        const [hog, modest] = [yield* signUp(), yield* signUp()]
        for (let nr = 0; nr < 6; nr++) yield* save(hog, `${url}/${nr}`)
        yield* save(modest, `${url}/own`)
        const due = new Date("2000-01-01T00:00:00Z")
        yield* sql`
        UPDATE calendars
        SET check_at = ${due}
        WHERE workspace_id IN (${hog.workspace_id}, ${modest.workspace_id})`
        const claimed = yield* (yield* CalendarsRepo).claimDue(due, new Date(), 4)
        const ofModest = claimed.filter(({ workspace_id }) => workspace_id === modest.workspace_id)
        assert.deepStrictEqual([claimed.length, ofModest.length], [4, 1])
      })
    )
  }
)
