import { assert, layer } from "@effect/vitest"
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  ask,
  createKey,
  type Member,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"

const valid = { name: "a key", scopes: ["tasks:read"] }

const create = (member: Member, body: unknown) =>
  ask("POST", `${member.workspace}/api-keys`, { token: member.access_token, body })

/** Invalid bodies, with the paths of the issues that the response reports. */
const refused: ReadonlyArray<readonly [string, unknown, ReadonlyArray<ReadonlyArray<unknown>>]> = [
  ["no name", { scopes: ["tasks:read"] }, [["name"]]],
  ["a name that is blank", { ...valid, name: " \t " }, [["name"]]],
  ["a name that is empty", { ...valid, name: "" }, [["name"]]],
  ["a name of 101 characters", { ...valid, name: "x".repeat(101) }, [["name"]]],
  ["a name with a line break", { ...valid, name: "a\nb" }, [["name"]]],
  ["a name with an escape character", { ...valid, name: "a\u001b[31m" }, [["name"]]],
  ["a name with NUL", { ...valid, name: "a\u0000b" }, [["name"], ["name"]]],
  ["a name with half a surrogate pair", { ...valid, name: "a\ud800b" }, [["name"]]],
  ["a name that is a number", { ...valid, name: 1 }, [["name"]]],
  ["a name that is null", { ...valid, name: null }, [["name"]]],
  ["no scopes", { name: "a key" }, [["scopes"]]],
  ["an empty list of scopes", { ...valid, scopes: [] }, [["scopes"]]],
  ["a scope twice", { ...valid, scopes: ["tasks:read", "tasks:read"] }, [["scopes"]]],
  ["an unknown scope", { ...valid, scopes: ["tasks:read", "tasks:admin"] }, [["scopes", 1]]],
  ["a scope in upper case", { ...valid, scopes: ["Tasks:read"] }, [["scopes", 0]]],
  ["nine scopes", { ...valid, scopes: [...scopes, "tasks:read"] }, [["scopes"], ["scopes"]]],
  ["scopes as one string", { ...valid, scopes: "tasks:read" }, [["scopes"]]],
  ["0 days", { ...valid, expires_in_days: 0 }, [["expires_in_days"]]],
  ["3651 days", { ...valid, expires_in_days: 3651 }, [["expires_in_days"]]],
  ["a day and a half", { ...valid, expires_in_days: 1.5 }, [["expires_in_days"]]],
  ["days as a string", { ...valid, expires_in_days: "1" }, [["expires_in_days"]]],
  ["negative days", { ...valid, expires_in_days: -1 }, [["expires_in_days"]]],
  ["an empty list of networks", { ...valid, allowed_ips: [] }, [["allowed_ips"]]],
  ["a network twice", { ...valid, allowed_ips: ["10.0.0.0/8", "10.0.0.0/8"] }, [["allowed_ips"]]],
  ["a name as a network", { ...valid, allowed_ips: ["localhost"] }, [["allowed_ips", 0]]],
  ["bits after the prefix", { ...valid, allowed_ips: ["10.0.0.1/8"] }, [["allowed_ips", 0]]],
  ["a prefix too long", { ...valid, allowed_ips: ["10.0.0.0/33"] }, [["allowed_ips", 0]]],
  ["IPv4 in IPv6", { ...valid, allowed_ips: ["::ffff:10.0.0.0/104"] }, [["allowed_ips", 0]]],
  ["an unknown field", { ...valid, role: "admin" }, [["role"]]],
  ["a key of the caller's choice", { ...valid, key: `pak_${"A".repeat(43)}` }, [["key"]]],
  ["a list", [valid], [[]]],
  ["null", "null", [[]]],
  [
    "everything wrong at once",
    { name: "", scopes: ["a", "b"], expires_in_days: 0, extra: 1 },
    [["name"], ["scopes", 0], ["scopes", 1], ["expires_in_days"], ["extra"]]
  ]
]

