import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import { randomUUID } from "node:crypto"
import { ask, type Member, signUp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import {
  addProviderUser,
  destinationOf,
  panelPageHeaders,
  refreshPanelSession,
  sessionCookieOf,
  signInAs,
  TestProvider,
  nodeWithProviderLayer
} from "./identityProvider.ts"

const team = randomUUID()
const other = randomUUID()

const settings = {
  roleClaim: "groups",
  roles: [
    { value: "staff", workspaceId: team, role: "viewer" },
    { value: "operators", workspaceId: team, role: "admin" },
    { value: "staff", workspaceId: other, role: "editor" },
    { value: "ghosts", workspaceId: randomUUID(), role: "editor" }
  ]
} as const

/** Creates a new account whose workspace has the id that the settings refer to. */
const makeTeam = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* signUp()
  yield* sql`
    INSERT INTO workspaces (id, name, lane, created_at)
    SELECT ${id}, name, lane, created_at
    FROM workspaces
    WHERE id = ${owner.workspace_id}
    ON CONFLICT DO NOTHING`
  yield* sql`
    INSERT INTO memberships (user_id, workspace_id, role, created_at)
    VALUES (${owner.user_id}, ${id}, 'owner', now())`
  return { ...owner, workspace: `/v1/workspaces/${id}`, workspace_id: id } satisfies Member
})

const rolesOf = Effect.fnUntraced(function* (email: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly workspace_id: string; readonly role: string }>`
    SELECT memberships.workspace_id, memberships.role
    FROM memberships
    JOIN users ON users.id = memberships.user_id
    WHERE users.email = ${email}`
  return Object.fromEntries(
    rows.map(({ role, workspace_id }) => [
      workspace_id === team ? "team" : workspace_id === other ? "other" : "own",
      role
    ])
  )
})

const isFor = (path: string, { url }: IncomingMessage) => url?.split("?")[0] === path

layer(nodeWithProviderLayer(settings, { registration: "closed" }))("the role claim", (it) => {
  it.effect("gives the highest role of each workspace at the first sign-in", () =>
    Effect.gen(function* () {
      yield* makeTeam(team)
      yield* makeTeam(other)
      const { email, subject } = yield* addProviderUser({
        groups: ["staff", "operators", "ghosts"]
      })
      assert.strictEqual(destinationOf(yield* signInAs(subject)), "/")
      assert.deepStrictEqual(yield* rolesOf(email), { team: "admin", other: "editor" })
    })
  )

  it.effect("is asked for at each refresh: roles change and go with it", () =>
    Effect.gen(function* () {
      const { people } = yield* TestProvider
      const owner = yield* makeTeam(team)
      yield* makeTeam(other)
      const { email, subject } = yield* addProviderUser({ groups: ["staff", "operators"] })
      let cookie = sessionCookieOf(yield* signInAs(subject))
      const refreshed = Effect.fnUntraced(function* (groups: ReadonlyArray<string>) {
        people.set(subject, { email, email_verified: true, groups })
        const answer = yield* refreshPanelSession(cookie)
        assert.strictEqual(answer.status, 200, answer.text)
        cookie = sessionCookieOf(answer)
        return yield* rolesOf(email)
      })
      assert.deepStrictEqual(yield* refreshed(["staff"]), { team: "viewer", other: "editor" })
      assert.deepStrictEqual(yield* refreshed(["operators"]), { team: "admin" })
      assert.deepStrictEqual(yield* refreshed([]), {})
      const { body } = yield* ask("GET", `${owner.workspace}/audit`, { token: owner.access_token })
      const byProvider = body.data.filter(
        ({ details }: { readonly details: { readonly granted_by?: string } }) =>
          details.granted_by === "identity provider"
      )
      assert.includeMembers(
        byProvider.map(({ action }: { readonly action: string }) => action),
        ["member.added", "member.role_changed", "member.removed"]
      )
    })
  )

  it.effect("does not touch roles that a person gave", () =>
    Effect.gen(function* () {
      const { people } = yield* TestProvider
      const owner = yield* makeTeam(team)
      const { email, subject } = yield* addProviderUser({ groups: ["staff"] })
      let cookie = sessionCookieOf(yield* signInAs(subject))
      const { body: me } = yield* refreshPanelSession(cookie)
      const id = JSON.parse(Buffer.from(me.access_token.split(".")[1], "base64url").toString()).sub
      yield* ask("PATCH", `${owner.workspace}/members/${id}`, {
        token: owner.access_token,
        body: { role: "owner" }
      })
      people.set(subject, { email, email_verified: true, groups: [] })
      cookie = sessionCookieOf(yield* signInAs(subject))
      assert.strictEqual((yield* rolesOf(email))["team"], "owner")
    })
  )

  it.effect("rejects users whose claim grants no role, if registration is closed", () =>
    Effect.gen(function* () {
      const { subject } = yield* addProviderUser({ groups: ["visitors"] })
      assert.strictEqual(
        destinationOf(yield* signInAs(subject)),
        "/sign-in?problem=registration_closed"
      )
    })
  )
})

