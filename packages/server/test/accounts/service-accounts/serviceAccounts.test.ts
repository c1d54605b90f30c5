import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  accessStatus,
  ask,
  askToken,
  createServiceAccount,
  newMember,
  type Member,
  statusAndError,
  randomIp,
  signUp,
  times,
  runConcurrently,
  obtainToken
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, twoTestNodesLayer } from "../../support/TestApp.ts"
import { onPostgres } from "../../support/TestDatabase.ts"

const pathOf = ({ workspace }: Pick<Member, "workspace">, id = "", action = "") =>
  [`${workspace}/service-accounts`, id, action].filter((part) => part !== "").join("/")

const as = (member: Pick<Member, "access_token">, body?: unknown) => ({
  token: member.access_token,
  ...(body === undefined ? {} : { body })
})

layer(testAppLayer())("A service account", (it) => {
  it.effect("is created, listed, changed and deleted by an admin, with its secret shown once", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const created = yield* ask(
        "POST",
        pathOf(member),
        as(member, { name: "Terraform", role: "admin" })
      )
      assert.strictEqual(created.status, 201)
      assert.strictEqual(created.headers.get("cache-control"), "no-store")
      const { client_id, client_secret, ...record } = created.body
      assert.match(client_secret, /^psk_[A-Za-z0-9_-]{43}$/)
      assert.strictEqual(client_id, record.id)
      assert.strictEqual(created.headers.get("location"), pathOf(member, client_id))
      assert.deepInclude(record, {
        name: "Terraform",
        role: "admin",
        secret_prefix: client_secret.slice(0, 12),
        old_secret_expires_at: null,
        last_used_at: null,
        created_by: member.user_id
      })
      const listed = yield* ask("GET", pathOf(member), as(member))
      assert.deepStrictEqual(listed.body.data, [record])
      assert.notInclude(listed.text, client_secret)
      assert.deepStrictEqual(
        (yield* ask("GET", pathOf(member, client_id), as(member))).body,
        record
      )

      const renamed = yield* ask("PATCH", pathOf(member, client_id), as(member, { name: "CI" }))
      assert.deepStrictEqual(renamed.body, { ...record, name: "CI" })
      const removed = yield* ask("DELETE", pathOf(member, client_id), as(member))
      assert.strictEqual(removed.status, 204)
      for (const [method, action] of [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["POST", "rotate"]
      ] as const) {
        const gone = yield* ask(
          method,
          pathOf(member, client_id, action),
          as(member, method === "GET" ? undefined : {})
        )
        assert.strictEqual(statusAndError(gone), "404 not_found", method)
        assert.strictEqual(gone.body.detail.resource, "service_account")
      }
    })
  )

  it.effect("cannot be an owner", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const body = { name: "a tool", role: "owner" }
      const created = yield* ask("POST", pathOf(member), as(member, body))
      assert.strictEqual(statusAndError(created), "422 validation_failed")
      const { client_id } = yield* createServiceAccount(member)
      const changed = yield* ask("PATCH", pathOf(member, client_id), as(member, { role: "owner" }))
      assert.strictEqual(statusAndError(changed), "422 validation_failed")
      // Service accounts are not visible to the endpoints for members.
      const at = `${member.workspace}/members/${client_id}`
      const appointed = yield* ask("PATCH", at, as(member, { role: "owner" }))
      assert.strictEqual(statusAndError(appointed), "404 not_found")
      assert.strictEqual(statusAndError(yield* ask("DELETE", at, as(member))), "404 not_found")
      const members = yield* ask("GET", `${member.workspace}/members`, as(member))
      assert.lengthOf(members.body.data, 1)
    })
  )

  it.effect("gets a token that acts with its role, in its workspace alone", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const client = yield* createServiceAccount(member)
      const token = yield* obtainToken(client)
      const me = yield* ask("GET", "/v1/whoami", { token })
      assert.deepInclude(me.body, { kind: "service_account", workspace_id: member.workspace_id })
      assert.strictEqual(me.body.service_account.id, client.client_id)
      assert.isString(me.body.service_account.last_used_at)

      const { workspace } = member
      const key = { name: "a key", scopes: ["tasks:read"] }
      const made = yield* Effect.all([
        ask("POST", `${workspace}/workers`, { token, body: { name: "a worker" } }),
        ask("POST", `${workspace}/api-keys`, { token, body: key }),
        ask("POST", `${workspace}/invitations`, {
          token,
          body: { email: stranger.email, role: "editor" }
        }),
        ask("POST", `${workspace}/cron`, {
          token,
          body: { name: "nightly", url: "https://example.com", schedule: "0 3 * * *" }
        }),
        ask("POST", `${workspace}/service-accounts`, {
          token,
          body: { name: "another tool", role: "viewer" }
        })
      ])
      assert.deepStrictEqual(
        made.map(({ status }) => status),
        [201, 201, 201, 201, 201]
      )
      assert.strictEqual(made[1].body.created_by, client.client_id)
      const preview = yield* ask("POST", "/v1/invitations/preview", {
        body: { token: made[2].body.token }
      })
      assert.strictEqual(preview.body.invited_by, "a tool, admin")

      const refusals = yield* Effect.all([
        ask("GET", stranger.workspace, { token }),
        ask("POST", `${stranger.workspace}/api-keys`, { token, body: key }),
        ask("DELETE", workspace, { token }),
        ask("POST", `${workspace}/invitations`, {
          token,
          body: { email: "new@example.com", role: "owner" }
        }),
        ask("POST", "/v1/workspaces", { token, body: { name: "mine" } }),
        ask("GET", "/v1/workspaces", { token }),
        ask("POST", `${workspace}/leave`, { token }),
        ask("POST", "/v1/auth/password", {
          token,
          body: { current_password: "a", new_password: "correct horse battery" }
        }),
        ask("PATCH", "/v1/auth/me", { token, body: { email: "a@example.com" } }),
        ask("POST", "/v1/auth/totp/start", { token, body: { current_password: "a" } }),
        ask("POST", "/v1/invitations/accept", { token, body: { token: made[2].body.token } }),
        ask("POST", "/v1/auth/refresh", { body: { refresh_token: token } })
      ])
      assert.deepStrictEqual(refusals.map(statusAndError), [
        "404 not_found",
        "404 not_found",
        "403 forbidden",
        "403 forbidden",
        ...times(7, () => "403 person_only"),
        "401 invalid_refresh_token"
      ])
    })
  )

  it.effect("is named in the audit log as the actor of its changes", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const client = yield* createServiceAccount(member)
      const token = yield* obtainToken(client)
      yield* ask("PATCH", member.workspace, { token, body: { name: "Renamed" } })
      yield* ask("PATCH", member.workspace, as(member, { name: "Renamed by a person" }))
      const { body } = yield* ask(
        "GET",
        `${member.workspace}/audit?action=workspace.renamed`,
        as(member)
      )
      const [byPerson, byTool] = body.data
      assert.deepStrictEqual(byTool.actor, {
        kind: "service_account",
        id: client.client_id,
        name: "a tool, admin"
      })
      assert.deepStrictEqual(byTool.details, { name: "Renamed" })
      assert.deepInclude(byPerson.actor, { kind: "user", id: member.user_id })

      const id = client.client_id
      yield* ask("PATCH", pathOf(member, id), as(member, { role: "editor" }))
      yield* ask("POST", pathOf(member, id, "rotate"), as(member, { grace_seconds: 60 }))
      yield* ask("DELETE", pathOf(member, id), as(member))
      const own = yield* ask("GET", `${member.workspace}/audit?subject_id=${id}`, as(member))
      assert.deepStrictEqual(
        own.body.data.map(({ action, details }: Record<string, unknown>) => [action, details]),
        [
          ["service_account.deleted", { name: "a tool, admin", role: "editor" }],
          ["service_account.rotated", { name: "a tool, admin", role: "editor", grace_seconds: 60 }],
          [
            "service_account.updated",
            { name: "a tool, admin", role: "editor", was: { name: "a tool, admin", role: "admin" } }
          ],
          ["service_account.created", { name: "a tool, admin", role: "admin" }]
        ]
      )
    })
  )

  it.effect("leaves its keys and tasks behind, and takes its invitations with it", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const client = yield* createServiceAccount(member)
      const token = yield* obtainToken(client)
      const key = yield* ask("POST", `${member.workspace}/api-keys`, {
        token,
        body: { name: "a key", scopes: ["tasks:read"] }
      })
      yield* ask("POST", `${member.workspace}/invitations`, {
        token,
        body: { email: "new@example.com", role: "editor" }
      })
      yield* ask("DELETE", pathOf(member, client.client_id), as(member))
      assert.strictEqual(yield* accessStatus(key.body.key), "200")
      const kept = yield* ask("GET", `${member.workspace}/api-keys/${key.body.id}`, as(member))
      assert.isNull(kept.body.created_by)
      const invitations = yield* ask("GET", `${member.workspace}/invitations`, as(member))
      assert.deepStrictEqual(invitations.body.data, [])
    })
  )

  it.effect(
    "loses its invitations when its role is lowered, and the new role applies immediately",
    () =>
      Effect.gen(function* () {
        const member = yield* signUp()
        const client = yield* createServiceAccount(member)
        const token = yield* obtainToken(client)
        const keys = `${member.workspace}/api-keys`
        yield* ask("POST", `${member.workspace}/invitations`, {
          token,
          body: { email: "new@example.com", role: "admin" }
        })
        assert.strictEqual((yield* ask("GET", keys, { token })).status, 200)
        yield* ask("PATCH", pathOf(member, client.client_id), as(member, { role: "editor" }))
        assert.strictEqual(statusAndError(yield* ask("GET", keys, { token })), "403 forbidden")
        const invitations = yield* ask("GET", `${member.workspace}/invitations`, as(member))
        assert.deepStrictEqual(invitations.body.data, [])
      })
  )

  it.effect("keeps no secret in the database, and is deleted with its workspace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const client = yield* createServiceAccount(member)
      const token = yield* obtainToken(client)
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`
        SELECT row_to_json(service_accounts)::text AS text
        FROM service_accounts
        WHERE user_id = ${client.client_id}`
      assert.lengthOf(rows, 1)
      assert.notInclude(JSON.stringify(rows), client.client_secret.slice(12))
      assert.strictEqual((yield* ask("DELETE", member.workspace, as(member))).status, 204)
      assert.strictEqual(yield* accessStatus(token), "401 invalid_token")
      const left = yield* sql`
        SELECT id
        FROM users
        WHERE id = ${client.client_id}`
      assert.deepStrictEqual(left, [])
    })
  )
})

