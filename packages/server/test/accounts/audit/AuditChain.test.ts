import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { AuditChain } from "../../../src/accounts/audit/AuditChain.ts"
import { AuditLog } from "../../../src/accounts/audit/AuditLog.ts"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { Secrets } from "../../../src/core/Secrets.ts"
import {
  ask,
  createKey,
  type Member,
  password,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testConfig } from "../../support/TestApp.ts"
import { advanceUntilEmpty } from "../../support/advanceUntil.ts"
import { waitUntilEventsLinked } from "./waitUntilEventsLinked.ts"

const chainWith = (config: Partial<AppConfig["Service"]>) =>
  Effect.provide(
    AuditChain.layer.pipe(
      Layer.provide(AuditLog.layer),
      Layer.provide([Ids.layer, Secrets.layer]),
      Layer.provide(Layer.succeed(AppConfig, { ...testConfig, ...config }))
    ),
    { local: true }
  )

const reportWith = (config: Partial<AppConfig["Service"]>, knownHash?: string) =>
  Effect.flatMap(AuditChain, (chain) => chain.verify(knownHash)).pipe(chainWith(config))

const verifyWith = (config: Partial<AppConfig["Service"]>, knownHash?: string) =>
  Effect.map(reportWith(config, knownHash), ({ problems }) => problems)

const verify = verifyWith({})

const renewWith = (config: Partial<AppConfig["Service"]>) =>
  Effect.flatMap(AuditChain, (chain) => chain.renewMacs).pipe(chainWith(config))

const nextSecret = Redacted.make("the next secret, thirty-two bytes and more")

const previousAppSecrets = testConfig.appSecret === undefined ? [] : [testConfig.appSecret]

const withEvents = Effect.gen(function* () {
  const member = yield* signUp()
  yield* runConcurrently(times(5, () => createKey(member)))
  const { body: task } = yield* ask("POST", `${member.workspace}/cron`, {
    token: member.access_token,
    body: { name: "Payroll", schedule: "0 3 * * *", url: "https://example.com/payroll" }
  })
  yield* ask("PATCH", `${member.workspace}/cron/${task.id}`, {
    token: member.access_token,
    body: { url: "https://example.com/v2/payroll" }
  })
  yield* waitUntilEventsLinked
  return member
})

type Tampering = (
  sql: SqlClient.SqlClient,
  member: Member
) => Effect.Effect<unknown, SqlError.SqlError>

/** Runs statements one after another. */
const all = (...statements: ReadonlyArray<Effect.Effect<unknown, SqlError.SqlError>>) =>
  Effect.all(statements, { discard: true })

const third = (sql: SqlClient.SqlClient, { workspace_id }: Member) => sql`id = (
  SELECT id
  FROM audit_events
  WHERE workspace_id = ${workspace_id}
  ORDER BY ordinal
  OFFSET 2
  LIMIT 1
)`

const lastFive = (sql: SqlClient.SqlClient) => sql`ordinal > (SELECT ordinal - 5 FROM audit_head)`

