// @tags processes postgres
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { storeVariables } from "../runner/support/service.ts"
import {
  sendJson,
  eventually,
  freePort,
  newUser,
  type ServerProcess,
  startServer
} from "../../support/ServerProcess.ts"
import { onPostgres } from "../../support/TestDatabase.ts"
import { acceptedResponse, supersededResponse, reportTo, startTarget } from "./jobs.ts"

type User = Effect.Success<ReturnType<typeof newUser>>

/** Sends a user's requests to a server that can be replaced by another one later. */
const jobsOf = ({ token, workspace }: User) => {
  const request = (server: ServerProcess, method: string, at: string, body?: object) =>
    sendJson(server, method, workspace + at, { token, ...(body !== undefined && { body }) })
  const create = async (server: ServerProcess, at: string, record: object) => {
    const created = await request(server, "POST", at, record)
    assert.strictEqual(created.status, 201, JSON.stringify(created.body))
    return created.body
  }
  const until = (
    server: ServerProcess,
    at: string,
    holds: (body: Awaited<ReturnType<typeof sendJson>>["body"]) => boolean
  ) =>
    eventually(at, async () => {
      const { body } = await request(server, "GET", at)
      return holds(body) && body
    })
  return {
    queue: (server: ServerProcess, max_concurrency: number) =>
      Effect.promise(async () => {
        const { id } = await create(server, "/queues", { name: "few", max_concurrency })
        return String(id)
      }),
    begin: (server: ServerProcess, task: object) =>
      Effect.promise(async () => {
        const fields = { delay_seconds: 0, completion: "callback", timeout_seconds: 3_600 }
        const { last_run } = await create(server, "/delayed", { ...fields, ...task })
        return String(last_run.execution_id)
      }),
    running: (server: ServerProcess, queueId: string, count: number) =>
      until(server, `/queues/${queueId}`, ({ running }) => running === count),
    awaiting: (server: ServerProcess, id: string) =>
      until(server, `/executions/${id}`, (body) => body.awaiting_completion_since !== null),
    ended: (server: ServerProcess, id: string) =>
      until(server, `/executions/${id}`, ({ finished_at }) => finished_at !== null)
  }
}

const settings = { EGRESS_ALLOW: "127.0.0.0/8" }

it.live(
  "a completion finds its run though the node that made the call was killed, and a run whose call was cut off has another",
  () =>
    Effect.gen(function* () {
      const variables = {
        ...(yield* storeVariables),
        ...settings,
        PORT: String(yield* freePort)
      }
      const killed = yield* startServer(variables)
      const jobs = jobsOf(yield* newUser(killed))
      const answered = yield* startTarget(() => ({ status: 202 }))
      const silent = yield* startTarget((_, n) =>
        n === 1 ? new Promise(() => {}) : Promise.resolve({ status: 202 })
      )
      const waiting = yield* jobs.begin(killed, { url: answered.url })
      yield* jobs.awaiting(killed, waiting)
      const queue_id = yield* jobs.queue(killed, 2)
      const cutOff = yield* jobs.begin(killed, { url: silent.url, queue_id })
      yield* eventually("the call", async () => silent.urls.length === 1)
      killed.kill("SIGKILL")
      yield* killed.exited

      const server = yield* startServer(variables)
      assert.strictEqual(yield* reportTo(answered.urls[0], "survived"), acceptedResponse)
      const ended = yield* jobs.ended(server, waiting)
      assert.deepInclude(ended, { status: "succeeded", attempts_count: 1, status_code: 202 })
      assert.strictEqual(ended.attempts[0].response_body, "survived")
      assert.lengthOf(answered.urls, 1)

      // The job whose call was interrupted may still be running, so it keeps its slot.
      yield* jobs.awaiting(server, cutOff)
      yield* jobs.running(server, queue_id, 2)
      assert.strictEqual(yield* reportTo(silent.urls[0]), supersededResponse)
      assert.strictEqual(yield* reportTo(silent.urls[1]), acceptedResponse)
      const again = yield* jobs.ended(server, cutOff)
      assert.deepInclude(again, { status: "succeeded", attempts_count: 2 })
      yield* jobs.running(server, queue_id, 1)
    }),
  240_000
)

describe.skipIf(!onPostgres)("of two nodes", () => {
  it.live(
    "the other node receives the completion of a run, whose slot in its queue is kept until then",
    () =>
      Effect.gen(function* () {
        const variables = { ...(yield* storeVariables), ...settings }
        const nodes = [yield* startServer(variables), yield* startServer(variables)] as const
        const jobs = jobsOf(yield* newUser(nodes[0]))
        const { url, urls } = yield* startTarget(() => ({ status: 202 }))
        const queue_id = yield* jobs.queue(nodes[0], 1)
        const waiting = yield* jobs.begin(nodes[0], { url, queue_id })
        yield* jobs.awaiting(nodes[0], waiting)

        // Without `PUBLIC_URL`, the completion URL points to the node that made the call.
        const isOf = ({ url }: ServerProcess) => urls[0]?.startsWith(`${url}/`) === true
        const [caller, other] = isOf(nodes[0]) ? nodes : [nodes[1], nodes[0]]
        assert.isTrue(isOf(caller))
        caller.kill("SIGKILL")
        yield* caller.exited

        const next = yield* jobs.begin(other, { url, queue_id })
        const unqueued = yield* jobs.begin(other, { url })
        yield* jobs.awaiting(other, unqueued)
        yield* jobs.running(other, queue_id, 1)
        assert.lengthOf(urls, 2)

        const said = yield* reportTo(urls[0]?.replace(caller.url, other.url), "survived")
        assert.strictEqual(said, acceptedResponse)
        const ended = yield* jobs.ended(other, waiting)
        assert.deepInclude(ended, { status: "succeeded", attempts_count: 1, status_code: 202 })
        assert.strictEqual(ended.attempts[0].response_body, "survived")
        yield* jobs.awaiting(other, next)
        assert.strictEqual(yield* reportTo(urls[2]), acceptedResponse)
        assert.deepInclude(yield* jobs.ended(other, next), { attempts_count: 1 })
        yield* jobs.running(other, queue_id, 0)
      }),
    240_000
  )
})