layer(nodeWithProviderLayer())("a session that began at the provider", (it) => {
  it.effect("ends when the provider no longer knows the person", () =>
    Effect.gen(function* () {
      const { people } = yield* TestProvider
      const { subject } = yield* addProviderUser()
      const cookie = sessionCookieOf(yield* signInAs(subject))
      people.delete(subject)
      const ended = yield* refreshPanelSession(cookie)
      assert.strictEqual(ended.body.detail.error, "invalid_refresh_token")
      assert.match(ended.headers.get("set-cookie") ?? "", /^__Host-panel_session=;/)
    })
  )

  it.effect("survives a provider that is away or slow, for a day", () =>
    Effect.gen(function* () {
      const { during } = yield* TestProvider
      const { subject } = yield* addProviderUser()
      let cookie = sessionCookieOf(yield* signInAs(subject))
      const refreshed = Effect.fnUntraced(function* (status: number) {
        const answer = yield* refreshPanelSession(cookie)
        assert.strictEqual(answer.status, status, answer.text)
        cookie = sessionCookieOf(answer)
      })
      const silent = (request: IncomingMessage) => isFor("/token", request)
      const away = (_: IncomingMessage, response: ServerResponse) => {
        response.destroy()
        return true
      }
      yield* during(silent, refreshed(200))
      yield* leap("23 hours")
      yield* during(away, refreshed(200))
      yield* refreshed(200)
      yield* leap("23 hours")
      yield* during(away, refreshed(200))
      yield* leap("2 hours")
      yield* during(away, refreshed(401))
    })
  )

  it.effect("asks the provider once, however many tabs refresh at a time", () =>
    Effect.gen(function* () {
      const { requests } = yield* TestProvider
      const { subject } = yield* addProviderUser()
      const cookie = sessionCookieOf(yield* signInAs(subject))
      const before = requests.length
      const answers = yield* Effect.all(
        [refreshPanelSession(cookie), refreshPanelSession(cookie), refreshPanelSession(cookie)],
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      assert.lengthOf(
        requests.slice(before).filter((request) => request === "POST /token"),
        1
      )
    })
  )

  it.effect("ends at a logout, and the provider's token with it", () =>
    Effect.gen(function* () {
      const { requests } = yield* TestProvider
      const { subject } = yield* addProviderUser()
      const cookie = sessionCookieOf(yield* signInAs(subject))
      const ended = yield* ask("DELETE", "/panel/session", {
        headers: { ...panelPageHeaders, cookie }
      })
      assert.strictEqual(ended.status, 204)
      assert.strictEqual((yield* refreshPanelSession(cookie)).status, 401)
      for (let tries = 0; tries < 200 && requests.at(-1) !== "POST /token/revocation"; tries++) {
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
      }
      assert.strictEqual(requests.at(-1), "POST /token/revocation")
    })
  )
})

layer(nodeWithProviderLayer())("a provider that gives no refresh tokens", (it) => {
  it.effect("vouches for a session for a day", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { subject } = yield* addProviderUser()
      let cookie = sessionCookieOf(yield* signInAs(subject))
      yield* sql`UPDATE provider_sessions SET sealed_token = NULL`
      yield* leap("23 hours")
      const kept = yield* refreshPanelSession(cookie)
      assert.strictEqual(kept.status, 200, kept.text)
      cookie = sessionCookieOf(kept)
      yield* leap("2 hours")
      assert.strictEqual((yield* refreshPanelSession(cookie)).status, 401)
    })
  )
})
