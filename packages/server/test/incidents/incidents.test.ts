import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { setUpHeartbeat } from "../monitoring/monitors.ts"
import { ask, statusAndError } from "../support/http.ts"
import { unknownId } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"

layer(testAppLayer())("an incident", (it) => {
  it.effect("keeps its first acknowledgement", () =>
    Effect.gen(function* () {
      const { heartbeats, member, monitor, ping } = yield* setUpHeartbeat()
      yield* ping("/7")
      const { body } = yield* heartbeats.incidents()
      const [incident] = body.data
      assert.deepStrictEqual(incident.cause, {
        code: "failed",
        message: "The job ended with exit status 7."
      })
      const path = `${member.workspace}/incidents/${incident.id}`
      yield* TestClock.adjust("1 minute")
      const known = yield* ask("POST", `${path}/acknowledge`, { token: member.access_token })
      const { timeline, ...acknowledged } = known.body
      assert.deepStrictEqual(
        timeline.map(({ type }: { readonly type: string }) => type),
        ["failure", "opened", "acknowledged"]
      )
      const [failure] = timeline
      assert.strictEqual(failure.message, "The job ended with exit status 7.")
      assert.deepStrictEqual(acknowledged, {
        ...incident,
        status: "acknowledged",
        acknowledged_by: member.user_id,
        acknowledged_at: "2026-06-01T12:01:00.000Z",
        deliveries: []
      })
      yield* TestClock.adjust("1 minute")
      const again = yield* ask("POST", `${path}/acknowledge`, { token: member.access_token })
      assert.deepStrictEqual(again.body, known.body)
      assert.deepStrictEqual(
        (yield* ask("GET", path, { token: member.access_token })).body,
        known.body
      )
      const idsOf = (query: string) =>
        Effect.map(heartbeats.incidents(query), (answer) => answer.body.data.length)
      assert.strictEqual(yield* idsOf(`?open=true&subject_id=${monitor.id}`), 1)
      assert.strictEqual(yield* idsOf("?open=false"), 0)
      assert.strictEqual(yield* idsOf("?status=open&status=acknowledged"), 1)
      assert.strictEqual(yield* idsOf("?status=open&status=closed"), 0)
      assert.strictEqual(yield* idsOf(`?subject_id=${unknownId}`), 0)
      assert.strictEqual(yield* idsOf("?from=2026-06-01T12:00:00Z&to=2026-06-01T12:00:01Z"), 1)
      assert.strictEqual(yield* idsOf("?from=2026-06-01T12:00:01Z"), 0)
      for (const query of [
        "?open=maybe",
        "?status=new",
        "?from=2026-06-01T12:00:01Z&to=2026-06-01T12:00:00Z"
      ]) {
        assert.strictEqual(
          statusAndError(yield* heartbeats.incidents(query)),
          "422 validation_failed"
        )
      }
    })
  )
})