/** Inserts keys directly, because creating each one with a request takes time. */
const insertKeys = Effect.fnUntraced(function* (member: Member, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO api_keys (id, workspace_id, name, key_hash, key_prefix, scopes, created_at)
    SELECT gen_random_uuid(), ${member.workspace_id}::uuid, 'a key', gen_random_uuid()::text,
           'pak_AAAAAAAA', '{tasks:read}', now()
    FROM generate_series(1, ${count}::int)`
})

const createOne = (member: Member, at: "url" | "otherUrl" = "url") =>
  ask("POST", `${member.workspace}/api-keys`, {
    token: member.access_token,
    body: { name: "one more", scopes: ["tasks:read"] },
    at
  })

layer(twoTestNodesLayer())("creation of an API key", (it) => {
  it.effect("rejects an invalid body with the paths of all its issues", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const [problem, body, paths] of refused) {
        const answer = yield* create(member, body)
        assert.strictEqual(statusAndError(answer), "422 validation_failed", problem)
        const found = answer.body.detail.issues.map(({ path }: { readonly path: unknown }) => path)
        assert.sameDeepMembers(found, [...paths], problem)
        for (const { message } of answer.body.detail.issues) assert.isNotEmpty(message)
      }
      const listed = yield* ask("GET", `${member.workspace}/api-keys`, {
        token: member.access_token
      })
      assert.deepStrictEqual(listed.body.data, [])
    })
  )

  it.effect("names a JSON object in the message for other bodies", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const body of [[], null, 1]) {
        const answer = yield* create(member, body)
        assert.deepStrictEqual(answer.body.detail.issues, [
          { path: [], code: "invalid_type", message: "The body must be an object." }
        ])
      }
    })
  )

  it.effect("accepts a body at its limits", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const [sent, kept] of [
        ["x".repeat(100), "x".repeat(100)],
        ["  padded  ", "padded"],
        ["ключ 🔑", "ключ 🔑"]
      ]) {
        const answer = yield* create(member, {
          ...valid,
          name: sent,
          scopes,
          expires_in_days: 3650
        })
        assert.strictEqual(answer.status, 201, sent)
        assert.strictEqual(answer.body.name, kept)
        assert.deepStrictEqual(answer.body.scopes, scopes)
      }
    })
  )

  it.effect("requires JSON with its content type, up to a size", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const send = (body: string, type: string) =>
        ask("POST", `${member.workspace}/api-keys`, {
          token: member.access_token,
          body,
          headers: { "content-type": type }
        })
      const json = JSON.stringify(valid)
      assert.strictEqual(statusAndError(yield* send("{", "application/json")), "400 malformed_json")
      assert.strictEqual(
        statusAndError(yield* send(json, "text/plain")),
        "415 unsupported_media_type"
      )
      const long = JSON.stringify({ ...valid, name: "x".repeat(1024 * 1024) })
      assert.strictEqual(
        statusAndError(yield* send(long, "application/json")),
        "413 payload_too_large"
      )
      assert.strictEqual(statusAndError(yield* send(json, "application/json")), "201")
    })
  )

  it.effect("rejects the 101st active key until another one is revoked or deleted", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const [first, second] = [yield* createKey(member), yield* createKey(member)]
      yield* insertKeys(member, 98)
      const refused = yield* createOne(member)
      assert.strictEqual(refused.status, 402)
      assert.deepStrictEqual(refused.body.detail, {
        error: "quota_exceeded",
        message:
          'The plan "self_hosted" allows at most 100 active API keys. The limit has been reached.',
        quota: "active_api_keys",
        limit: 100,
        plan: "self_hosted"
      })
      const revoke = `${member.workspace}/api-keys/${first.id}/revoke`
      yield* ask("POST", revoke, { token })
      assert.strictEqual(statusAndError(yield* createOne(member)), "201")
      assert.strictEqual(statusAndError(yield* createOne(member)), "402 quota_exceeded")
      yield* ask("DELETE", `${member.workspace}/api-keys/${second.id}`, { token })
      assert.strictEqual(statusAndError(yield* createOne(member)), "201")
      // Each workspace has a separate quota.
      assert.strictEqual(statusAndError(yield* createOne(yield* signUp())), "201")
    })
  )

  it.effect("rejects the 1,001st key until a revoked or expired one is deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const key = yield* createKey(member)
      yield* insertKeys(member, 999)
      yield* sql`
        UPDATE api_keys
        SET revoked_at = created_at
        WHERE workspace_id = ${member.workspace_id}`
      const refused = yield* createOne(member)
      assert.deepInclude(refused.body.detail, { quota: "api_keys", limit: 1_000 })
      const path = `${member.workspace}/api-keys/${key.id}`
      yield* ask("DELETE", path, { token: member.access_token })
      assert.strictEqual(statusAndError(yield* createOne(member)), "201")
    })
  )

  it.effect("allows a rotation at the limit only without grace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const key = yield* createKey(member)
      yield* insertKeys(member, 99)
      const path = `${member.workspace}/api-keys/${key.id}/rotate`
      const overlapping = yield* ask("POST", path, { token, body: { grace_seconds: 60 } })
      assert.strictEqual(statusAndError(overlapping), "402 quota_exceeded")
      // The rejected rotation has not changed the old key.
      const kept = yield* ask("GET", `${member.workspace}/api-keys/${key.id}`, { token })
      assert.isNull(kept.body.expires_at)
      assert.strictEqual(statusAndError(yield* ask("POST", path, { token, body: {} })), "201")
    })
  )

  it.effect(
    "creates exactly one key if only one is left in the quota and many are created simultaneously",
    () =>
      Effect.gen(function* () {
        const member = yield* signUp()
        yield* insertKeys(member, 99)
        const answers = yield* runConcurrently(
          times(8, (index) => createOne(member, index % 2 === 0 ? "url" : "otherUrl"))
        )
        assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
          "201",
          ...times(7, () => "402 quota_exceeded")
        ])
      })
  )
})
