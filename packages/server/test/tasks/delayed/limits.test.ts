import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { selfHostedCatalog, selfHostedPlan } from "../../../src/core/config/plans.ts"
import {
  createKey,
  type Member,
  statusAndError,
  times,
  runConcurrently
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { setUpDelayed, delayedClientOf, minimalDelayed } from "./tasks.ts"

/** Changes that make a valid body invalid, with the path that the error reports. */
const refused: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
  ["a blank name", { name: " " }, ["name"]],
  ["no url", { url: undefined }, ["url"]],
  ["another scheme", { url: "file:///etc/passwd" }, ["url"]],
  ["a header of the connection", { headers: { Connection: "close" } }, ["headers", "Connection"]],
  ["a timeout of 901", { timeout_seconds: 901 }, ["timeout_seconds"]],
  ["11 retries", { retry_count: 11 }, ["retry_count"]],
  ["a negative delay", { delay_seconds: -1 }, ["delay_seconds"]],
  ["a delay of more than a year", { delay_seconds: 31_536_001 }, ["delay_seconds"]],
  ["half a second", { delay_seconds: 0.5 }, ["delay_seconds"]],
  ["no time at all", { delay_seconds: undefined }, ["run_at"]],
  ["two times", { run_at: "2026-06-02T00:00:00Z" }, ["delay_seconds"]],
  ["a schedule", { schedule: "* * * * *" }, ["schedule"]],
  [
    "a time without a zone",
    { delay_seconds: undefined, run_at: "2026-06-02T00:00:00" },
    ["run_at"]
  ],
  ["a day that is not", { delay_seconds: undefined, run_at: "2026-13-01T00:00:00Z" }, ["run_at"]],
  [
    "a time more than a year ahead",
    { delay_seconds: undefined, run_at: "2027-06-01T12:00:00.001Z" },
    ["run_at"]
  ]
]

/** Inserts tasks directly, because creating them one by one would take seconds. */
const insertPending = Effect.fnUntraced(function* (member: Member, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tasks (
      id, workspace_id, kind, status, method, url, headers, timeout_seconds, retry_count, run_at,
      created_at, updated_at
    )
    SELECT
      gen_random_uuid(), ${member.workspace_id}::uuid, 'delayed', 'pending', 'POST',
      'https://example.com', '{}', 30, 0, now(), now(), now()
    FROM generate_series(1, ${count}::int)`
})

const most = 1_000
const byDefault = {
  ...selfHostedPlan,
  limits: { ...selfHostedPlan.limits, pending_delayed_tasks: most }
}

layer(testAppLayer({ plans: { ...selfHostedCatalog, byDefault } }))(
  "a workspace of delayed tasks",
  (it) => {
    it.effect("rejects a body with the path of what is wrong in it", () =>
      Effect.gen(function* () {
        const { delayed } = yield* setUpDelayed
        const { body: task } = yield* delayed.create()
        for (const [problem, change, path] of refused) {
          const answers = [yield* delayed.post({ ...minimalDelayed, ...change })]
          // A field that a PATCH omits keeps its value.
          if (!Object.values(change).includes(undefined)) {
            answers.push(yield* delayed.update(task.id, { ...minimalDelayed, ...change }))
          }
          for (const answer of answers) {
            assert.strictEqual(statusAndError(answer), "422 validation_failed", problem)
            assert.deepStrictEqual(answer.body.detail.issues[0].path, path, problem)
            assert.isNotEmpty(answer.body.detail.issues[0].message)
          }
        }
        const late = yield* delayed.update(task.id, { run_at: "2027-06-01T12:00:01Z" })
        assert.deepStrictEqual(late.body.detail.issues, [
          {
            path: ["run_at"],
            code: "out_of_range",
            message: "run_at must be at most 365 days ahead."
          }
        ])
        for (const query of ["?status=active", "?limit=0", "?name=", "?cursor=x"]) {
          assert.strictEqual(
            statusAndError(yield* delayed.list(query)),
            "422 validation_failed",
            query
          )
        }
        assert.deepStrictEqual((yield* delayed.list()).body.data, [task])
      })
    )

    it.effect(
      "can have as many pending tasks as its plan allows, even if several are created simultaneously",
      () =>
        Effect.gen(function* () {
          const { delayed, member } = yield* setUpDelayed
          yield* insertPending(member, most - 2)
          const answers = yield* runConcurrently(times(4, () => delayed.create()))
          assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
            "201",
            "201",
            "402 quota_exceeded",
            "402 quota_exceeded"
          ])
          const refused = yield* delayed.create()
          assert.deepStrictEqual(refused.body.detail, {
            error: "quota_exceeded",
            message: `The plan "self_hosted" allows at most ${most} pending delayed tasks. The limit has been reached.`,
            quota: "pending_delayed_tasks",
            limit: most,
            plan: "self_hosted"
          })
          yield* delayed.remove(answers.find(({ status }) => status === 201)?.body.id)
          assert.strictEqual((yield* delayed.create()).status, 201)
        })
    )

    it.effect("is read with tasks:read and changed with tasks:write", () =>
      Effect.gen(function* () {
        const { delayed: owner, member } = yield* setUpDelayed
        const { body: task } = yield* owner.create()
        const { body: due } = yield* owner.create({ delay_seconds: 0 })
        const as = (scopes: ReadonlyArray<string>) =>
          Effect.map(createKey(member, { scopes }), ({ key }) =>
            delayedClientOf({ ...member, access_token: key })
          )
        const outcomes = (delayed: typeof owner) =>
          Effect.map(
            Effect.all([
              delayed.list(),
              delayed.get(task.id),
              delayed.create(),
              delayed.update(task.id, { name: "Renamed" }),
              delayed.remove(task.id),
              delayed.run(due.id),
              delayed.cancel(due.last_run.execution_id)
            ]),
            (answers) =>
              answers.map(({ body, status }) =>
                status === 403 ? body.detail.required_scope : status
              )
          )
        const [read, write] = ["tasks:read", "tasks:write"]
        const refusedWrites = times(5, () => write)
        assert.deepStrictEqual(yield* outcomes(yield* as([read])), [200, 200, ...refusedWrites])
        const historian = yield* as(["executions:read"])
        assert.deepStrictEqual(yield* outcomes(historian), [read, read, ...refusedWrites])
        const writer = yield* as([write])
        assert.deepStrictEqual(yield* outcomes(writer), [read, read, 201, 200, 204, 409, 200])
      })
    )
  }
)
