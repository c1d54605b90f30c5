import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { advanceUntil } from "../../support/advanceUntil.ts"
import {
  accessStatus,
  ask,
  createKey,
  type Member,
  statusAndError,
  signUp,
  times
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, twoTestNodesLayer, testNow } from "../../support/TestApp.ts"

const from = (ip: string) => ({ "x-forwarded-for": ip })

const usageOf = (member: Member, id: string) =>
  ask("GET", `${member.workspace}/api-keys/${id}/usage`, { token: member.access_token })

/** Waits until a key's uses have been recorded, and returns them. */
const noted = Effect.fnUntraced(function* (
  id: string,
  count: number,
  isThrough: (rows: ReadonlyArray<unknown>) => boolean = (rows) => rows.length >= count
) {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.adjust("1 second")
  return yield* TestClock.withLive(
    eventually(
      sql<{ what: string }>`SELECT what FROM api_key_uses WHERE api_key_id = ${id}`,
      isThrough
    )
  )
})

layer(testAppLayer())("the usage of an API key", (it) => {
  it.effect("shows the used scopes and addresses", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { id, key } = yield* createKey(member, { scopes: ["tasks:read", "workspace:read"] })
      const before = yield* usageOf(member, id)
      assert.deepStrictEqual(before.body.scopes, [
        { scope: "tasks:read", last_used_at: null },
        { scope: "workspace:read", last_used_at: null }
      ])
      assert.strictEqual(before.body.suggestion.advice, "wait")
      yield* ask("GET", member.workspace, { token: key, headers: from("203.0.113.7") })
      yield* ask("GET", member.workspace, { token: key, headers: from("2001:db8::7") })
      // A rejected request does not count as a use of the scope.
      const refused = yield* ask("POST", `${member.workspace}/cron`, { token: key, body: {} })
      assert.strictEqual(statusAndError(refused), "403 insufficient_scope")
      yield* noted(id, 4)
      const { body } = yield* usageOf(member, id)
      assert.deepStrictEqual(
        body.scopes.map((one: { last_used_at: string | null }) => one.last_used_at !== null),
        [false, true]
      )
      const addresses = body.addresses.map(({ ip }: { ip: string }) => ip)
      assert.includeMembers(addresses, ["203.0.113.7", "2001:db8::/64"])
      assert.deepStrictEqual(body.refused_addresses, [])
      yield* leap("31 days")
      const login = yield* ask("POST", "/v1/auth/login", {
        body: { email: member.email, password: "correct horse battery staple" }
      })
      const later = yield* usageOf({ ...member, access_token: login.body.access_token }, id)
      assert.deepStrictEqual(later.body.suggestion, {
        advice: "narrow",
        scopes: ["workspace:read"]
      })
      yield* TestClock.setTime(testNow)
    })
  )

  it.effect("keeps the last ten addresses", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { id, key } = yield* createKey(member)
      for (const nr of times(14, (index) => index)) {
        yield* ask("GET", "/v1/whoami", { token: key, headers: from(`198.51.100.${nr}`) })
      }
      // A statement deletes the oldest addresses after the insert.
      const rows = yield* noted(id, 10, ({ length }) => length === 10)
      assert.strictEqual(rows.length, 10)
      assert.strictEqual((yield* usageOf(member, id)).body.addresses.length, 10)
    })
  )
})

layer(testAppLayer())("a key with allowed_ips", (it) => {
  it.effect("is rejected at other addresses like an unknown key, and its owner sees them", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const allowed_ips = ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7"]
      const { id, key } = yield* createKey(member, { allowed_ips })
      const record = yield* ask("GET", `${member.workspace}/api-keys/${id}`, {
        token: member.access_token
      })
      assert.deepStrictEqual(record.body.allowed_ips, allowed_ips)
      const at = (ip: string) =>
        Effect.map(ask("GET", "/v1/whoami", { token: key, headers: from(ip) }), statusAndError)
      for (const ip of ["203.0.113.9", "::ffff:203.0.113.9", "2001:db8:1::1", "198.51.100.7"]) {
        assert.strictEqual(yield* at(ip), "200", ip)
      }
      for (const ip of ["203.0.114.1", "::ffff:203.0.114.1", "2001:db9::1", "198.51.100.8"]) {
        assert.strictEqual(yield* at(ip), "401 invalid_api_key", ip)
      }
      yield* noted(id, 6)
      const { body } = yield* usageOf(member, id)
      assert.sameMembers(
        body.refused_addresses.map(({ ip }: { ip: string }) => ip),
        ["203.0.114.1", "2001:db9::/64", "198.51.100.8"]
      )
    })
  )

  it.effect("has a successor with the same networks", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { id } = yield* createKey(member, { allowed_ips: ["203.0.113.0/24"] })
      const rotated = yield* ask("POST", `${member.workspace}/api-keys/${id}/rotate`, {
        token: member.access_token,
        body: {}
      })
      assert.deepStrictEqual(rotated.body.allowed_ips, ["203.0.113.0/24"])
      assert.strictEqual(yield* accessStatus(rotated.body.key), "401 invalid_api_key")
    })
  )
})