/** Ways of tampering with the log, as SQL, each with the problem that verification must report. */
const tamperings: Readonly<Record<string, readonly [problem: string, Tampering]>> = {
  "an actor removed": [
    "was changed",
    (sql, member) => sql`UPDATE audit_events SET actor_id = NULL WHERE ${third(sql, member)}`
  ],
  "an address changed": [
    "was changed",
    (sql, member) => sql`UPDATE audit_events SET ip = '10.0.0.1' WHERE ${third(sql, member)}`
  ],
  "a time changed": [
    "was changed",
    (sql, member) => sql`
      UPDATE audit_events
      SET created_at = created_at - interval '1 day'
      WHERE ${third(sql, member)}`
  ],
  "an event moved into another workspace": [
    "was changed",
    (sql, member) =>
      sql`UPDATE audit_events SET workspace_id = ${member.user_id} WHERE ${third(sql, member)}`
  ],
  "details changed": [
    "has details that do not match their hash",
    (sql, member) =>
      sql`UPDATE audit_events SET details = '{"name":"x"}' WHERE ${third(sql, member)}`
  ],
  "the new URL of a task changed": [
    "has details that do not match their hash",
    (sql, { workspace_id }) => sql`
      UPDATE audit_events
      SET details = jsonb_set(details, '{changes,url,1}', '"https://example.com/other"')
      WHERE workspace_id = ${workspace_id}
        AND action = 'cron_task.updated'`
  ],
  "the change of a task removed": [
    "does not follow the previous event",
    (sql, { workspace_id }) => sql`
      DELETE FROM audit_events
      WHERE workspace_id = ${workspace_id}
        AND action = 'cron_task.created'`
  ],
  "details erased as if the workspace were gone": [
    "has details that do not match their hash",
    (sql, member) => sql`
      UPDATE audit_events
      SET details = '{}', details_salt = NULL, request_id = NULL
      WHERE ${third(sql, member)}`
  ],
  "a hash and an ordinal changed": [
    "was changed",
    (sql, member) => sql`
      UPDATE audit_events
      SET ordinal = ordinal + 1000, hash = 'x'
      WHERE ${third(sql, member)}`
  ],
  "an event removed": [
    "does not follow the previous event",
    (sql, member) => sql`DELETE FROM audit_events WHERE ${third(sql, member)}`
  ],
  "the first events removed": [
    "is the first, but earlier events are missing",
    (sql) => sql`DELETE FROM audit_events WHERE ordinal < 3`
  ],
  "the last events removed": [
    "the last events are missing",
    (sql) => sql`DELETE FROM audit_events WHERE ${lastFive(sql)}`
  ],
  "all events removed": ["the last events are missing", (sql) => sql`DELETE FROM audit_events`],
  "the last events removed, and the end set back": [
    "the recorded end of the log was changed",
    (sql) =>
      all(
        sql`DELETE FROM audit_events WHERE ${lastFive(sql)}`,
        sql`
          UPDATE audit_head
          SET (ordinal, hash, at) = (
            SELECT ordinal, hash, created_at
            FROM audit_events
            ORDER BY ordinal DESC NULLS LAST
            LIMIT 1
          )`
      )
  ],
  "the last events removed, and the end with them": [
    "the record of the end of the log is missing",
    (sql) => all(sql`DELETE FROM audit_events WHERE ${lastFive(sql)}`, sql`DELETE FROM audit_head`)
  ],
  "all events and the end removed": [
    "no event records its creation",
    (sql) => all(sql`DELETE FROM audit_events`, sql`DELETE FROM audit_head`)
  ],
  "an event of an account changed": [
    "was changed",
    (sql, member) => sql`UPDATE audit_events SET ip = '10.0.0.1' WHERE user_id = ${member.user_id}`
  ],
  "an event of an account removed": [
    "does not follow the previous event",
    (sql, member) => sql`
      DELETE FROM audit_events
      WHERE user_id = ${member.user_id}
        AND action = 'session.started'`
  ],
  "all events of an account removed": [
    "no event records its creation",
    (sql, member) => sql`DELETE FROM audit_events WHERE user_id = ${member.user_id}`
  ],
  "all events of a workspace removed": [
    "no event records its creation",
    (sql, member) => sql`DELETE FROM audit_events WHERE workspace_id = ${member.workspace_id}`
  ]
}

/**
 * Tampering that the service would cover up by linking the events again if it checked only for
 * missing links.
 */
