import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import {
  accessStatus,
  ask,
  createKey,
  type Member,
  statusAndError,
  readPages,
  signUp,
  textWithoutRequestId,
  times,
  runConcurrently
} from "../../support/http.ts"
import * as chain from "../../tasks/chains/chains.ts"
import * as cronTask from "../../tasks/cron/tasks.ts"
import * as delayedTask from "../../tasks/delayed/tasks.ts"
import { collide } from "../../support/collide.ts"
import { leap } from "../../support/leap.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"

const create = (
  { access_token }: Pick<Member, "access_token">,
  name: unknown,
  headers: Readonly<Record<string, string>> = {},
  at: "url" | "otherUrl" = "url"
) => ask("POST", "/v1/workspaces", { token: access_token, body: { name }, headers, at })

const list = (member: Member) => ask("GET", "/v1/workspaces", { token: member.access_token })

const once = (key: string) => ({ "idempotency-key": key })

layer(twoTestNodesLayer())("a workspace", (it) => {
  it.effect("is created, read, renamed and deleted by its owner", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const created = yield* create(member, "  Acme production ")
      assert.strictEqual(created.status, 201)
      assert.hasAllKeys(created.body, ["id", "name", "stopped_at", "created_at"])
      assert.strictEqual(created.body.name, "Acme production")
      const path = `/v1/workspaces/${created.body.id}`
      assert.deepStrictEqual((yield* ask("GET", path, { token })).body, created.body)
      const upper = `/v1/workspaces/${created.body.id.toUpperCase()}`
      assert.deepStrictEqual((yield* ask("GET", upper, { token })).body, created.body)

      const renamed = yield* ask("PATCH", path, { token, body: { name: "Acme staging" } })
      assert.deepStrictEqual(renamed.body, { ...created.body, name: "Acme staging" })
      const unchanged = yield* ask("PATCH", path, { token, body: {} })
      assert.deepStrictEqual([unchanged.status, unchanged.body], [200, renamed.body])
      assert.strictEqual(statusAndError(yield* ask("DELETE", path, { token })), "204")
      assert.strictEqual(statusAndError(yield* ask("GET", path, { token })), "404 not_found")
      assert.strictEqual(statusAndError(yield* ask("DELETE", path, { token })), "404 not_found")
      assert.deepStrictEqual(
        (yield* list(member)).body.data.map(({ id }: { readonly id: string }) => id),
        [member.workspace_id]
      )
    })
  )

  it.effect.each([
    ["cron", cronTask.minimalCron],
    ["delayed", delayedTask.minimalDelayed],
    ["chains", chain.minimalChain]
  ] as const)("takes nothing under /%s any more while it is deleted", ([folder, task]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { access_token: token, workspace, workspace_id } = yield* signUp()
      const [, created] = yield* collide(
        sql`SELECT id FROM workspaces WHERE id = ${workspace_id} FOR UPDATE`,
        [
          ask("DELETE", workspace, { token }),
          ask("POST", `${workspace}/${folder}`, { token, body: task, at: "otherUrl" })
        ]
      )
      assert.strictEqual(statusAndError(created!), "404 not_found")
      const left = yield* sql`SELECT id FROM tasks WHERE workspace_id = ${workspace_id}`
      assert.deepStrictEqual(left, [])
    })
  )

  it.effect("has a name of 1 to 100 characters on one line", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const name of ["", " ", "x".repeat(101), "a\nb", "a\u0000b", "\udc00", 1, null]) {
        assert.strictEqual(statusAndError(yield* create(member, name)), "422 validation_failed")
        const rename = ask("PATCH", member.workspace, {
          token: member.access_token,
          body: { name }
        })
        assert.strictEqual(statusAndError(yield* rename), "422 validation_failed")
      }
      assert.strictEqual(statusAndError(yield* create(member, "x".repeat(100))), "201")
    })
  )

  it.effect("is listed only to its members, newest first, in pages", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* create(yield* signUp(), "somebody else's")
      const ids = [member.workspace_id]
      for (const nr of times(4, (index) => index)) {
        yield* TestClock.adjust("1 millis")
        ids.unshift((yield* create(member, `nr ${nr}`)).body.id)
      }
      const pages = yield* readPages("/v1/workspaces", member.access_token, 2)
      assert.deepStrictEqual(
        pages.map((page) => page.map(({ id }) => id)),
        [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]
      )
    })
  )

  it.effect("looks like a missing workspace to users who are not members", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const stranger = yield* signUp()
      const key = yield* createKey(owner)
      const ends = [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["GET", "/signing-secrets"],
        ["POST", "/signing-secrets/rotate"],
        ["GET", "/audit"],
        ["GET", "/api-keys"],
        ["POST", "/api-keys"],
        ["GET", `/api-keys/${key.id}`],
        ["POST", `/api-keys/${key.id}/revoke`],
        ["DELETE", `/api-keys/${key.id}`]
      ] as const
      const nowhere = ["/v1/workspaces/not-a-uuid", `/v1/workspaces/${randomUUID()}`]
      for (const [method, end] of ends) {
        // A request with an invalid body does not reveal that the workspace exists, either.
        const body = method === "GET" ? undefined : { name: 1 }
        const refusal = (workspace: string) =>
          ask(method, workspace + end, { token: stranger.access_token, body })
        const [existing, ...others] = yield* runConcurrently(
          [owner.workspace, ...nowhere].map(refusal)
        )
        assert.strictEqual(statusAndError(existing!), "404 not_found", `${method} ${end}`)
        assert.strictEqual(existing?.body.detail.resource, "workspace")
        for (const other of others)
          assert.strictEqual(textWithoutRequestId(other), textWithoutRequestId(existing!))
      }
      assert.strictEqual(yield* accessStatus(key.key), "200")
    })
  )

  it.effect("is read with a key that has the scope, and hidden from other keys", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const reader = yield* createKey(member, { scopes: ["workspace:read"] })
      const other = yield* createKey(member, { scopes: ["tasks:read", "tasks:write"] })
      const get = (token: string, path = member.workspace) => ask("GET", path, { token })
      assert.strictEqual((yield* get(reader.key)).body.id, member.workspace_id)
      const upper = `/v1/workspaces/${member.workspace_id.toUpperCase()}`
      assert.strictEqual((yield* get(reader.key, upper)).body.id, member.workspace_id)
      const unscoped = yield* get(other.key)
      assert.strictEqual(unscoped.status, 403)
      assert.deepStrictEqual(unscoped.body.detail, {
        error: "insufficient_scope",
        message: "This API key lacks the scope workspace:read.",
        required_scope: "workspace:read"
      })
      assert.strictEqual(
        unscoped.headers.get("www-authenticate"),
        'Bearer error="insufficient_scope", scope="workspace:read"'
      )
      const elsewhere = yield* runConcurrently(
        [stranger.workspace, `/v1/workspaces/${randomUUID()}`, "/v1/workspaces/x"].map((path) =>
          get(reader.key, path)
        )
      )
      for (const answer of elsewhere) {
        assert.strictEqual(statusAndError(answer), "403 workspace_forbidden")
        assert.strictEqual(
          textWithoutRequestId(answer),
          textWithoutRequestId(elsewhere[0] ?? answer)
        )
      }
      for (const [method, path] of [
        ["GET", "/v1/workspaces"],
        ["POST", "/v1/workspaces"],
        ["PATCH", member.workspace],
        ["DELETE", member.workspace],
        ["GET", `${member.workspace}/audit`],
        ["GET", `${member.workspace}/signing-secrets`],
        ["POST", `${member.workspace}/signing-secrets/rotate`]
      ] as const) {
        const body = method === "GET" ? undefined : {}
        const answer = yield* ask(method, path, { token: reader.key, body })
        assert.strictEqual(statusAndError(answer), "403 jwt_only", `${method} ${path}`)
      }
    })
  )

  it.effect("is shown by whoami together with the scopes of a key", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const key = yield* createKey(member, { scopes: ["tasks:read"], expires_in_days: 1 })
      const asUser = yield* ask("GET", "/v1/whoami", { token: member.access_token })
      const me = yield* ask("GET", "/v1/auth/me", { token: member.access_token })
      assert.deepStrictEqual(asUser.body, { kind: "jwt", user: me.body })
      const asKey = yield* ask("GET", "/v1/whoami", { token: key.key })
      const record = yield* ask("GET", `${member.workspace}/api-keys/${key.id}`, {
        token: member.access_token
      })
      assert.deepStrictEqual(asKey.body, {
        kind: "api_key",
        workspace_id: member.workspace_id,
        key_prefix: key.key_prefix,
        scopes: ["tasks:read"],
        expires_at: record.body.expires_at
      })
      assert.strictEqual(yield* accessStatus(""), "401 invalid_token")
    })
  )

  it.effect("counts towards the 100 workspaces that a user can own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      yield* sql`
        WITH made AS (
          INSERT INTO workspaces (id, name, created_at)
          SELECT gen_random_uuid(), 'one of many', now()
          FROM generate_series(1, 98)
          RETURNING id
        )
        INSERT INTO memberships (user_id, workspace_id, role, created_at)
        SELECT ${member.user_id}::uuid, id, 'owner', now()
        FROM made`
      const answers = yield* runConcurrently(
        times(6, (index) => create(member, "last", {}, index % 2 === 0 ? "url" : "otherUrl"))
      )
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        "201",
        ...times(5, () => "402 quota_exceeded")
      ])
      const refused = answers.find(({ status }) => status === 402)
      assert.deepInclude(refused?.body.detail, { quota: "owned_workspaces", limit: 100 })
    })
  )

  it.effect("is created once per Idempotency-Key, also on several nodes", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const key = once("deploy-1")
      const answers = yield* runConcurrently(
        times(20, (index) => create(member, "once", key, index % 2 === 0 ? "url" : "otherUrl"))
      )
      for (const answer of answers) {
        assert.strictEqual(answer.status, 201)
        assert.strictEqual(answer.text, answers[0]?.text)
      }
      assert.strictEqual((yield* list(member)).body.data.length, 2)
      const other = yield* create(member, "another name", key)
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
      // Each user has separate idempotency keys.
      const theirs = yield* create(yield* signUp(), "another name", key)
      assert.strictEqual(theirs.status, 201)
      // A rejected request does not use up its idempotency key.
      assert.strictEqual(
        statusAndError(yield* create(member, "", once("k"))),
        "422 validation_failed"
      )
      assert.strictEqual(statusAndError(yield* create(member, "fine", once("k"))), "201")

      yield* leap("86399999 millis")
      const fresh = (yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: member.refresh_token }
      })).body
      assert.strictEqual((yield* create(fresh, "once", key)).text, answers[0]?.text)
      yield* TestClock.adjust("1 millis")
      const next = yield* create(fresh, "another name", key)
      assert.strictEqual(next.status, 201)
      assert.notStrictEqual(next.body.id, answers[0]?.body.id)
    })
  )

  it.effect("is not created with an invalid Idempotency-Key", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const key of ["", "a b", "x".repeat(256), "é"]) {
        const answer = yield* create(member, "never", once(key))
        assert.strictEqual(statusAndError(answer), "422 validation_failed", key)
        assert.deepStrictEqual(answer.body.detail.issues[0].path, ["idempotency-key"])
      }
      assert.strictEqual(
        statusAndError(yield* create(member, "ever", once("x".repeat(255)))),
        "201"
      )
    })
  )
})
