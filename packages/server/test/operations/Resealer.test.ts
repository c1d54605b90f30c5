// @tags slow
import { assert, layer } from "@effect/vitest"
import { Array as Arr, Effect, Logger, Redacted, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { makeSecrets, type KeyPurpose, seal, unseal } from "../../src/core/Secrets.ts"
import { SealedRepo } from "../../src/operations/SealedRepo.ts"
import { cronClientOf } from "../tasks/cron/tasks.ts"
import { pathOf, senders } from "../tasks/triggers/triggers.ts"
import { currentCode, confirmTotp, startTotp } from "../accounts/totp/totp.ts"
import { pollUntil } from "../billing/support/fixture.ts"
import { heartbeatClientOf, ping } from "../monitoring/monitors.ts"
import { notificationClientOf } from "../notifications/support/channels.ts"
import {
  ask,
  type Member,
  statusAndError,
  password,
  randomIp,
  signUp,
  times
} from "../support/http.ts"
import { startNode, TestApp, testAppLayer, testConfig } from "../support/TestApp.ts"
import { checkValueOf, testSecret } from "../support/testSecret.ts"

const old = testSecret
const renewed = Redacted.make("the secret of the day after, thirty-two bytes")

const keyOf = (purpose: KeyPurpose, secret = old) => makeSecrets([secret]).keys(purpose)

/** Starts a node with other secrets on the same database, and records the node's log. */
const nodeWith = Effect.fnUntraced(function* (
  previousAppSecrets: ReadonlyArray<Redacted.Redacted>,
  appSecret = renewed
) {
  const logs: Array<string> = []
  const url = yield* startNode({
    ...testConfig,
    appSecret,
    previousAppSecrets,
    appSecretLost: checkValueOf(old)
  }).pipe(
    Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))]))
  )
  return TestApp.of({ url, otherUrl: url, logs })
})

const logIn = Effect.fnUntraced(function* (member: Member, totp?: string) {
  const login = yield* ask("POST", "/v1/auth/login", {
    headers: { "x-forwarded-for": randomIp() },
    body: { email: member.email, password, ...(totp !== undefined && { totp }) }
  })
  assert.strictEqual(statusAndError(login), "200")
  return { ...member, access_token: String(login.body.access_token) }
})

const secretsOf = ({ access_token: token, workspace }: Member) =>
  ask("GET", `${workspace}/signing-secrets?url=https://api.example.com`, { token })

const webhook = {
  name: "on call",
  kind: "webhook",
  config: { url: "https://alerts.example.com/hook", authorization: "Bearer abcdefghijkl" }
}

/**
 * Inserts more values of each kind than the resealer reads in one batch. Some of them cannot be
 * decrypted with any key.
 */
const insertMany = Effect.fnUntraced(function* (channelId: string) {
  const sql = yield* SqlClient.SqlClient
  const { workspace_id } = yield* signUp()
  const foreign = Redacted.make("somebody else's secret, thirty-two bytes or more")
  const sealers = [old, ...times(249, () => old), ...times(150, () => foreign)] as const
  yield* sql`
    INSERT INTO signing_secrets ${sql.insert(
      Arr.map(sealers, (secret) => ({
        id: randomUUID(),
        workspace_id,
        sealed_secret: seal(keyOf("signing-secret", secret), workspace_id, "whsec_AAAA"),
        expires_at: null,
        created_at: new Date(0)
      }))
    )}`
  const [copied] = yield* sql<{ readonly config: object }>`
    SELECT *
    FROM notification_channels
    WHERE id = ${channelId}`
  // The database computes this column.
  const channel = copied && Struct.omit({ ...copied, secret_names: null }, ["secret_names"])
  yield* sql`
    INSERT INTO notification_channels ${sql.insert(
      Arr.map(sealers, (secret) => {
        const id = randomUUID()
        return {
          ...channel,
          id,
          config: JSON.stringify(channel?.config),
          created_by: null,
          updated_by: null,
          sealed_secrets: seal(keyOf("notification-channel", secret), id, "{}")
        }
      })
    )}`
})

/** Adds an identity provider's token to a session. */
const insertProviderToken = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [session] = yield* sql<{ readonly id: string }>`
    SELECT id
    FROM sessions
    LIMIT 1`
  const id = session?.id ?? ""
  yield* sql`
    INSERT INTO provider_sessions ${sql.insert({
      session_id: id,
      sealed_token: seal(keyOf("provider-token"), id, "a refresh token"),
      checked_at: new Date(0)
    })}`
})

/**
 * Counts the values of all kinds that are still encrypted with a key derived from the old secret.
 */
const leftUnderOld = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly left: number }>`
    SELECT count(*)::int AS left
    FROM (
      SELECT mac AS sealed FROM audit_events
      UNION ALL
      SELECT sealed_secret FROM signing_secrets
      UNION ALL
      SELECT sealed_secrets FROM notification_channels
      UNION ALL
      SELECT sealed_value FROM secrets
      UNION ALL
      SELECT sealed_secret FROM totp
      UNION ALL
      SELECT sealed_token FROM provider_sessions
      UNION ALL
      SELECT sealed_ping_id FROM ping_urls
      UNION ALL
      SELECT sealed_token FROM task_triggers
      UNION ALL
      SELECT sealed_secret FROM task_triggers
    ) AS kept
    WHERE split_part(sealed, '.', 1) = ANY (${[
      ...keyOf("audit-chain"),
      ...keyOf("signing-secret"),
      ...keyOf("notification-channel"),
      ...keyOf("secret"),
      ...keyOf("totp"),
      ...keyOf("provider-token"),
      ...keyOf("ping-url-shown"),
      ...keyOf("trigger-url-shown"),
      ...keyOf("trigger-secret")
    ].map(({ id }) => id)}::text[])`
  return row?.left ?? NaN
})

