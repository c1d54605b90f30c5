import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { StoredResponseLimits } from "../../../src/http/request/Idempotency.ts"
import { ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const limited = Layer.provideMerge(
  Layer.unwrap(Effect.succeed(testAppLayer())),
  Layer.succeed(StoredResponseLimits, { each: 30_000, account: 40_000 })
)

const create = ({ access_token: token, workspace }: Member, key?: string) =>
  ask("POST", `${workspace}/cron`, {
    token,
    headers: key === undefined ? {} : { "idempotency-key": key },
    body: {
      name: "large",
      method: "POST",
      url: "https://example.com/",
      body: "x".repeat(8_000),
      schedule: "0 0 1 1 *"
    }
  })

layer(limited)("the responses kept for repeats", (it) => {
  it.effect("are bounded for a workspace and its account, and a rejected create did nothing", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const first = yield* create(member, "a")
      assert.strictEqual(first.status, 201)
      assert.strictEqual((yield* create(member, "b")).status, 201)
      const refused = yield* create(member, "c")
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      assert.include(refused.body.detail.message, "Omit the header")
      assert.strictEqual(
        refused.headers.get("retry-after"),
        String(refused.body.detail.retry_after)
      )
      const listed = Effect.map(
        ask("GET", `${member.workspace}/cron`, { token: member.access_token }),
        ({ body }) => body.data.length
      )
      assert.strictEqual(yield* listed, 2)
      // A stored response is sent again without counting its bytes again.
      assert.deepStrictEqual((yield* create(member, "a")).body, first.body)
      assert.strictEqual((yield* create(member)).status, 201)

      const { body: made } = yield* ask("POST", "/v1/workspaces", {
        token: member.access_token,
        body: { name: "another" }
      })
      const another = { ...member, workspace: `/v1/workspaces/${made.id}` }
      assert.strictEqual((yield* create(another, "a")).status, 201)
      assert.strictEqual(statusAndError(yield* create(another, "b")), "429 rate_limited")
      assert.strictEqual((yield* create(yield* signUp(), "a")).status, 201)
    })
  )
})
