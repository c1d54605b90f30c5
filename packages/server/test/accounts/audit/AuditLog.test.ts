import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  type Answer,
  ask,
  createKey,
  logIn,
  type Member,
  statusAndError,
  password,
  readPages,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { decodeJwt } from "../sessions/forgeJwt.ts"
import { waitUntilEventsLinked } from "./waitUntilEventsLinked.ts"

const headers = { "x-forwarded-for": "198.51.100.7", "x-request-id": "audit-1" }

const audit = (member: Member) =>
  ask("GET", `${member.workspace}/audit`, { token: member.access_token })

layer(testAppLayer())("the audit log", (it) => {
  it.effect("is filtered by actor, action, record and time", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const list = Effect.fnUntraced(function* (query: Readonly<Record<string, string>> | string) {
        const { body } = yield* ask(
          "GET",
          `${member.workspace}/audit?${new URLSearchParams(query)}`,
          { token }
        )
        return body.data.map(({ action }: { readonly action: string }) => action)
      })
      yield* TestClock.adjust("1 minute")
      const { body: key } = yield* ask("POST", `${member.workspace}/api-keys`, {
        token,
        body: { name: "deploys", scopes: ["tasks:read"] }
      })
      yield* TestClock.adjust("1 minute")
      yield* ask("DELETE", `${member.workspace}/api-keys/${key.id}`, { token })
      const all = ["api_key.deleted", "api_key.created", "workspace.created"]

      assert.deepStrictEqual(yield* list({}), all)
      assert.deepStrictEqual(yield* list({ actor_id: member.user_id.toUpperCase() }), all)
      assert.deepStrictEqual(yield* list({ actor_id: key.id }), [])
      assert.deepStrictEqual(yield* list({ action: "api_key.created" }), ["api_key.created"])
      assert.deepStrictEqual(yield* list({ subject_kind: "api_key" }), all.slice(0, 2))
      const kinds = "subject_kind=api_key&subject_kind=workspace"
      assert.deepStrictEqual(yield* list(kinds), all)
      assert.deepStrictEqual(yield* list({ subject_kind: "worker", action: "api_key.created" }), [])
      assert.deepStrictEqual(yield* list({ subject_id: key.id }), all.slice(0, 2))
      const at = key.created_at
      const next = new Date(Date.parse(at) + 1).toISOString()
      assert.deepStrictEqual(yield* list({ from: at }), all.slice(0, 2))
      assert.deepStrictEqual(yield* list({ from: next }), all.slice(0, 1))
      assert.deepStrictEqual(yield* list({ to: at }), all.slice(2))
      assert.deepStrictEqual(yield* list({ from: at, to: next, subject_kind: "api_key" }), [
        "api_key.created"
      ])
      for (const query of ["action=everything", `from=${next}&to=${at}`]) {
        const refused = yield* ask("GET", `${member.workspace}/audit?${query}`, { token })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
      }
    })
  )

  it.effect("has every change in a workspace with its author, record, time and address", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const change = Effect.fnUntraced(function* (method: string, end: string, body?: unknown) {
        yield* TestClock.adjust("1 millis")
        return yield* ask(method, member.workspace + end, { token, headers, body })
      })
      const input = { name: "deploys", scopes: ["tasks:read"] }
      const created = yield* change("POST", "/api-keys", input)
      const rotated = yield* change("POST", `/api-keys/${created.body.id}/rotate`, {})
      const revoked = yield* change("POST", `/api-keys/${rotated.body.id}/revoke`)
      yield* change("POST", `/api-keys/${rotated.body.id}/revoke`)
      yield* change("DELETE", `/api-keys/${created.body.id}`)
      yield* change("PATCH", "", { name: "Acme" })
      const secret = yield* change("POST", "/signing-secrets/rotate")

      const { body, text } = yield* audit(member)
      assert.isNull(body.next_cursor)
      const keyDetails = ({ body: key }: Answer) => ({ ...input, key_prefix: key.key_prefix })
      const expected = [
        ["signing_secret.rotated", secret.body.id, {}],
        ["workspace.renamed", member.workspace_id, { name: "Acme" }],
        ["api_key.deleted", created.body.id, keyDetails(created)],
        ["api_key.revoked", rotated.body.id, keyDetails(revoked)],
        [
          "api_key.rotated",
          rotated.body.id,
          { ...keyDetails(rotated), rotated_from: created.body.id }
        ],
        ["api_key.created", created.body.id, keyDetails(created)]
      ]
      const [first, ...rest] = body.data.toReversed()
      assert.strictEqual(first.action, "workspace.created")
      assert.strictEqual(first.actor.id, member.user_id)
      assert.deepStrictEqual(
        rest.toReversed().map((event: Record<string, unknown>) => {
          assert.deepStrictEqual(event["actor"], { kind: "user", id: member.user_id, name: null })
          assert.strictEqual(event["request_id"], headers["x-request-id"])
          assert.strictEqual(event["ip"], "198.51.100.7")
          assert.hasAllKeys(event, [
            "id",
            "action",
            "actor",
            "subject_kind",
            "subject_id",
            "request_id",
            "ip",
            "changes",
            "details",
            "hash",
            "previous_hash",
            "created_at"
          ])
          return [event["action"], event["subject_id"], event["details"]]
        }),
        expected
      )
      const last = body.data[0]
      assert.strictEqual(last.created_at, secret.body.created_at)
      for (const hidden of [created.body.key, rotated.body.key, secret.body.secret]) {
        assert.notInclude(text, hidden)
      }
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`SELECT request_id FROM audit_events WHERE id = ${last.id}`
      assert.deepStrictEqual(row, { request_id: "audit-1" })
    })
  )

  it.effect("is read in pages, without events of other workspaces", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* runConcurrently(times(5, () => createKey(member)))
      yield* createKey(yield* signUp())
      const pages = yield* readPages(`${member.workspace}/audit`, member.access_token, 4)
      assert.deepStrictEqual(
        pages.map((page) => page.map(({ action }) => action)),
        [[...times(4, () => "api_key.created")], ["api_key.created", "workspace.created"]]
      )
    })
  )

  it.effect("has no event of a change that was rolled back", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      // An event has a hash once it is linked.
      yield* waitUntilEventsLinked
      const before = (yield* audit(member)).text
      const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
      yield* ask("POST", `${member.workspace}/api-keys`, { token, body: { name: "" } })
      yield* ask("POST", `${member.workspace}/api-keys/${id}/revoke`, { token })
      yield* ask("DELETE", `${member.workspace}/api-keys/${id}`, { token })
      yield* ask("PATCH", member.workspace, { token, body: {} })
      assert.strictEqual((yield* audit(member)).text, before)
    })
  )

  it.effect("has changes of accounts and sessions, which workspaces do not see", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const token = member.access_token
      const other = (yield* logIn(member.email, { headers })).body
      const ended = decodeJwt(other.access_token).claims["sid"]
      yield* ask("DELETE", `/v1/auth/sessions/${ended}`, { token, headers })
      yield* ask("PATCH", "/v1/auth/me", { token, headers, body: { name: "Ada" } })
      const passwords = { current_password: password, new_password: "another long password" }
      const changed = yield* ask("POST", "/v1/auth/password", { token, headers, body: passwords })
      const renewed: string = changed.body.access_token
      yield* ask("POST", "/v1/auth/logout", { token: renewed, headers })
      const events = yield* sql<{
        action: string
        actor_id: string
        subject_id: string
        ip: string
      }>`
        SELECT action, actor_id, subject_id, ip, details
        FROM audit_events
        WHERE user_id = ${member.user_id}
        ORDER BY id`
      assert.deepStrictEqual(
        events.slice(2).map((event) => ({ ...event })),
        [
          ["session.started", ended, {}],
          ["session.ended", ended, {}],
          ["account.updated", null, { changed: ["name"] }],
          ["password.changed", null, { sessions_ended: 1 }],
          ["session.started", decodeJwt(renewed).claims["sid"], {}],
          ["session.ended", decodeJwt(renewed).claims["sid"], {}]
        ].map(([action, subject_id, details]) => ({
          action,
          actor_id: member.user_id,
          subject_id,
          ip: "198.51.100.7",
          details
        })) as never
      )
    })
  )
})
