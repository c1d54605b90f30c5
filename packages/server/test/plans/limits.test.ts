import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { selfHostedCatalog, type PlanCatalog, selfHostedPlan } from "../../src/core/config/plans.ts"
import { ask, newMember, type Member, statusAndError, signUp } from "../support/http.ts"
import { runOf } from "../tasks/chains/chains.ts"
import { insertRuns, runAt } from "../tasks/executions/history.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

const tiny = {
  ...selfHostedPlan,
  id: "tiny",
  name: "Tiny",
  limits: {
    ...selfHostedPlan.limits,
    cron_tasks: 1,
    chains: 1,
    second_precision_tasks: 0,
    pending_delayed_tasks: 1,
    unfinished_runs: 1,
    shortest_interval_seconds: 300,
    history_days: 7,
    active_api_keys: 1,
    members: 2,
    open_invitations: 1,
    monitors: 1,
    workers: 1,
    queues: 1,
    notification_channels: 1
  }
}

const assigned = new Map<string, string>()
const plans: PlanCatalog = {
  plans: new Map([...selfHostedCatalog.plans, [tiny.id, tiny]]),
  byDefault: selfHostedPlan,
  assigned
}

const url = "https://example.com"
const step = { name: "first", url }

/**
 * For each limit on a kind of record, the path within the workspace, and a body that creates a
 * record.
 */
const creates: ReadonlyArray<readonly [string, string, object]> = [
  ["cron_tasks", "cron", { name: "a task", url, schedule: "0 * * * *" }],
  ["chains", "chains", { name: "a chain", steps: [step] }],
  ["pending_delayed_tasks", "delayed", { url, delay_seconds: 3_600 }],
  ["active_api_keys", "api-keys", { name: "a key", scopes: ["tasks:read"] }],
  ["workers", "workers", { name: "the basement" }],
  ["queues", "queues", { name: "the billing server", max_concurrency: 2 }],
  ["monitors", "monitors/heartbeat", { name: "a job", period_seconds: 60 }],
  [
    "notification_channels",
    "notifications/channels",
    { name: "ours", kind: "webhook", config: { url } }
  ]
]

const post = (member: Member, path: string, body: object) =>
  ask("POST", `${member.workspace}/${path}`, { token: member.access_token, body })

const onTiny = Effect.tap(signUp(), ({ workspace_id }) =>
  Effect.sync(() => assigned.set(workspace_id, tiny.id))
)