const relinked: Readonly<Record<string, readonly [problem: string, Tampering]>> = {
  "a forged event": [
    "was not written by the service",
    (sql, { workspace_id }) => sql`
      INSERT INTO audit_events (id, action, workspace_id, details, details_salt, details_hash, mac, created_at)
      SELECT gen_random_uuid(), action, ${workspace_id}, details, details_salt, details_hash, mac, created_at
      FROM audit_events
      WHERE workspace_id = ${workspace_id}
      LIMIT 1`
  ],
  "the change of a task repeated": [
    "was not written by the service",
    (sql, { workspace_id }) => sql`
      INSERT INTO audit_events (
        id, action, workspace_id, actor_id, subject_id, request_id, details, details_salt,
        details_hash, mac, created_at
      )
      SELECT
        gen_random_uuid(), action, workspace_id, actor_id, subject_id, request_id, details,
        details_salt, details_hash, mac, created_at
      FROM audit_events
      WHERE workspace_id = ${workspace_id}
        AND action = 'cron_task.updated'`
  ],
  "a forged event without a MAC": [
    "cannot be verified",
    (sql, { workspace_id }) => sql`
      INSERT INTO audit_events (id, action, workspace_id, details, created_at)
      VALUES (gen_random_uuid(), 'api_key.deleted', ${workspace_id}, '{}', now())`
  ],
  "the whole log rewritten and its links removed": [
    "was not written by the service",
    (sql, member) =>
      all(
        sql`DELETE FROM audit_events WHERE ${third(sql, member)}`,
        sql`UPDATE audit_events SET ip = '10.0.0.1' WHERE user_id = ${member.user_id}`,
        sql`
          UPDATE audit_events
          SET ordinal = NULL, hash = NULL, previous_hash = NULL, previous_at = NULL`,
        sql`DELETE FROM audit_head`
      )
  ],
  "the last events removed, and the end set back": [
    "does not follow the previous event",
    (sql) =>
      all(
        sql`DELETE FROM audit_events WHERE ${lastFive(sql)}`,
        sql`
          UPDATE audit_head
          SET (ordinal, hash, at) = (
            SELECT ordinal, hash, created_at
            FROM audit_events
            ORDER BY ordinal DESC NULLS LAST
            LIMIT 1
          )`
      )
  ],
  "the last events removed, and the end with them": [
    "does not follow the previous event",
    (sql) => all(sql`DELETE FROM audit_events WHERE ${lastFive(sql)}`, sql`DELETE FROM audit_head`)
  ],
  "all events removed, and the end set back to the beginning": [
    "no event records its creation",
    (sql) =>
      all(
        sql`DELETE FROM audit_events`,
        sql`UPDATE audit_head SET ordinal = 0, hash = '', at = NULL, mac = ''`
      )
  ]
}

