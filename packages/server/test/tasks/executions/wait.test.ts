// @tags idle
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { signalChannel } from "../../../src/events/Signals.ts"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import {
  type Answer,
  ask,
  createKey,
  newMember,
  type Member,
  statusAndError,
  signUp
} from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { signalledNodesLayer } from "../../support/TestApp.ts"
import { listenTo, onPostgres } from "../../support/TestDatabase.ts"

/** Holds back the responses to calls until the test releases them. */
const gate = Effect.gen(function* () {
  const held: Array<(status: number) => void> = []
  let status: number | undefined
  const port = yield* httpTarget((request, response) => {
    const answer = (code: number) => void response.writeHead(code).end(`answer to ${request.url}`)
    if (status === undefined) held.push(answer)
    else answer(status)
  })
  return {
    url: `http://127.0.0.1:${port}/`,
    open: (code: number) => {
      status = code
      for (const answer of held.splice(0)) answer(code)
    }
  }
})

/** Records the ids that nodes announce to each other while requests wait for them. */
const announced = Effect.gen(function* () {
  if (!onPostgres) return undefined
  const notifications = yield* listenTo(signalChannel)
  const until = (id: string): Effect.Effect<void, unknown> =>
    Effect.flatMap(Queue.take(notifications), ({ payload }) =>
      payload.startsWith("want ") && payload.includes(id) ? Effect.void : until(id)
    )
  return until
})

const setUp = Effect.gen(function* () {
  const member: Member = yield* signUp()
  const { workspace } = member
  const { id, key: token } = yield* createKey(member, {
    scopes: ["tasks:read", "tasks:write", "executions:read"]
  })
  const untilAnnounced = yield* announced
  const post = (at: string, body: object = {}) => ask("POST", workspace + at, { token, body })
  return {
    member,
    token,
    keyId: id,
    post,
    /**
     * Sends a waiting request to the other node, and continues once all nodes know about the
     * request.
     */
    waitFor: Effect.fnUntraced(function* (at: string, credential = token) {
      const options = { token: credential, at: "otherUrl" } as const
      const fiber = yield* Effect.forkChild(
        ask("GET", `${workspace}${at}?wait_seconds=30`, options)
      )
      if (untilAnnounced !== undefined) yield* untilAnnounced(at.split("/").at(-1) ?? "")
      else yield* Effect.repeat(ask("GET", workspace + at, { token }), { times: 2 })
      return fiber
    }),
    /** Returns a delayed task's execution. */
    executionOf: Effect.fnUntraced(function* (task: object) {
      const created = yield* post("/delayed", task)
      assert.strictEqual(created.status, 201, created.text)
      const of = `task_id=${created.body.id}`
      const due = yield* ask("GET", `${workspace}/executions?${of}`, { token })
      const scheduled = yield* ask("GET", `${workspace}/executions/scheduled?${of}`, { token })
      const [execution] = [...due.body.data, ...scheduled.body.data]
      return { task: String(created.body.id), id: String(execution.id) }
    })
  }
})

const answered = (fiber: Fiber.Fiber<Answer>) => Effect.timeout(Fiber.join(fiber), "20 seconds")