layer(testAppLayer({ plans }))("a workspace on a plan", (it) => {
  it.effect.each(creates)("has no more than its plan allows: %s", ([quota, path, body]) =>
    Effect.gen(function* () {
      const member = yield* onTiny
      assert.strictEqual((yield* post(member, path, body)).status, 201)
      const refused = yield* post(member, path, body)
      assert.strictEqual(refused.status, 402)
      assert.deepStrictEqual(refused.body.detail, {
        error: "quota_exceeded",
        message: `The plan "tiny" allows at most 1 ${quota.replaceAll("_", " ").replace("api", "API")}. The limit has been reached.`,
        quota,
        limit: 1,
        plan: "tiny"
      })
      const elsewhere = yield* signUp()
      assert.strictEqual((yield* post(elsewhere, path, body)).status, 201)
      assert.strictEqual((yield* post(elsewhere, path, body)).status, 201)
    })
  )

  it.effect("has no more schedules with seconds than its plan allows", () =>
    Effect.gen(function* () {
      const member = yield* onTiny
      const precise = { name: "a task", url, schedule: "0 0 * * * *", precision: "second" }
      const refused = yield* post(member, "cron", precise)
      const expected = { quota: "second_precision_tasks", limit: 0, plan: "tiny" }
      assert.deepInclude(refused.body.detail, expected)
      const { body: task } = yield* post(member, "cron", {
        ...precise,
        precision: null,
        schedule: "@hourly"
      })
      const changed = yield* ask("PATCH", `${member.workspace}/cron/${task.id}`, {
        token: member.access_token,
        body: { precision: "second" }
      })
      assert.deepInclude(changed.body.detail, expected)
      const elsewhere = yield* signUp()
      for (let made = 0; made < selfHostedPlan.limits.second_precision_tasks; made++) {
        const kind = made % 2 === 0 ? "cron" : "chains"
        const { status } = yield* post(
          elsewhere,
          kind,
          kind === "cron" ? precise : { ...precise, url: undefined, steps: [step] }
        )
        assert.strictEqual(status, 201)
      }
      const last = yield* post(elsewhere, "cron", precise)
      assert.deepInclude(last.body.detail, { ...expected, limit: 100, plan: "self_hosted" })
    })
  )

  it.effect("has no more members and invitations than its plan allows", () =>
    Effect.gen(function* () {
      const owner = yield* onTiny
      const invite = (email: string) => post(owner, "invitations", { email, role: "viewer" })
      assert.strictEqual((yield* invite("ada@example.com")).status, 201)
      assert.strictEqual((yield* invite("bob@example.com")).body.detail.quota, "open_invitations")
      const { body } = yield* ask("GET", `${owner.workspace}/invitations`, {
        token: owner.access_token
      })
      yield* ask("DELETE", `${owner.workspace}/invitations/${body.data[0].id}`, {
        token: owner.access_token
      })
      yield* newMember(owner, "viewer")
      const third = yield* signUp()
      const invited = yield* invite(third.email)
      const accepted = yield* ask("POST", "/v1/invitations/accept", {
        token: third.access_token,
        body: { token: invited.body.token }
      })
      assert.strictEqual(statusAndError(accepted), "402 quota_exceeded")
      assert.deepInclude(accepted.body.detail, { quota: "members", limit: 2, plan: "tiny" })
    })
  )

  it.effect("has no more unfinished runs than its plan allows", () =>
    Effect.gen(function* () {
      const member = yield* onTiny
      const { body: task } = yield* post(member, "cron", creates[0]![2])
      assert.strictEqual((yield* post(member, `cron/${task.id}/run`, {})).status, 202)
      const refused = yield* post(member, `cron/${task.id}/run`, {})
      assert.deepInclude(refused.body.detail, { quota: "unfinished_runs", limit: 1, plan: "tiny" })
    })
  )

  it.effect("sees the days of its history that its plan allows", () =>
    Effect.gen(function* () {
      const onPlan = yield* onTiny
      const other = yield* signUp()
      const days = 86_400_000
      for (const [member, shown] of [
        [onPlan, 1],
        [other, 2]
      ] as const) {
        const { workspace_id } = member
        const runs = [8, 6].map((ago) => runAt(testNow - ago * days, { workspace_id }))
        yield* insertRuns(runs)
        const get = (path: string) =>
          ask("GET", `${member.workspace}/executions${path}`, { token: member.access_token })
        assert.lengthOf((yield* get("")).body.data, shown)
        assert.strictEqual((yield* get(`/${runs[0]?.id}`)).status, shown === 2 ? 200 : 404)
        assert.strictEqual((yield* get(`/${runs[1]?.id}`)).status, 200)
        const since = new Date(testNow - 20 * days).toISOString()
        const { body } = yield* get(`/stats?bucket=day&from=${since}`)
        assert.strictEqual(body.totals.counts.succeeded, shown)
        const { body: chain } = yield* post(member, "chains", { name: "a chain", steps: [step] })
        const chainRuns = [8, 6].flatMap((ago) => runOf(chain, testNow - ago * days, [{}]))
        yield* insertRuns(chainRuns)
        const getRuns = (path: string) =>
          ask("GET", `${member.workspace}/chains/${chain.id}/runs${path}`, {
            token: member.access_token
          })
        assert.lengthOf((yield* getRuns("")).body.data, shown)
        assert.strictEqual((yield* getRuns(`/${chainRuns[0]?.id}`)).status, shown === 2 ? 200 : 404)
        assert.strictEqual((yield* getRuns(`/${chainRuns[1]?.id}`)).status, 200)
        const early = new Date(testNow - 10 * days).toISOString()
        assert.strictEqual((yield* get(`/stats?bucket=day&from=${since}&to=${early}`)).status, 200)
      }
    })
  )

  it.effect("is notified once a day that its pending delayed tasks reach the limit", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* onTiny
      const reasons = sql<{ readonly reason: string }>`
        SELECT data ->> 'reason' AS reason
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
          AND event = 'quota.near'
          AND data ->> 'name' = 'Pending delayed tasks'`
      for (let n = 0; n < 2; n++) {
        const { body } = yield* post(member, "delayed", { url, delay_seconds: 3_600 })
        yield* ask("DELETE", `${member.workspace}/delayed/${body.id}`, {
          token: member.access_token
        })
      }
      assert.deepStrictEqual(yield* reasons, [{ reason: "100% of the limit is used: 1 of 1." }])
    })
  )

  it.effect("has no schedule that fires more often than its plan allows", () =>
    Effect.gen(function* () {
      const member = yield* onTiny
      const often = { schedule: "*/4 * * * *" }
      for (const [path, body] of [
        ["cron", { name: "a task", url }],
        ["chains", { name: "a chain", steps: [step] }]
      ] as const) {
        const refused = yield* post(member, path, { ...body, ...often })
        assert.strictEqual(refused.status, 402)
        assert.deepStrictEqual(refused.body.detail, {
          error: "quota_exceeded",
          message: 'The plan "tiny" allows schedules to fire at most once every 300 seconds.',
          quota: "shortest_interval_seconds",
          limit: 300,
          plan: "tiny"
        })
        const made = yield* post(member, path, { ...body, schedule: "*/5 * * * *" })
        assert.strictEqual(made.status, 201)
        const changed = yield* ask("PATCH", `${member.workspace}/${path}/${made.body.id}`, {
          token: member.access_token,
          body: often
        })
        assert.strictEqual(statusAndError(changed), "402 quota_exceeded")
        const elsewhere = yield* signUp()
        assert.strictEqual((yield* post(elsewhere, path, { ...body, ...often })).status, 201)
      }
    })
  )
})