layer(testAppLayer())("a value that a retired APP_SECRET has sealed", (it) => {
  it.effect("is resealed, however many there are, and then does not need the retired secret", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { body: signing } = yield* secretsOf(member)
      const { body: channel } = yield* notificationClientOf(member).create(webhook)
      const { body: heartbeat } = yield* heartbeatClientOf(member).create()
      yield* ask("PUT", `${member.workspace}/secrets/API_TOKEN`, {
        token: member.access_token,
        body: { value: "the value of a token", allowed_hosts: ["api.example.com"] }
      })
      yield* ask("PUT", `${member.workspace}/status-pages/resealed`, {
        token: member.access_token,
        body: { title: "Status", groups: [], password: "for our customers" }
      })
      const { body: task } = yield* cronClientOf(member).create()
      const { body: trigger } = yield* ask("PUT", `${member.workspace}/cron/${task.id}/trigger`, {
        token: member.access_token,
        body: { signature: { sender: "github", secret: senders.github.secret } }
      })
      yield* insertMany(channel.id)
      yield* insertProviderToken
      const secret = yield* startTotp(member)
      yield* confirmTotp(member, secret)

      const successor = yield* nodeWith([old])
      // The resealer waits until the other nodes have the new secret.
      yield* TestClock.adjust("599 seconds")
      assert.isAbove(yield* leftUnderOld, 500)
      yield* TestClock.adjust("1 second")
      yield* pollUntil(leftUnderOld, (left) => left === 0)
      for (const name of ["signing secrets", "secrets of notification channels"]) {
        yield* pollUntil(
          Effect.sync(() => successor.logs.join("\n")),
          (lines) => lines.includes(`150 ${name} cannot be decrypted`)
        )
      }

      const last = yield* nodeWith([])
      const sql = yield* SqlClient.SqlClient
      const [kept] = yield* sql<{ readonly id: string; readonly sealed_value: string }>`
        SELECT id, sealed_value
        FROM secrets`
      assert.strictEqual(
        unseal(keyOf("secret", renewed), kept?.id ?? "", kept?.sealed_value ?? ""),
        "the value of a token"
      )
      yield* Effect.gen(function* () {
        const later = yield* logIn(member, yield* currentCode(secret))
        assert.deepStrictEqual((yield* secretsOf(later)).body, signing)
        const channels = notificationClientOf(later)
        const changed = yield* channels.update(channel.id, { name: "at night" })
        assert.deepInclude(changed.body, { name: "at night", config: channel.config })
        const heartbeats = heartbeatClientOf(later)
        assert.strictEqual((yield* ping(heartbeat.ping_url)).status, 200)
        const shown = (yield* heartbeats.get(heartbeat.id)).body
        assert.strictEqual(new URL(shown.ping_url).pathname, new URL(heartbeat.ping_url).pathname)
        assert.isNotNull(shown.last_ping_at)
        const basic = Buffer.from(":for our customers").toString("base64")
        const page = yield* ask("GET", "/status/resealed", {
          headers: { authorization: `Basic ${basic}` }
        })
        assert.strictEqual(page.status, 200)
        const triggered = yield* ask("POST", pathOf(trigger.url), {
          body: "{}",
          headers: senders.github.sign("{}", { seconds: 0 })
        })
        assert.strictEqual(triggered.status, 202)
        const { body: sameTrigger } = yield* ask(
          "GET",
          `${member.workspace}/cron/${task.id}/trigger`,
          { token: later.access_token }
        )
        assert.strictEqual(pathOf(sameTrigger.url), pathOf(trigger.url))
      }).pipe(Effect.provideService(TestApp, last))
    })
  )

  it.effect("is not overwritten if somebody changed it during resealing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* SealedRepo
      const { body: channel } = yield* notificationClientOf(yield* signUp()).create(webhook)
      const column = {
        table: "notification_channels",
        id: "id",
        owner: "workspace_id",
        sealed: "sealed_secrets"
      }
      const listed = yield* repo.listSealedOtherwise(column, "another key", nil)
      const row = listed.find(({ id }) => id === channel.id)
      assert(row !== undefined)
      yield* repo.update(column, { ...row, sealed: "stale" }, { sealed: "wrong", hash: undefined })
      yield* repo.update(column, { ...row, owner: nil }, { sealed: "wrong", hash: undefined })
      const kept = sql`
        SELECT sealed_secrets AS sealed
        FROM notification_channels
        WHERE id = ${channel.id}`
      assert.deepStrictEqual(yield* kept, [{ sealed: row.sealed }])
      yield* repo.update(column, row, { sealed: "right", hash: undefined })
      assert.deepStrictEqual(yield* kept, [{ sealed: "right" }])
    }).pipe(Effect.provide(SealedRepo.layer))
  )

  it.effect("is lost with that secret: a workspace shows no signing secret until it rotates", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const alone = yield* nodeWith([])
      yield* Effect.gen(function* () {
        const later = yield* logIn(member)
        const { access_token: token, workspace } = later
        assert.deepStrictEqual((yield* secretsOf(later)).body.data, [])
        const rotated = yield* ask("POST", `${workspace}/signing-secrets/rotate`, { token })
        assert.strictEqual(statusAndError(rotated), "201")
        assert.containSubset((yield* secretsOf(later)).body.data, [rotated.body])
      }).pipe(Effect.provideService(TestApp, alone))
    })
  )
})

const nil = "00000000-0000-0000-0000-000000000000"
