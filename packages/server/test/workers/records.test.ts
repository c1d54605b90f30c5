import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { selfHostedPlan } from "../../src/core/config/plans.ts"
import { ask, newMember, statusAndError, readPages, signUp, times } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { workerClientOf } from "./workers.ts"

layer(testAppLayer())("a worker", (it) => {
  it.effect("is created, read, updated and deleted, and its token is shown once", () =>
    Effect.gen(function* () {
      const workers = workerClientOf(yield* signUp())
      const created = yield* workers.create({ name: " Office ", labels: ["office", "gpu"] })
      assert.strictEqual(created.status, 201, created.text)
      assert.strictEqual(created.headers.get("cache-control"), "no-store")
      const { token, ...record } = created.body
      assert.match(token, /^pwk_[A-Za-z0-9_-]{43}$/)
      assert.deepStrictEqual(record, {
        id: record.id,
        name: "Office",
        labels: ["office", "gpu"],
        token_prefix: token.slice(0, 12),
        status: "never_seen",
        last_seen_at: null,
        version: null,
        host: null,
        running: 0,
        slots: null,
        created_at: record.created_at,
        updated_at: record.created_at
      })
      assert.deepStrictEqual((yield* workers.get(record.id)).body, record)

      yield* TestClock.adjust("1 minute")
      const changed = (yield* workers.update(record.id, { labels: ["office"] })).body
      assert.deepStrictEqual(changed.labels, ["office"])
      assert.isAbove(Date.parse(changed.updated_at), Date.parse(record.updated_at))
      assert.deepStrictEqual((yield* workers.update(record.id, {})).body, changed)

      assert.strictEqual(statusAndError(yield* workers.remove(record.id)), "204")
      assert.strictEqual(statusAndError(yield* workers.get(record.id)), "404 not_found")
      assert.strictEqual(statusAndError(yield* workers.remove(record.id)), "404 not_found")
    })
  )

  it.effect("is paused and resumed, also repeatedly", () =>
    Effect.gen(function* () {
      const workers = workerClientOf(yield* signUp())
      const { id } = (yield* workers.create()).body
      for (const [action, status] of [
        ["pause", "paused"],
        ["pause", "paused"],
        ["resume", "never_seen"],
        ["resume", "never_seen"]
      ] as const) {
        assert.strictEqual((yield* workers.act(id, action)).body.status, status)
      }
    })
  )

  it.effect("gets a new token by a rotation", () =>
    Effect.gen(function* () {
      const workers = workerClientOf(yield* signUp())
      const { id, token } = (yield* workers.create()).body
      yield* TestClock.adjust("1 second")
      const rotated = yield* workers.act(id, "rotate", { grace_seconds: 60 })
      assert.strictEqual(rotated.status, 201, rotated.text)
      assert.strictEqual(rotated.headers.get("cache-control"), "no-store")
      assert.notStrictEqual(rotated.body.token, token)
      assert.strictEqual(rotated.body.token_prefix, rotated.body.token.slice(0, 12))
      assert.strictEqual(
        (yield* workers.get(id)).body.token_prefix,
        rotated.body.token.slice(0, 12)
      )
    })
  )

  it.effect("is listed newest first, page by page", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const workers = workerClientOf(member)
      const ids: Array<string> = []
      for (let index = 0; index < 3; index++) {
        yield* TestClock.adjust("1 millis")
        ids.unshift((yield* workers.create({ name: `worker ${index}` })).body.id)
      }
      const pages = yield* readPages(`${member.workspace}/workers`, member.access_token, 2)
      assert.deepStrictEqual(
        pages.flat().map(({ id }) => id),
        ids
      )
    })
  )

  it.effect("shows its token once, also if its create is repeated with an idempotency key", () =>
    Effect.gen(function* () {
      const workers = workerClientOf(yield* signUp())
      const once = { "idempotency-key": "worker-1" }
      const [first, again] = [yield* workers.create({}, once), yield* workers.create({}, once)]
      assert.notStrictEqual(again.body.id, first.body.id)
      assert.notStrictEqual(again.body.token, first.body.token)
    })
  )

  it.effect("counts towards the limit of the workspace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const workers = workerClientOf(member)
      const { id } = (yield* workers.create()).body
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO workers (id, workspace_id, name, labels, created_at, updated_at)
        SELECT gen_random_uuid(), workspace_id, name, labels, created_at, updated_at
        FROM workers, generate_series(2, ${selfHostedPlan.limits.workers})
        WHERE id = ${id}`
      const refused = yield* workers.create()
      assert.strictEqual(statusAndError(refused), "402 quota_exceeded")
      assert.deepInclude(refused.body.detail, {
        quota: "workers",
        limit: selfHostedPlan.limits.workers
      })
    })
  )

  it.effect("is visible to viewers, and changed only by admins", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const { id } = (yield* workerClientOf(owner).create()).body
      for (const [role, answers] of [
        ["viewer", ["200", "403 forbidden", "403 forbidden"]],
        ["admin", ["200", "201", "201"]]
      ] as const) {
        const member = yield* newMember(owner, role)
        const workers = workerClientOf({ ...owner, access_token: member.access_token })
        const given = [
          statusAndError(yield* workers.list()),
          statusAndError(yield* workers.create()),
          statusAndError(yield* workers.act(id, "rotate", {}))
        ]
        assert.deepStrictEqual(given, [...answers])
      }
    })
  )

  it.effect("has all its changes in the audit log", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const workers = workerClientOf(member)
      const { id, token } = (yield* workers.create()).body
      yield* workers.update(id, { name: "Lab" })
      yield* workers.act(id, "pause")
      yield* workers.act(id, "resume")
      yield* workers.act(id, "rotate", {})
      yield* workers.remove(id)
      const audit = yield* ask("GET", `${member.workspace}/audit`, { token: member.access_token })
      const actions = audit.body.data
        .filter(({ subject_id }: { readonly subject_id: string }) => subject_id === id)
        .map(({ action }: { readonly action: string }) => action)
      assert.sameMembers(actions, [
        "worker.created",
        "worker.updated",
        "worker.paused",
        "worker.resumed",
        "worker.rotated",
        "worker.deleted"
      ])
      assert.notInclude(audit.text, token)
    })
  )

  it.effect.each([
    [{ name: " " }, "name"],
    [{ labels: ["two words"] }, "labels"],
    [{ labels: ["a", "a"] }, "labels"],
    [{ labels: times(21, (n) => `label-${n}`) }, "labels"],
    [{ slots: 3 }, "slots"]
  ] as const)("refuses %j", ([input, field]) =>
    Effect.gen(function* () {
      const refused = yield* workerClientOf(yield* signUp()).create(input)
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.strictEqual(refused.body.detail.issues[0].path[0], field)
    })
  )
})
