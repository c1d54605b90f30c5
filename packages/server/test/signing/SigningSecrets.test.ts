import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type KeyRing, seal, Secrets, unseal } from "../../src/platform/Secrets.ts"
import { ask, type Member, outcome, signUp } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { collide } from "../support/collide.ts"
import { startNode, TestApp, testNodesLayer, testConfig } from "../support/TestApp.ts"

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
    "opens to what it was, for the ring and in the context it was made in",
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

  it("is never the same twice, and is refused when it is none", () => {
    assert.notStrictEqual(seal(ring, "a", "text"), seal(ring, "a", "text"))
    const [key] = ring satisfies KeyRing
    for (const none of ["", ".", "text", `${key.id}`, `${key.id}.`, `${key.id}.AAAA`]) {
      assert.throws(() => unseal(ring, "a", none))
    }
  })
})

const path = ({ workspace }: Member) => `${workspace}/signing-secrets`

const list = (member: Member, query = "") =>
  ask("GET", path(member) + query, { token: member.access_token })

const rotate = (member: Member, at: "url" | "otherUrl" = "url") =>
  ask("POST", `${path(member)}/rotate`, { token: member.access_token, at })

layer(testNodesLayer())("the signing secrets of a workspace", (it) => {
  it.effect("are one, and two for the day after a rotation", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const first = yield* list(member)
      assert.strictEqual(first.headers.get("cache-control"), "no-store")
      assert.strictEqual(first.body.data.length, 1)
      const [original] = first.body.data
      assert.match(original.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.isNull(original.expires_at)

      yield* TestClock.adjust("1 millis")
      const rotated = yield* rotate(member)
      assert.strictEqual(rotated.status, 201)
      assert.strictEqual(rotated.headers.get("cache-control"), "no-store")
      assert.isNull(rotated.body.expires_at)
      const ending = new Date(Date.parse(rotated.body.created_at) + 86_400_000).toISOString()
      assert.deepStrictEqual((yield* list(member)).body.data, [
        rotated.body,
        { ...original, expires_at: ending }
      ])
      const page = yield* list(member, "?limit=1")
      assert.deepStrictEqual(page.body.data, [rotated.body])
      assert.isString(page.body.next_cursor)

      // Rotated again within the day: the newest two live, so that a leak can be outrun.
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
      assert.deepStrictEqual((yield* list(later)).body.data, [again.body])
    })
  )

  it.effect("are never more than two, also when rotations cross", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sql = yield* SqlClient.SqlClient
      const answers = yield* collide(
        sql`SELECT id FROM signing_secrets WHERE workspace_id = ${member.workspace_id} FOR UPDATE`,
        [rotate(member), rotate(member, "otherUrl")]
      )
      assert.deepStrictEqual(new Set(answers.map(outcome)), new Set(["201"]))
      const { data } = (yield* list(member)).body
      const ends = data.map(({ expires_at }: { readonly expires_at: unknown }) => expires_at)
      assert.strictEqual(data.length, 2)
      assert.strictEqual(ends.filter((end: unknown) => end === null).length, 1)
    })
  )

  it.effect("open under a retired APP_SECRET, and new ones are sealed under the new one", () =>
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
        assert.include((yield* list(member)).text, body.secret)
      }).pipe(Effect.provideService(TestApp, during))
    })
  )
})
