import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { delayedClientOf, setUpDelayed } from "../tasks/delayed/tasks.ts"
import { ask, statusAndError } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { agentClientOf, workerClientOf } from "./workers.ts"

const setUp = Effect.gen(function* () {
  const { member } = yield* setUpDelayed
  const { body } = yield* workerClientOf(member).create({ labels: ["office"] })
  const agent = agentClientOf(body.token)
  const session = Number((yield* agent.hello()).body.session)
  const sql = yield* SqlClient.SqlClient
  /** Sets the number of seconds until the session expires. */
  const leave = (seconds: number) => sql`
    UPDATE nodes
    SET lease_until = now() + ${seconds} * interval '1 second'
    WHERE id = ${session}`
  const left = Effect.map(
    sql<{ readonly seconds: number }>`
      SELECT date_part('epoch', lease_until - now()) AS seconds
      FROM nodes
      WHERE id = ${session}`,
    ([row]) => row?.seconds ?? assert.fail("no session")
  )
  return { agent, leave, left, member, session, sql, worker: String(body.id) }
})

layer(testAppLayer())("claims of workers", (it) => {
  it.effect("renew the session, also when no run is due", () =>
    Effect.gen(function* () {
      const { agent, leave, left, session } = yield* setUp
      for (const input of [{}, { idle: true }]) {
        yield* leave(3)
        assert.deepStrictEqual((yield* agent.claim(session, input)).body, { calls: [] })
        assert.isAbove(yield* left, 10)
      }
    })
  )

  it.effect("renew only the current session of their worker", () =>
    Effect.gen(function* () {
      const mine = yield* setUp
      const other = yield* setUp
      yield* other.leave(3)
      const refused = yield* mine.agent.claim(other.session, { idle: true })
      assert.strictEqual(statusAndError(refused), "409 session_ended")
      assert.isBelow(yield* other.left, 4)
      yield* mine.sql`
        UPDATE nodes
        SET died_at = now()
        WHERE id = ${mine.session}`
      const late = yield* mine.agent.claim(mine.session)
      assert.strictEqual(statusAndError(late), "409 session_ended")
      assert.strictEqual(late.body.detail.reason, "lost")
    })
  )

  it.effect("find a due run behind the future runs of any number of other labels", () =>
    Effect.gen(function* () {
      const { agent, member, session } = yield* setUp
      const { create } = delayedClientOf(member)
      const on = (label: string) => ({ run_on: { labels: [label] } })
      yield* Effect.forEach(Array.from({ length: 130 }), (_, n) => create(on(`machine-${n}`)), {
        concurrency: 10
      })
      yield* create({ ...on("office"), delay_seconds: 0 })
      const claims = yield* Effect.forEach(Array.from({ length: 3 }), () => agent.claim(session))
      assert.lengthOf(
        claims.flatMap(({ body }) => body.calls),
        1
      )
    })
  )

  it.effect("are rejected with invalid parameters, after the token was checked", () =>
    Effect.gen(function* () {
      const { agent, session } = yield* setUp
      for (const input of [
        { slots: 0 },
        { slots: "many" },
        { wait_seconds: 31 },
        { session: 0 },
        { idle: "perhaps" },
        { watching: "x".repeat(41) }
      ]) {
        const refused = yield* agent.claim(session, input)
        assert.strictEqual(statusAndError(refused), "422 validation_failed", JSON.stringify(input))
      }
      assert.strictEqual(
        statusAndError(yield* ask("POST", "/v1/worker/claim?slots=0")),
        "401 invalid_worker_token"
      )
      assert.strictEqual(
        statusAndError(yield* ask("GET", "/v1/worker/claim")),
        "405 method_not_allowed"
      )
      assert.strictEqual(statusAndError(yield* ask("POST", "/v1/worker/claims")), "404 not_found")
    })
  )

  it.effect("get their response immediately when the watched processes change", () =>
    Effect.gen(function* () {
      const { agent, member, session, worker } = yield* setUp
      const token = member.access_token
      const monitors = `${member.workspace}/monitors/process`
      const input = { name: "db", worker_id: worker, match: { name: "postgres" } }
      const { id } = (yield* ask("POST", monitors, { token, body: input })).body
      const waiting = { wait_seconds: 10, idle: true }
      assert.deepStrictEqual((yield* agent.claim(session, waiting)).body, { calls: [], beat: true })
      const orders = (yield* agent.beat(session)).body
      assert.lengthOf(orders.watch, 1)
      const { watching } = orders
      const known = yield* agent.claim(session, { watching })
      assert.deepStrictEqual(known.body, { calls: [] })
      yield* ask("DELETE", `${monitors}/${id}`, { token })
      const gone = yield* agent.claim(session, { ...waiting, watching })
      assert.deepStrictEqual(gone.body, { calls: [], beat: true })
      assert.deepInclude((yield* agent.beat(session)).body, { watch: [], watching: "" })
    })
  )
})
