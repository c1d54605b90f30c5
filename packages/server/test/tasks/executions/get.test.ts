import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { insertRuns, runAt, type RunOrExecution } from "./history.ts"

interface Try {
  readonly number: number
  readonly started_at: Date
  readonly finished_at: Date | null
  readonly status_code?: number
  readonly response_body?: string
  readonly error?: string
  readonly node?: number
  readonly exchange?: string
}

const insertAttempts = Effect.fnUntraced(function* (
  run: RunOrExecution,
  tries: ReadonlyArray<Try>
) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(tries, (attempt) => {
    const { id: execution_id, workspace_id } = run
    return sql`INSERT INTO earlier_attempts ${sql.insert({ execution_id, workspace_id, ...attempt })}`
  })
})

const firstTries: ReadonlyArray<Try> = [
  {
    number: 1,
    started_at: new Date(now),
    finished_at: new Date(now + 131),
    status_code: 503,
    response_body: 'busy "again"',
    error: "http_status: responded with 503",
    node: 7,
    exchange: "1,2,,40\nvary: accept\nvary: cookie\nlast: cut o"
  },
  {
    number: 2,
    started_at: new Date(now + 1_500),
    finished_at: null,
    error: "node_lost: the node was lost during the call"
  }
]

const unknown = {
  response_headers: null,
  duration_ms: null,
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  wait_ms: null,
  made_by: null,
  request: null
}

const shownTries = [
  {
    ...unknown,
    number: 1,
    started_at: "2026-06-01T12:00:00.000Z",
    finished_at: "2026-06-01T12:00:00.131Z",
    status_code: 503,
    response_body: 'busy "again"',
    error: { code: "http_status", message: "responded with 503" },
    response_headers: { vary: "accept, cookie", last: "cut o" },
    duration_ms: 131,
    dns_ms: 1,
    connect_ms: 2,
    wait_ms: 40,
    made_by: { kind: "node", id: "7", name: null }
  },
  {
    ...unknown,
    number: 2,
    started_at: "2026-06-01T12:00:01.500Z",
    finished_at: null,
    status_code: null,
    response_body: null,
    error: { code: "node_lost", message: "the node was lost during the call" }
  }
]

layer(testAppLayer())("getting an execution", (it) => {
  it.effect("shows what the list shows of it, and every attempt, the first one first", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace_id } = member
      const finished_at = new Date(now + 9_000)
      const run = runAt(now, { workspace_id, finished_at, attempts_count: 2, status: "failed" })
      yield* insertRuns([run])
      yield* insertAttempts(run, firstTries.toReversed())
      const executions = `${member.workspace}/executions`
      const token = member.access_token
      const { body, status } = yield* ask("GET", `${executions}/${run.id}`, { token })
      assert.strictEqual(status, 200)
      const { body: listed } = yield* ask("GET", executions, { token })
      assert.deepStrictEqual(body, {
        ...listed.data[0],
        input: null,
        attempts: shownTries,
        progress: []
      })
    })
  )

  it.effect("shows an attempt in progress, before its result is known", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace_id } = member
      const ended = runAt(now, { workspace_id })
      const run = runAt(now, { workspace_id, status: "running", attempts_count: 3 })
      const queued = runAt(now, { workspace_id, status: "queued" })
      yield* insertRuns([ended, run, queued])
      yield* insertAttempts(run, firstTries)
      const get = (id: string) =>
        ask("GET", `${member.workspace}/executions/${id}`, { token: member.access_token })
      const { body } = yield* get(run.id)
      assert.strictEqual(body.attempts_count, 3)
      assert.deepStrictEqual(body.attempts, [
        ...shownTries,
        {
          ...unknown,
          made_by: { kind: "node", id: "1", name: null },
          number: 3,
          started_at: "2026-06-01T12:00:00.000Z",
          finished_at: null,
          status_code: null,
          response_body: null,
          error: null
        }
      ])
      assert.deepStrictEqual((yield* get(queued.id)).body.attempts, [])
    })
  )

  it.effect("finds nothing for an id of another workspace, an unknown id or an invalid id", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const stranger = yield* signUp()
      const { workspace_id } = owner
      const run = runAt(now, { workspace_id })
      const going = runAt(now, { workspace_id, status: "running" })
      yield* insertRuns([run, going])
      for (const id of [run.id, going.id, unknownId, "7"]) {
        const path = `${stranger.workspace}/executions/${id}`
        const answer = yield* ask("GET", path, { token: stranger.access_token })
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "execution")
      }
    })
  )

  it.effect("requires the scope for executions, like the list and the statistics", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const run = runAt(now, { workspace_id: member.workspace_id })
      yield* insertRuns([run])
      const right = yield* createKey(member, { scopes: ["executions:read"] })
      const wrong = yield* createKey(member, { scopes: ["tasks:read", "tasks:write"] })
      for (const path of ["", "/stats", `/${run.id}`]) {
        const get = (token?: string) =>
          ask("GET", `${member.workspace}/executions${path}`, { token })
        assert.strictEqual((yield* get(right.key)).status, 200)
        assert.strictEqual(statusAndError(yield* get(wrong.key)), "403 insufficient_scope")
        assert.strictEqual(statusAndError(yield* get()), "401 missing_credentials")
      }
    })
  )
})