layer(signalledNodesLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "waiting for a result",
  (it) => {
    it.effect("holds the response until the call has its response, on any node", () =>
      Effect.gen(function* () {
        const { executionOf, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const { id } = yield* executionOf({ url, delay_seconds: 0 })
        const waiting = yield* waitFor(`/executions/${id}`)
        open(200)
        const { body, status } = yield* answered(waiting)
        assert.strictEqual(status, 200)
        assert.deepInclude(body, { id, status: "succeeded", status_code: 200 })
        assert.strictEqual(body.attempts[0].response_body, "answer to /")
      })
    )

    it.effect("is over when the last attempt has failed", () =>
      Effect.gen(function* () {
        const { executionOf, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const { id } = yield* executionOf({ url, delay_seconds: 0, retry_count: 1 })
        const waiting = yield* waitFor(`/executions/${id}`)
        open(503)
        const { body } = yield* answered(waiting)
        assert.deepInclude(body, { id, status: "failed", attempts_count: 2 })
      })
    )

    it.effect("gives no result to a member who was removed during the wait", () =>
      Effect.gen(function* () {
        const { executionOf, member, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const { id } = yield* executionOf({ url, delay_seconds: 0 })
        const viewer = yield* newMember(member, "viewer")
        const waiting = yield* waitFor(`/executions/${id}`, viewer.access_token)
        yield* ask("DELETE", `${member.workspace}/members/${viewer.user_id}`, {
          token: member.access_token
        })
        open(200)
        assert.strictEqual(statusAndError(yield* answered(waiting)), "404 not_found")
      })
    )

    it.effect("gives no result to a key that was revoked during the wait", () =>
      Effect.gen(function* () {
        const { executionOf, keyId, member, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const { id } = yield* executionOf({ url, delay_seconds: 0 })
        const waiting = yield* waitFor(`/executions/${id}`)
        yield* ask("POST", `${member.workspace}/api-keys/${keyId}/revoke`, {
          token: member.access_token
        })
        open(200)
        assert.strictEqual(statusAndError(yield* answered(waiting)), "401 invalid_api_key")
      })
    )

    describe("ends when somebody", () => {
      it.effect("cancels what is queued", () =>
        Effect.gen(function* () {
          const { executionOf, post, waitFor } = yield* setUp
          const { id } = yield* executionOf({
            url: "http://127.0.0.1:9/",
            delay_seconds: 600
          })
          const waiting = yield* waitFor(`/executions/${id}`)
          yield* post(`/executions/${id}/cancel`)
          assert.deepInclude((yield* answered(waiting)).body, { id, status: "cancelled" })
        })
      )

      it.effect("cancels what is running", () =>
        Effect.gen(function* () {
          const { executionOf, post, waitFor } = yield* setUp
          const { url } = yield* gate
          const { id } = yield* executionOf({ url, delay_seconds: 0 })
          const waiting = yield* waitFor(`/executions/${id}`)
          yield* post(`/executions/${id}/cancel`)
          assert.deepInclude((yield* answered(waiting)).body, { id, status: "cancelled" })
        })
      )

      it.effect("moves or deletes the task before it ran: then there is no such execution", () =>
        Effect.gen(function* () {
          const { executionOf, member, token, waitFor } = yield* setUp
          for (const [method, body] of [
            ["PATCH", { delay_seconds: 900 }],
            ["DELETE", undefined]
          ] as const) {
            const { id, task } = yield* executionOf({
              url: "http://127.0.0.1:9/",
              delay_seconds: 600
            })
            const waiting = yield* waitFor(`/executions/${id}`)
            yield* ask(method, `${member.workspace}/delayed/${task}`, { token, body })
            assert.strictEqual(statusAndError(yield* answered(waiting)), "404 not_found")
          }
        })
      )

      it.effect("deletes the workspace", () =>
        Effect.gen(function* () {
          const { executionOf, member, waitFor } = yield* setUp
          const { id } = yield* executionOf({ url: "http://127.0.0.1:9/", delay_seconds: 600 })
          const waiting = yield* waitFor(`/executions/${id}`)
          const options = { token: member.access_token }
          assert.strictEqual((yield* ask("DELETE", member.workspace, options)).status, 204)
          assert.strictEqual(statusAndError(yield* answered(waiting)), "404 not_found")
        })
      )
    })

    it.effect("ends when the run is skipped because the previous one is unfinished", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { member, post, token, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const created = yield* post("/cron", { name: "slow", url, schedule: "0 0 1 1 *" })
        const { body: first } = yield* post(`/cron/${created.body.id}/run`)
        // Inserts a slot, as the schedule would, which becomes due while the first run is
        // unfinished.
        yield* sql`
        UPDATE tasks
        SET next_fire_at = now() + interval '2 seconds'
        WHERE id = ${created.body.id}`
        const { body } = yield* Effect.repeat(
          ask("GET", `${member.workspace}/executions/scheduled?task_id=${created.body.id}`, {
            token
          }),
          { until: (answer) => answer.body.data.length === 1 }
        )
        const [second] = body.data
        assert.notStrictEqual(second.id, first.id)
        const waiting = yield* waitFor(`/executions/${second.id}`)
        assert.deepInclude((yield* answered(waiting)).body, { id: second.id, status: "skipped" })
        open(200)
      })
    )

    it.effect("returns a chain run with the responses of its steps", () =>
      Effect.gen(function* () {
        const { post, waitFor } = yield* setUp
        const { open, url } = yield* gate
        const steps = [
          { name: "one", url: `${url}one` },
          { name: "never", url, run_if: "failure" },
          { name: "two", url: `${url}two` }
        ]
        const chain = yield* post("/chains", { name: "a chain", steps })
        const { body: run } = yield* post(`/chains/${chain.body.id}/run`)
        const waiting = yield* waitFor(`/chains/${chain.body.id}/runs/${run.id}`)
        open(200)
        const { body } = yield* answered(waiting)
        assert.deepInclude(body, { id: run.id, status: "succeeded" })
        assert.deepStrictEqual(
          body.steps.map((step: StepSeen) => [
            step.name,
            step.status,
            step.execution.status_code,
            step.execution.response_body
          ]),
          [
            ["one", "succeeded", 200, "answer to /one"],
            ["never", "skipped", null, null],
            ["two", "succeeded", 200, "answer to /two"]
          ]
        )
      })
    )

    it.effect("gives a chain's run when a step is cancelled", () =>
      Effect.gen(function* () {
        const { post, waitFor } = yield* setUp
        const { url } = yield* gate
        const steps = [
          { name: "one", url },
          { name: "two", url }
        ]
        const chain = yield* post("/chains", { name: "a chain", steps })
        const { body: run } = yield* post(`/chains/${chain.body.id}/run`)
        const waiting = yield* waitFor(`/chains/${chain.body.id}/runs/${run.id}`)
        yield* post(`/executions/${run.id}/cancel`)
        assert.deepInclude((yield* answered(waiting)).body, { id: run.id, status: "cancelled" })
      })
    )

    it.effect("responds immediately for finished executions, and for ids that do not exist", () =>
      Effect.gen(function* () {
        const { executionOf, member, post, token } = yield* setUp
        const { id } = yield* executionOf({ url: "http://127.0.0.1:9/", delay_seconds: 600 })
        yield* post(`/executions/${id}/cancel`)
        const wait = (execution: string, seconds: string) =>
          ask("GET", `${member.workspace}/executions/${execution}?wait_seconds=${seconds}`, {
            token
          })
        assert.strictEqual((yield* wait(id, "30")).body.status, "cancelled")
        assert.strictEqual(statusAndError(yield* wait(unknownId, "30")), "404 not_found")
        for (const seconds of ["31", "-1", "0.5", "", "soon"]) {
          assert.strictEqual(
            statusAndError(yield* wait(id, seconds)),
            "422 validation_failed",
            seconds
          )
        }
      })
    )
  }
)

interface StepSeen {
  readonly name: string
  readonly status: string
  readonly execution: {
    readonly status_code: number | null
    readonly response_body: string | null
  }
}