layer(testAppLayer())("The tokens of a service account", (it) => {
  it.effect("live 15 minutes", () =>
    Effect.gen(function* () {
      const token = yield* obtainToken(yield* createServiceAccount(yield* signUp()))
      yield* TestClock.adjust("899 seconds")
      assert.strictEqual(yield* accessStatus(token), "200")
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* accessStatus(token), "401 invalid_token")
    })
  )

  it.effect("end immediately with a removal or a rotation without a grace period", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const client = yield* createServiceAccount(member)
      const [one, other] = yield* Effect.all([obtainToken(client), obtainToken(client)])
      const rotated = yield* ask("POST", pathOf(member, client.client_id, "rotate"), as(member))
      assert.strictEqual(rotated.status, 201)
      assert.strictEqual(yield* accessStatus(one), "401 invalid_token")
      assert.strictEqual(yield* accessStatus(other), "401 invalid_token")
      const { client_id, client_secret } = client
      const late = yield* askToken({ grant_type: "client_credentials", client_id, client_secret })
      assert.deepStrictEqual([late.status, late.body.error], [401, "invalid_client"])

      const last = yield* obtainToken(rotated.body)
      assert.strictEqual(yield* accessStatus(last), "200")
      yield* ask("DELETE", pathOf(member, client_id), as(member))
      assert.strictEqual(yield* accessStatus(last), "401 invalid_token")
    })
  )

  it.effect("end with the grace of a rotation, as the old secret does", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const client = yield* createServiceAccount(member)
      const before = yield* obtainToken(client)
      const rotated = yield* ask(
        "POST",
        pathOf(member, client.client_id, "rotate"),
        as(member, { grace_seconds: 60 })
      )
      assert.isString(rotated.body.old_secret_expires_at)
      yield* TestClock.adjust("30 seconds")
      const form = {
        grant_type: "client_credentials",
        client_id: client.client_id,
        client_secret: client.client_secret
      }
      const during = yield* askToken(form)
      assert.strictEqual(during.body.expires_in, 30)
      const current = yield* obtainToken(rotated.body)
      for (const token of [before, during.body.access_token, current]) {
        assert.strictEqual(yield* accessStatus(token), "200")
      }
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* accessStatus(before), "401 invalid_token")
      assert.strictEqual(yield* accessStatus(during.body.access_token), "401 invalid_token")
      assert.strictEqual(yield* accessStatus(current), "200")
      assert.strictEqual((yield* askToken(form)).body.error, "invalid_client")
      const shown = yield* ask("GET", pathOf(member, client.client_id), as(member))
      assert.isNull(shown.body.old_secret_expires_at)
    })
  )

  it.effect.runIf(onPostgres)("never outlive a rotation or a removal at the same time", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const round of times(12, (index) => index)) {
        const client = yield* createServiceAccount(member)
        const { client_id, client_secret } = client
        const form = { grant_type: "client_credentials", client_id, client_secret }
        const end =
          round % 2 === 0
            ? ask("POST", pathOf(member, client_id, "rotate"), as(member))
            : ask("DELETE", pathOf(member, client_id), as(member))
        const [ended, ...answers] = yield* runConcurrently([
          end,
          ...times(6, () => askToken(form, { "x-forwarded-for": randomIp() }))
        ])
        assert.include([201, 204], ended?.status)
        for (const { body, status } of answers) {
          assert.include([200, 401], status)
          if (status === 200) {
            assert.strictEqual(yield* accessStatus(body.access_token), "401 invalid_token")
          }
        }
      }
    })
  )
})

