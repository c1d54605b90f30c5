import { dayOf, type UsageOfDay } from "@scheduling/domain/billing/Usage"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { selfHostedCatalog, selfHostedPlan } from "../../src/core/config/plans.ts"
import {
  ask,
  newMember,
  logIn,
  type Member,
  statusAndError,
  password,
  signUp
} from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer } from "../support/TestApp.ts"

const get = (member: Member, path: string) =>
  ask("GET", `${member.workspace}/billing${path}`, { token: member.access_token })

/** Logs in again, because tokens expire within a day. */
const again = <M extends Member>(member: M) =>
  Effect.map(logIn(member.email), ({ body }) => ({ ...member, access_token: body.access_token }))

const seatsFrom = Effect.fnUntraced(function* (member: Member, from: string) {
  const { body } = yield* get(yield* again(member), `/usage?from=${from}`)
  return body.data.map(({ seats }: UsageOfDay) => seats)
})

layer(testAppLayer())("a workspace", (it) => {
  it.effect("has the plan self_hosted by default, and shows its usage", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      yield* ask("POST", `${owner.workspace}/cron`, {
        token: owner.access_token,
        body: { name: "a task", url: "https://example.com", schedule: "0 0 * * *" }
      })
      const { body } = yield* get(owner, "")
      assert.strictEqual(body.provider, "none")
      assert.deepStrictEqual(body.plan, selfHostedPlan)
      assert.deepInclude(body.usage, { quota: "cron_tasks", used: 1, limit: 10_000 })
      assert.deepInclude(body.usage, { quota: "members", used: 1, limit: 1_000 })
      assert.deepInclude(body.usage, { quota: "executions_a_month", used: 0, limit: null })
      const { body: plans } = yield* ask("GET", "/v1/plans")
      assert.deepStrictEqual(plans.data, [...selfHostedCatalog.plans.values()])
    })
  )

  it.effect("shows the seats of each day, also after members delete their accounts", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const viewer = yield* newMember(owner, "viewer")
      assert.deepStrictEqual(yield* seatsFrom(owner, "2026-05-31"), [0, 2])
      yield* leap("1 day")
      const editor = yield* newMember(yield* again(owner), "editor")
      const gone = yield* ask("DELETE", "/v1/auth/me", {
        token: (yield* again(viewer)).access_token,
        body: { current_password: password }
      })
      assert.strictEqual(gone.status, 204, gone.text)
      yield* leap("1 day")
      yield* ask("POST", `${owner.workspace}/leave`, {
        token: (yield* again(editor)).access_token
      })
      yield* leap("1 day")
      assert.deepStrictEqual(yield* seatsFrom(owner, "2026-06-01"), [2, 3, 2, 1])
    })
  )

  it.effect("shows the monitors of each day, also after they are deleted with their worker", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const post = Effect.fnUntraced(function* (path: string, body: object) {
        const made = yield* ask("POST", `${owner.workspace}/${path}`, {
          token: (yield* again(owner)).access_token,
          body
        })
        assert.strictEqual(made.status, 201, made.text)
        return made.body
      })
      const remove = Effect.fnUntraced(function* (path: string) {
        const { access_token: token } = yield* again(owner)
        const removed = yield* ask("DELETE", `${owner.workspace}/${path}`, { token })
        assert.strictEqual(removed.status, 204, removed.text)
      })
      const today = dayOf(yield* Clock.currentTimeMillis)
      const heartbeat = yield* post("monitors/heartbeat", { name: "a job", period_seconds: 60 })
      const ssl = yield* post("monitors/ssl", { name: "a site", host: "site.test" })
      const worker = yield* post("workers", { name: "the basement" })
      const process = { name: "a daemon", worker_id: worker.id, match: { name: "cron" } }
      yield* post("monitors/process", process)
      yield* leap("1 day")
      yield* remove(`monitors/ssl/${ssl.id}`)
      yield* leap("2 days")
      yield* remove(`workers/${worker.id}`)
      yield* remove(`monitors/heartbeat/${heartbeat.id}`)
      yield* leap("1 day")
      const { body } = yield* get(yield* again(owner), `/usage?from=${today}`)
      assert.deepStrictEqual(
        body.data.map(({ monitors }: UsageOfDay) => monitors),
        [3, 3, 2, 2, 0]
      )
    })
  )

  it.effect("rejects an invalid range", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      for (const query of [
        "from=2026-13-01",
        "from=2026-02-30",
        "from=yesterday",
        "to=2020-01-01&from=2026-01-01",
        "from=2020-01-01"
      ]) {
        assert.strictEqual(
          statusAndError(yield* get(owner, `/usage?${query}`)),
          "422 validation_failed"
        )
      }
    })
  )

  it.effect("shows its billing only to owners", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const as = { ...admin, workspace: owner.workspace }
      assert.strictEqual(statusAndError(yield* get(as, "")), "403 forbidden")
      assert.strictEqual(statusAndError(yield* get(as, "/usage")), "403 forbidden")
    })
  )
})