const report = (key: string, ip = "203.0.113.5") =>
  ask("POST", "/v1/api-keys/revoke", { body: { key }, headers: from(ip) })

layer(twoTestNodesLayer())("a leaked key", (it) => {
  it.effect("can be revoked by anybody who has it, and other strings get the same response", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { id, key } = yield* createKey(member)
      for (const other of [`pak_${"A".repeat(43)}`, "junk", "", key.slice(0, -1)]) {
        assert.strictEqual(statusAndError(yield* report(other)), "204", other)
      }
      assert.strictEqual(yield* accessStatus(key), "200")
      const answer = yield* report(key)
      assert.strictEqual(answer.status, 204)
      assert.strictEqual(answer.text, "")
      assert.strictEqual(yield* accessStatus(key, "otherUrl"), "401 invalid_api_key")
      assert.strictEqual(statusAndError(yield* report(key)), "204")
      const token = member.access_token
      const audit = yield* ask("GET", `${member.workspace}/audit?limit=1`, { token })
      const [event] = audit.body.data
      assert.deepInclude(event, {
        action: "api_key.revoked",
        actor: null,
        subject_id: id,
        ip: "203.0.113.5"
      })
      assert.isTrue(event.details.was_leaked)
    })
  )

  it.effect("can be reported a hundred times in 15 minutes from one address", () =>
    Effect.gen(function* () {
      const send = (count: number) =>
        Effect.all(
          times(count, () => report("junk", "203.0.113.77")),
          { concurrency: 20 }
        )
      const first = yield* send(100)
      assert.deepStrictEqual([...new Set(first.map(statusAndError))], ["204"])
      const [refused] = yield* send(1)
      assert.strictEqual(statusAndError(refused!), "429 rate_limited")
      assert.isString(refused!.headers.get("retry-after"))
    })
  )
})

layer(twoTestNodesLayer())("an expiring key", (it) => {
  it.effect("is announced 7 days and 1 day before, once each with two nodes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const expiring = yield* createKey(member, { name: "deploys", expires_in_days: 30 })
      const revoked = yield* createKey(member, { expires_in_days: 30 })
      yield* report(revoked.key)
      yield* createKey(member)
      const notifications = sql<{
        event: string
        subject_id: string
        data: { name: string }
        at: Date
      }>`
        SELECT event, subject_id, data, at
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
        ORDER BY ordinal`
      let day = 0
      const notificationsAfter = Effect.fnUntraced(function* (days: number, count: number) {
        yield* leap(`${days - day} days`)
        day = days
        yield* TestClock.adjust("10 minutes")
        return yield* advanceUntil("10 minutes", notifications, ({ length }) => length >= count)
      })
      assert.deepStrictEqual(yield* notificationsAfter(22, 0), [])
      const [first] = yield* notificationsAfter(23, 1)
      assert.deepInclude(first, { event: "api_key.expiring", subject_id: expiring.id })
      assert.strictEqual(first?.data.name, "deploys")
      assert.isFalse(JSON.stringify(first).includes(expiring.key))
      yield* notificationsAfter(26, 1)
      const both = yield* notificationsAfter(29, 2)
      yield* notificationsAfter(31, 2)
      assert.strictEqual((yield* notifications).length, 2)
      assert.deepStrictEqual(
        both.map(({ subject_id }) => subject_id),
        [expiring.id, expiring.id]
      )
    })
  )
})
