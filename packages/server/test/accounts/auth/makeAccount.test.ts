import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { waitUntilEventsLinked } from "../audit/waitUntilEventsLinked.ts"
import {
  ask,
  logIn,
  type Member,
  statusAndError,
  registerAndLogIn,
  signUp
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

/** Matches columns whose values differ between any two accounts. */
const isOwn =
  /^(id|lane|ip|mac|hash|details_hash|details_salt|ordinal|previous_at|previous_hash|password_hash|request_id|sealed_secret)$/

/**
 * Reads all of an account's rows by table, and replaces the values that are unique to this account.
 */
const rowReader = Effect.fnUntraced(function* (member: Member) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT relname::text AS name
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p')
      AND NOT relispartition
    ORDER BY relname`
  const { sid } = JSON.parse(atob(member.access_token.split(".")[1] ?? ""))
  const words = Object.entries({
    account: member.user_id,
    workspace: member.workspace_id,
    session: String(sid),
    someone: member.email.slice(0, member.email.indexOf("@"))
  })
  const found: Record<string, ReadonlyArray<unknown>> = {}
  for (const { name } of tables) {
    const rows = yield* sql<{ readonly row: Record<string, unknown> }>`
      SELECT to_jsonb(found) AS row
      FROM ${sql(name)} AS found
      WHERE EXISTS (
        SELECT
        FROM unnest(${words.map(([, word]) => word)}::text[]) AS word
        WHERE found::text LIKE '%' || word || '%'
      )`
    if (rows.length === 0) continue
    const said = rows.map(({ row }) =>
      JSON.stringify(row, (column, value) => (isOwn.test(column) ? "its own" : value))
    )
    found[name] = said
      .map((row) => words.reduce((text, [name, word]) => text.replaceAll(word, name), row))
      .toSorted()
  }
  return found
})

layer(testAppLayer())("an account created by makeAccount", (it) => {
  it.effect("has the same rows in all tables as after a registration and a login", () =>
    Effect.gen(function* () {
      const registered = yield* registerAndLogIn()
      const signedUp = yield* signUp()
      yield* waitUntilEventsLinked
      const expected = yield* rowReader(registered)
      assert.containsAllKeys(expected, ["audit_events", "memberships", "sessions", "users"])
      assert.deepStrictEqual(yield* rowReader(signedUp), expected)
    })
  )

  it.effect("works like other accounts", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "200")
      const body = { refresh_token: member.refresh_token }
      const { body: renewed } = yield* ask("POST", "/v1/auth/refresh", { body })
      const secrets = yield* ask("GET", `${member.workspace}/signing-secrets?url=https://a.test`, {
        token: renewed.access_token
      })
      assert.match(secrets.body.data[0].call_secret, /^whsec_/)
    })
  )
})
