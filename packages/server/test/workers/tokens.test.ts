// @tags idle
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, createKey, statusAndError, signUp, times } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { agentClientOf, workerClientOf } from "./workers.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const workers = workerClientOf(member)
  const { id, token } = (yield* workers.create({ labels: ["office"] })).body
  return { member, workers, id: String(id), token: String(token), agent: agentClientOf(token) }
})

const report = (token: string) =>
  ask("POST", "/v1/workers/revoke", {
    body: { token },
    headers: { "x-forwarded-for": "203.0.113.5" }
  })

layer(testAppLayer())("a leaked token of a worker", (it) => {
  it.effect("can be revoked by anybody who has it, and other strings get the same response", () =>
    Effect.gen(function* () {
      const { agent, id, member, token, workers } = yield* setUp
      const { key } = yield* createKey(member)
      const { session } = (yield* agent.hello()).body
      for (const other of [`pwk_${"A".repeat(43)}`, "junk", "", token.slice(0, -1), key]) {
        assert.strictEqual(statusAndError(yield* report(other)), "204", other)
      }
      assert.strictEqual((yield* agent.beat(session)).status, 200)
      const answer = yield* report(token)
      assert.strictEqual(answer.status, 204)
      assert.strictEqual(answer.text, "")
      assert.strictEqual(statusAndError(yield* agent.beat(session)), "401 invalid_worker_token")
      assert.strictEqual(statusAndError(yield* agent.hello()), "401 invalid_worker_token")
      assert.strictEqual((yield* workers.get(id)).body.status, "offline")
      assert.strictEqual(statusAndError(yield* report(token)), "204")
      const audit = yield* ask("GET", `${member.workspace}/audit?limit=1`, {
        token: member.access_token
      })
      assert.deepInclude(audit.body.data[0], {
        action: "worker.token_revoked",
        actor: null,
        subject_id: id,
        ip: "203.0.113.5"
      })
      const rotated = (yield* workers.act(id, "rotate", {})).body
      assert.strictEqual((yield* agentClientOf(rotated.token).hello()).status, 200)
    })
  )
})

layer(testAppLayer({ rateLimit: 1 }))("the rate limit of a worker", (it) => {
  it.effect("is twenty times the limit of an API key, and separate for each worker", () =>
    Effect.gen(function* () {
      const { agent, token } = yield* setUp
      const other = yield* setUp
      yield* TestClock.adjust("1 minute")
      const { session } = (yield* agent.hello()).body
      const answers = yield* Effect.forEach(
        times(20, (n) => n),
        () => agent.beat(session)
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...times(19, () => 200), 429]
      )
      assert.strictEqual(answers.at(-1)?.headers.get("retry-after"), "3")
      assert.strictEqual(statusAndError(yield* agentClientOf(token).hello()), "429 rate_limited")
      assert.strictEqual((yield* other.agent.hello()).status, 200)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* agent.beat(session)).status, 200)
    })
  )
})
