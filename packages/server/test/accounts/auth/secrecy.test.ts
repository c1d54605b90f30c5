import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as net from "node:net"
import { ask, askRaw, statusAndError, randomEmail } from "../../support/http.ts"
import { realHashes, TestApp, testAppLayer } from "../../support/TestApp.ts"

const firstPassword = "the first password of this account"
const secondPassword = "the second password of this account"

/** Uses all features, and returns all secrets that were sent or received. */
const useEverything = Effect.gen(function* () {
  const email = randomEmail()
  const account = { email, password: firstPassword }
  const registered = yield* ask("POST", "/v1/auth/register", { body: account })
  const workspace = `/v1/workspaces/${registered.body.workspace.id}`
  const login = (yield* ask("POST", "/v1/auth/login", { body: account })).body
  const refresh = yield* ask("POST", "/v1/auth/refresh", {
    body: { refresh_token: login.refresh_token }
  })
  const token: string = refresh.body.access_token
  const key = yield* ask("POST", `${workspace}/api-keys`, {
    token,
    body: { name: "a key", scopes: ["workspace:read"] }
  })
  const rotate = `${workspace}/api-keys/${key.body.id}/rotate`
  const rotated = yield* ask("POST", rotate, { token, body: { grace_seconds: 60 } })
  yield* ask("GET", workspace, { token: key.body.key })
  const signing = `${workspace}/signing-secrets?url=https://api.example.com`
  const [original] = (yield* ask("GET", signing, { token })).body.data
  yield* ask("POST", `${workspace}/signing-secrets/rotate`, { token })
  const [replaced] = (yield* ask("GET", signing, { token })).body.data
  yield* ask("POST", "/v1/workspaces", {
    token,
    body: { name: "another" },
    headers: { "idempotency-key": "once" }
  })
  yield* ask("PATCH", "/v1/auth/me", {
    token,
    body: { email: randomEmail(), current_password: firstPassword }
  })
  const changed = yield* ask("POST", "/v1/auth/password", {
    token,
    body: { current_password: firstPassword, new_password: secondPassword }
  })
  assert.strictEqual(statusAndError(changed), "200")
  return {
    email,
    key: String(key.body.key),
    token: String(changed.body.access_token),
    user_id: String(registered.body.user.id),
    workspace,
    workspace_id: String(registered.body.workspace.id),
    secrets: [
      firstPassword,
      secondPassword,
      login.access_token,
      login.refresh_token,
      token,
      refresh.body.refresh_token,
      changed.body.access_token,
      changed.body.refresh_token,
      key.body.key,
      rotated.body.key,
      original.call_secret,
      original.message_secret,
      replaced.call_secret,
      replaced.message_secret
    ].map(String)
  }
})

/**
 * Lists a secret and the parts of it that are equally confidential, such as a key without its
 * prefix.
 */
const partsOf = (secret: string): ReadonlyArray<string> => [
  secret,
  secret.replace(/^(?:pak_|whsec_)/, ""),
  secret.split(".").at(-1) ?? secret
]

const assertNowhere = (secrets: ReadonlyArray<string>, text: string, where: string) => {
  for (const part of secrets.flatMap(partsOf)) {
    // If `notInclude` failed, it would print the whole text.
    assert.isFalse(text.includes(part), `${part.slice(0, 12)}... is in ${where}`)
  }
}

/** Sends raw bytes, for requests that an HTTP client would refuse to send. */
const sendBytes = (url: string, bytes: string) =>
  Effect.callback<string>((resume) => {
    const { hostname, port } = new URL(url)
    let text = ""
    net
      .connect(Number(port), hostname, function (this: net.Socket) {
        this.end(bytes)
      })
      .on("data", (chunk) => (text += chunk.toString()))
      .on("error", () => resume(Effect.succeed(text)))
      .on("close", () => resume(Effect.succeed(text)))
  })

layer(testAppLayer({}, realHashes))("secrets", (it) => {
  it.effect("are in no column of any table", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { email, secrets, user_id } = yield* useEverything
      const tables = yield* sql<{ name: string }>`
        SELECT table_name AS name
        FROM information_schema.tables
        WHERE table_schema = 'public'`
      let all = ""
      for (const { name } of tables) {
        const rows = yield* sql<{ row: string }>`SELECT t::text AS row FROM ${sql(name)} AS t`
        const text = rows.map(({ row }) => row).join("\n")
        assertNowhere(secrets, text, name)
        all += text
      }
      // Proves that the search works: it must find the user's id.
      assert.include(all, user_id)
      assert.include(all, email.slice(0, email.indexOf("@")))
      assert.include(all, "$argon2id$v=19$m=19456,t=2,p=1$")
    })
  )

  it.effect("are in no log line and no error message", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { logs, url } = yield* TestApp
      const { key, secrets, token, user_id, workspace, workspace_id, ...account } =
        yield* useEverything
      const answers: Array<string> = []
      const note = Effect.map(({ text }: { readonly text: string }) => void answers.push(text))
      const json = { "content-type": "application/json" }

      yield* note(ask("GET", `/v1/whoami?api_key=${key}&access_token=${token}`))
      yield* note(ask("GET", `/v1/nowhere/${key}`))
      yield* note(ask("GET", `/v1/workspaces/${key}`, { token }))
      yield* note(ask("GET", "/v1/whoami", { token: `${key}x` }))
      yield* note(ask("GET", "/v1/whoami", { token: `${token}x` }))
      yield* note(askRaw("GET", "/v1/whoami", ["authorization", `Bearer ${key} ${token}`]))
      yield* note(
        askRaw("GET", "/v1/whoami", [
          "authorization",
          `Bearer ${key}`,
          "authorization",
          `Bearer ${token}`
        ])
      )
      const login = { email: account.email, password: secondPassword }
      for (const body of [
        JSON.stringify(login).slice(0, -1),
        JSON.stringify({ ...login, [secondPassword]: secondPassword.length }),
        JSON.stringify({ email: secondPassword, password: [secondPassword] }),
        JSON.stringify(secondPassword)
      ]) {
        const answer = yield* ask("POST", "/v1/auth/login", { body, headers: json })
        assert.isBelow(answer.status, 500)
        // The response names an unknown field, even if the name is a password.
        if (!body.includes(`"${secondPassword}":`)) answers.push(answer.text)
      }
      answers.push(
        yield* sendBytes(
          url,
          `GET /v1/whoami HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nx\r\n\r\n`
        )
      )

      // The database is damaged in two ways, so that one request has an empty response and the
      // other a logged 500.
      const failures = () => logs.filter((line) => line.includes("request failed")).length
      const before = failures()
      yield* sql`
        UPDATE signing_secrets
        SET sealed_secret = 'damaged'
        WHERE workspace_id = ${workspace_id}`
      yield* sql`UPDATE users SET password_hash = 'damaged' WHERE id = ${user_id}`
      const unsealed = yield* ask("GET", `${workspace}/signing-secrets?url=https://a.test`, {
        token
      })
      const unverified = yield* ask("DELETE", "/v1/auth/me", {
        token,
        body: { current_password: secondPassword }
      })
      assert.deepStrictEqual(unsealed.body.data, [])
      assert.strictEqual(statusAndError(unverified), "500 internal_error")
      answers.push(unsealed.text, unverified.text)
      assert.strictEqual(failures(), before + 1)

      assertNowhere(secrets, logs.join("\n"), "the logs")
      assert.notMatch(logs.join("\n"), /authorization|bearer /i)
      assertNowhere(secrets, answers.join("\n"), "an answer")
      assert.notMatch(answers.join("\n"), /node_modules|\.ts:|SELECT |argon2/)
    })
  )
})
