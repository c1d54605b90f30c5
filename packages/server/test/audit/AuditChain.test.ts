import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AuditChain } from "../../src/audit/AuditChain.ts"
import { AuditLog } from "../../src/audit/AuditLog.ts"
import { AppConfig } from "../../src/config/Config.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { eventually } from "../runner/support/tasks.ts"
import { ask, createKey, type Member, password, signUp, times, together } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer, testConfig } from "../support/TestApp.ts"
import { linked } from "./linked.ts"

const verifyWith = (config: Partial<AppConfig["Service"]>) =>
  Effect.flatMap(AuditChain, (chain) => chain.verify).pipe(
    Effect.map(({ problems }) => problems.map((text) => text.replaceAll(/[\da-f-]{36}/g, "…"))),
    Effect.provide(
      AuditChain.layer.pipe(
        Layer.provide(AuditLog.layer),
        Layer.provide([Ids.layer, Secrets.layer]),
        Layer.provide(Layer.succeed(AppConfig, { ...testConfig, ...config }))
      )
    )
  )

const verify = verifyWith({})

const withEvents = Effect.gen(function* () {
  const member = yield* signUp()
  yield* together(times(5, () => createKey(member)))
  yield* linked
  return member
})

layer(testAppLayer())("the chain of audit events", (it) => {
  it.effect("links all of a workspace, though changes and nodes come together", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* withEvents
      assert.deepStrictEqual(yield* verify, [])
      const rows = yield* sql<{ ordinal: number; hash: string; previous_hash: string }>`
        SELECT ordinal, hash, previous_hash
        FROM audit_events
        WHERE workspace_id = ${member.workspace_id}
        ORDER BY ordinal`
      assert.isAtLeast(rows.length, 6)
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
        rows.map(({ hash }) => hash)
      )
    })
  )

  it.effect("shows whatever is done to the events behind the service", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const attempts = (member: Member) => {
        const own = sql`workspace_id = ${member.workspace_id}`
        return [
          [
            "was changed",
            sql`UPDATE audit_events SET actor_id = NULL WHERE ${own} AND ordinal = 3`
          ],
          [
            "was changed",
            sql`UPDATE audit_events SET ip = '10.0.0.1' WHERE ${own} AND ordinal = 3`
          ],
          [
            "was changed",
            sql`
              UPDATE audit_events
              SET created_at = created_at - interval '1 day'
              WHERE ${own} AND ordinal = 3`
          ],
          [
            "has other details",
            sql`UPDATE audit_events SET details = '{"name":"x"}' WHERE ${own} AND ordinal = 3`
          ],
          [
            "has other details",
            sql`UPDATE audit_events SET details = '{}' WHERE ${own} AND ordinal = 3`
          ],
          [
            "does not follow the one before it",
            sql`DELETE FROM audit_events WHERE ${own} AND ordinal = 3`
          ],
          [
            "has lost what came before it",
            sql`DELETE FROM audit_events WHERE ${own} AND ordinal < 3`
          ],
          [
            "the last events are missing",
            sql`DELETE FROM audit_events WHERE ${own} AND ordinal > 4`
          ],
          ["the last events are missing", sql`DELETE FROM audit_events WHERE ${own}`],
          [
            "was changed",
            sql`
              UPDATE audit_events
              SET ordinal = ordinal + 1000, hash = 'x'
              WHERE ${own} AND ordinal = 3`
          ]
        ] as const
      }
      const { length } = attempts(yield* signUp())
      for (const index of times(length, (nr) => nr)) {
        const member = yield* withEvents
        const [problem, tamper] = attempts(member)[index]!
        assert.deepStrictEqual(yield* verify, [], String(index))
        yield* tamper
        const problems = yield* verify
        assert.isNotEmpty(problems)
        assert.isTrue(
          problems.some((text) => text.includes(problem)),
          `${index}: ${problems.join()}`
        )
        // Whole again for the next.
        yield* sql`DELETE FROM audit_events WHERE workspace_id = ${member.workspace_id}`
        yield* sql`DELETE FROM audit_chains WHERE workspace_id = ${member.workspace_id}`
      }
    })
  )

  it.effect("accuses nobody of events whose secret is not given any more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* withEvents
      const appSecret = Redacted.make("the next secret, thirty-two bytes and more")
      const { appSecret: old } = testConfig
      const previousAppSecrets = old === undefined ? [] : [old]
      assert.deepStrictEqual(yield* verifyWith({ appSecret, previousAppSecrets }), [])
      const problems = yield* verifyWith({ appSecret })
      assert.isNotEmpty(problems)
      for (const problem of problems) {
        assert.match(
          problem,
          /: the oldest (?:event|\d+ events) cannot be verified: made with a secret that/
        )
      }
      yield* sql`
        DELETE FROM audit_events
        WHERE workspace_id = ${member.workspace_id}
          AND ordinal = 3`
      const tampered = yield* verifyWith({ appSecret })
      assert.isTrue(tampered.some((text) => text.endsWith("does not follow the one before it")))
      yield* sql`DELETE FROM audit_events WHERE workspace_id = ${member.workspace_id}`
      yield* sql`DELETE FROM audit_chains WHERE workspace_id = ${member.workspace_id}`
    })
  )

  it.effect("holds when events have come to their age, and when their words are erased", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* withEvents
      yield* ask("DELETE", "/v1/auth/me", {
        token: member.access_token,
        body: { current_password: password }
      })
      yield* linked
      yield* TestClock.adjust("10 minutes")
      yield* TestClock.withLive(
        eventually(sql`SELECT owner_id FROM audit_erasures`, (rows) => rows.length === 0)
      )
      assert.deepStrictEqual(yield* verify, [])
      const other = yield* withEvents
      yield* sql`
        DELETE FROM audit_events
        WHERE workspace_id = ${other.workspace_id}
          AND ordinal < 3`
      assert.isNotEmpty(yield* verify)
      yield* leap("400 days")
      assert.deepStrictEqual(yield* verify, [])
    })
  )
})