layer(twoTestNodesLayer())("The secret of a service account", (it) => {
  it.effect(
    "is rejected on every node after ten wrong tries, until a quarter of an hour is over",
    () =>
      Effect.gen(function* () {
        const member = yield* signUp()
        const { client_id, client_secret } = yield* createServiceAccount(member)
        const form = (secret: string) => ({
          grant_type: "client_credentials",
          client_id,
          client_secret: secret
        })
        const ip = () => ({ "x-forwarded-for": randomIp() })
        for (const at of ["url", "otherUrl"] as const) {
          for (const secret of times(5, (n) => `psk_wrong${n}`)) {
            const refused = yield* askToken(form(secret), ip(), at)
            assert.deepStrictEqual([refused.status, refused.body.error], [401, "invalid_client"])
          }
        }
        const limited = yield* askToken(form(client_secret), ip(), "otherUrl")
        assert.strictEqual(limited.status, 429)
        assert.strictEqual(limited.body.error, "temporarily_unavailable")
        assert.isAtLeast(Number(limited.headers.get("retry-after")), 1)
        yield* leap("15 minutes")
        assert.strictEqual((yield* askToken(form(client_secret), ip())).status, 200)
      })
  )

  it.effect("counts towards the members of the plan", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* createServiceAccount(member)
      yield* newMember(member, "editor")
      const usage = yield* ask("GET", `${member.workspace}/billing`, as(member))
      const members = usage.body.usage.find(
        ({ quota }: { readonly quota: string }) => quota === "members"
      )
      assert.strictEqual(members.used, 3)
    })
  )
})
