import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type KeyRing, seal, Secrets, unseal } from "../../../src/core/Secrets.ts"
import { ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { collide } from "../../support/collide.ts"
import { startNode, TestApp, twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"

const ringOf = (...secrets: readonly [string, ...Array<string>]) =>
  Effect.map(Secrets, (service) => service.keys("signing-secret")).pipe(
    Effect.provide(
      Secrets.layerFrom(
        Redacted.make(secrets[0]),
        ...secrets.slice(1).map((secret) => Redacted.make(secret))
      )
    ),
    Effect.runSync
  )

const ring = ringOf("the current one", "the retired one")
const retired = ringOf("the retired one")
const foreign = ringOf("somebody else's")

describe("a sealed secret", () => {
  it.prop(
    "decrypts to the original, with the same keys and the same context",
    [Schema.String, Schema.String, Schema.Int],
    ([context, text, position]) => {
      const wellFormed = text.toWellFormed()
      for (const made of [ring, retired]) {
        assert.strictEqual(unseal(ring, context, seal(made, context, wellFormed)), wellFormed)
      }
      const sealed = seal(ring, context, wellFormed)
      assert.throws(() => unseal(ring, `${context.toWellFormed()}x`, sealed))
      assert.throws(() => unseal(retired, context, sealed))
      assert.throws(() => unseal(foreign, context, sealed))

      const [id = "", data = ""] = sealed.split(".")
      const bytes = Buffer.from(data, "base64url")
      const index = Math.abs(position) % bytes.length
      bytes[index] = (bytes[index] ?? 0) ^ 1
      const tampered = `${id}.${bytes.toString("base64url")}`
      assert.throws(() => unseal(ring, context, tampered))
      assert.throws(() => unseal(ring, context, `${id}.${data.slice(0, index)}`))
    }
  )

  it("is different each time, and an invalid one is rejected", () => {
    assert.notStrictEqual(seal(ring, "a", "text"), seal(ring, "a", "text"))
    const [key] = ring satisfies KeyRing
    for (const none of ["", ".", "text", `${key.id}`, `${key.id}.`, `${key.id}.AAAA`]) {
      assert.throws(() => unseal(ring, "a", none))
    }
  })
})

const path = ({ workspace }: Member) => `${workspace}/signing-secrets`

const origin = "https://api.example.com"

const list = (member: Member, query = "", url = origin) =>
  ask("GET", `${path(member)}?url=${encodeURIComponent(url)}${query}`, {
    token: member.access_token
  })

const rotate = (member: Member, at: "url" | "otherUrl" = "url") =>
  ask("POST", `${path(member)}/rotate`, { token: member.access_token, at })

layer(twoTestNodesLayer())("the signing secrets of a workspace", (it) => {
  it.effect("are one secret, and two for the day after a rotation", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const first = yield* list(member)
      assert.strictEqual(first.headers.get("cache-control"), "no-store")
      assert.strictEqual(first.body.data.length, 1)
      const [original] = first.body.data
      assert.strictEqual(original.origin, origin)
      assert.match(original.call_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.match(original.message_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.isNull(original.expires_at)

      yield* TestClock.adjust("1 millis")
      const rotated = yield* rotate(member)
      assert.strictEqual(rotated.status, 201)
      assert.hasAllKeys(rotated.body, ["id", "created_at", "expires_at"])
      assert.isNull(rotated.body.expires_at)
      const ending = new Date(Date.parse(rotated.body.created_at) + 86_400_000).toISOString()
      const both = (yield* list(member)).body.data
      assert.deepStrictEqual(both, [
        { ...both[0], ...rotated.body },
        { ...original, expires_at: ending }
      ])
      assert.notStrictEqual(both[0].call_secret, original.call_secret)
      assert.notStrictEqual(both[0].message_secret, original.message_secret)
      const page = yield* list(member, "&limit=1")
      assert.deepStrictEqual(page.body.data, [both[0]])
      assert.isString(page.body.next_cursor)

      // Rotating again on the same day keeps only the newest two secrets, so that a leaked secret
      // can be replaced quickly.
      const again = yield* rotate(member)
      const secrets = (yield* list(member)).body.data
      assert.deepStrictEqual(
        secrets.map(({ id }: { readonly id: string }) => id),
        [again.body.id, rotated.body.id]
      )
      yield* leap("86399999 millis")
      const fresh = yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: member.refresh_token }
      })
      const later: Member = { ...member, ...fresh.body }
      assert.strictEqual((yield* list(later)).body.data.length, 2)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual((yield* list(later)).body.data, [{ ...secrets[0], ...again.body }])
    })
  )

  it.effect("differ between origins, and are the same for all URLs of one origin", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const secretsAt = (url: string, who = member) =>
        Effect.map(list(who, "", url), ({ body }) => {
          const { call_secret, message_secret } = body.data[0]
          return [call_secret, message_secret]
        })
      const known = yield* secretsAt(origin)
      for (const url of [`${origin}/jobs?a=b#c`, "HTTPS://API.example.com:443/"]) {
        assert.deepStrictEqual(yield* secretsAt(url), known)
      }
      const all = [
        ...known,
        ...(yield* secretsAt("http://api.example.com")),
        ...(yield* secretsAt("https://api.example.com:8443")),
        ...(yield* secretsAt("https://example.com")),
        ...(yield* secretsAt(origin, yield* signUp()))
      ]
      assert.strictEqual(new Set(all).size, 10)
      const token = member.access_token
      for (const query of ["", "?url=", "?url=api.example.com", "?url=ftp://example.com"]) {
        assert.strictEqual(
          statusAndError(yield* ask("GET", path(member) + query, { token })),
          "422 validation_failed"
        )
      }
    })
  )

  it.effect("are never more than two, even after concurrent rotations", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sql = yield* SqlClient.SqlClient
      const answers = yield* collide(
        sql`SELECT id FROM signing_secrets WHERE workspace_id = ${member.workspace_id} FOR UPDATE`,
        [rotate(member), rotate(member, "otherUrl")]
      )
      assert.deepStrictEqual(new Set(answers.map(statusAndError)), new Set(["201"]))
      const { data } = (yield* list(member)).body
      const ends = data.map(({ expires_at }: { readonly expires_at: unknown }) => expires_at)
      assert.strictEqual(data.length, 2)
      assert.strictEqual(ends.filter((end: unknown) => end === null).length, 1)
    })
  )

  it.effect("decrypt with a retired APP_SECRET, and new ones are encrypted with the new one", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { data } = (yield* list(member)).body
      const appSecret = Redacted.make("the secret of the day after, thirty-two bytes")
      const at = (config: Partial<typeof testConfig>) =>
        Effect.map(startNode({ ...testConfig, ...config }), (url) => ({
          url,
          otherUrl: url,
          logs: []
        }))
      const during = yield* at({
        appSecret,
        previousAppSecrets: testConfig.appSecret === undefined ? [] : [testConfig.appSecret]
      })
      yield* Effect.gen(function* () {
        assert.deepStrictEqual((yield* list(member)).body.data, data)
        const { body } = yield* rotate(member)
        const rotated = (yield* list(member)).body.data
        assert.strictEqual(rotated[0].id, body.id)
        assert.strictEqual(rotated[1].call_secret, data[0].call_secret)
      }).pipe(Effect.provideService(TestApp, during))
    })
  )
})