/** Copies the log, because all events of the test database are in one chain. */
const keepLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE kept_events AS SELECT * FROM audit_events`
  yield* sql`CREATE TABLE kept_head AS SELECT * FROM audit_head`
  // This is one transaction, because the node's loop inserts the log's last link if it is missing.
  // The loop locks that row before it reads the events.
  return Effect.gen(function* () {
    yield* sql`LOCK TABLE audit_head, audit_events`
    yield* sql`DELETE FROM audit_events`
    yield* sql`INSERT INTO audit_events SELECT * FROM kept_events`
    yield* sql`DELETE FROM audit_head`
    yield* sql`INSERT INTO audit_head SELECT * FROM kept_head`
    yield* sql`DROP TABLE kept_events, kept_head`
  }).pipe(sql.withTransaction, Effect.retry({ times: 3 }), Effect.orDie)
})

/** Runs an effect with a new member, and then restores the log. */
const restoringLog = <A, E, R>(work: (member: Member) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const member = yield* withEvents
    assert.deepStrictEqual(yield* verify, [])
    const restore = yield* keepLog
    yield* Effect.ensuring(work(member), restore)
    assert.deepStrictEqual(yield* verify, [])
  })

const assertReported = (problems: ReadonlyArray<string>, problem: string) =>
  assert.isTrue(
    problems.some((text) => text.includes(problem)),
    problems.join("\n")
  )

layer(testAppLayer())("the audit chain", (it) => {
  it.effect("links all events of simultaneous changes on several nodes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* withEvents
      assert.deepStrictEqual(yield* verify, [])
      const rows = yield* sql<{
        ordinal: number
        hash: string
        previous_hash: string
        workspace_id: string | null
      }>`
        SELECT ordinal::int, hash, previous_hash, workspace_id
        FROM audit_events
        ORDER BY ordinal`
      assert.isTrue(rows.some(({ workspace_id }) => workspace_id === null))
      rows.forEach(({ ordinal, previous_hash }, index) => {
        assert.strictEqual(ordinal, index + 1)
        assert.strictEqual(previous_hash, rows[index - 1]?.hash ?? "")
      })
      const { body } = yield* ask("GET", `${member.workspace}/audit`, {
        token: member.access_token
      })
      const shown = body.data.map(({ hash }: { readonly hash: string }) => hash)
      assert.sameMembers(
        shown,
        rows.flatMap(({ hash, workspace_id }) => (workspace_id === member.workspace_id ? hash : []))
      )
    })
  )

  it.effect.each(Object.keys(tamperings))("reports %s", (name) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [problem, tamper] = tamperings[name]!
      yield* restoringLog((member) =>
        Effect.gen(function* () {
          yield* tamper(sql, member)
          assertReported(yield* verify, problem)
        })
      )
    })
  )

  it.effect.each(Object.keys(relinked))(
    "reports %s, also after the service has linked further events",
    (name) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [problem, tamper] = relinked[name]!
        yield* restoringLog((member) =>
          Effect.gen(function* () {
            yield* tamper(sql, member)
            assert.isNotEmpty(yield* verify)
            yield* createKey(member)
            yield* leap("2 hours")
            yield* Effect.andThen(AuditChain, waitUntilEventsLinked).pipe(chainWith({}))
            assertReported(yield* verify, problem)
          })
        )
      })
  )

  it.effect("checks that a noted hash is still in the log", () =>
    Effect.gen(function* () {
      const member = yield* withEvents
      const { lastHash } = yield* reportWith({})
      const restore = yield* keepLog
      yield* createKey(member)
      yield* waitUntilEventsLinked
      const later = yield* reportWith({}, lastHash)
      assert.deepStrictEqual(later.problems, [])
      assert.notStrictEqual(later.lastHash, lastHash)
      // The earlier log is valid, like a log restored from a backup.
      yield* restore
      assert.deepStrictEqual(yield* verify, [])
      const [problem, ...others] = yield* verifyWith({}, later.lastHash)
      assert.match(
        problem ?? "",
        /^no event has the hash .{43}: the log was rewritten or restored from a backup/
      )
      assert.deepStrictEqual(others, [])
    })
  )

  it.effect("stays valid across a change of APP_SECRET, also after the old one is removed", () =>
    restoringLog(() =>
      Effect.gen(function* () {
        const { events, lastHash } = yield* reportWith({})
        const rotating = { appSecret: nextSecret, previousAppSecrets }
        const renewed = { appSecret: nextSecret }
        assert.deepStrictEqual(yield* verifyWith(rotating), [])
        const tooEarly = yield* verifyWith(renewed)
        assertReported(tooEarly, `${events} events cannot be verified: written with a secret`)
        assertReported(tooEarly, "the recorded end of the log cannot be verified")
        assert.strictEqual(tooEarly.length, 2)

        assert.strictEqual(yield* renewWith(rotating), events)
        assert.strictEqual(yield* renewWith(rotating), 0)
        assert.deepStrictEqual(yield* verifyWith(renewed, lastHash), [])
      })
    )
  )

  it.effect("gives no valid MAC to events that were changed while APP_SECRET changes", () =>
    restoringLog(({ workspace_id }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          UPDATE audit_events
          SET hash = left(hash, 42) || 'x'
          WHERE workspace_id = ${workspace_id}
            AND action = 'workspace.created'`
        yield* renewWith({ appSecret: nextSecret, previousAppSecrets })
        const problems = yield* verifyWith({ appSecret: nextSecret })
        assertReported(problems, "was changed")
      })
    )
  )

  it.effect("leaves events that a node cannot verify to a node with the new secret", () =>
    restoringLog((member) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* renewWith({ appSecret: nextSecret, previousAppSecrets })
        // This node has only the old secret.
        yield* createKey(member)
        yield* createKey(member)
        assert.isNotEmpty(yield* sql`SELECT id FROM audit_events WHERE ordinal IS NULL`)
        const rotating = { appSecret: nextSecret, previousAppSecrets }
        yield* Effect.andThen(AuditChain, waitUntilEventsLinked).pipe(chainWith(rotating))
        assert.deepStrictEqual(yield* verifyWith(rotating), [])
      })
    )
  )

  it.effect("stays valid after events expire or their details are erased", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* withEvents
      yield* ask("DELETE", "/v1/auth/me", {
        token: member.access_token,
        body: { current_password: password }
      })
      yield* waitUntilEventsLinked
      yield* TestClock.adjust("10 minutes")
      yield* advanceUntilEmpty("1 minute", sql`SELECT owner_id FROM audit_erasures`)
      assert.deepStrictEqual(yield* verify, [])
      const erased = sql`workspace_id = ${member.workspace_id}`
      yield* restoringLog(() =>
        Effect.gen(function* () {
          yield* sql`UPDATE audit_events SET details = '{"name":"x"}' WHERE ${erased}`
          assertReported(yield* verify, "has details that do not match their hash")
        })
      )
      yield* leap("400 days")
      const { body } = yield* ask("GET", "/v1/health")
      assert.strictEqual(body.status, "ok")
      assert.deepStrictEqual(yield* verify, [])
      yield* withEvents
      assert.deepStrictEqual(yield* verify, [])
    })
  )
})
