// @tags processes postgres long
import { assert, it } from "@effect/vitest"
import { EventExecution } from "@scheduling/domain/events/Event"
import { Effect, type Scope, Struct } from "effect"
import { findVerificationProblem } from "@scheduling/domain/webhooks/StandardWebhooks"
import {
  sendJson,
  eventually,
  newUser,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../support/TestDatabase.ts"
import { eventsIn } from "./support/events.ts"
import { startHttpReceiver, type Reply } from "./support/receivers.ts"

const withinMs = 60_000

const storeVariables: Effect.Effect<
  Readonly<Record<string, string>>,
  never,
  Scope.Scope
> = testDatabaseUrl === undefined
  ? Effect.map(temporaryFolder("callbacks"), (DATA_DIR) => ({ DATA_DIR }))
  : Effect.map(freshDatabaseUrl(testDatabaseUrl), (DATABASE_URL) => ({
      DATABASE_URL,
      APP_SECRET: "a secret for tests, thirty-two bytes and more"
    }))

/** Creates a workspace, a target for tasks that fails at `/fail`, and a recipient for callbacks. */
const setUp = Effect.fnUntraced(function* (reply: () => Reply = () => ({})) {
  const hook = yield* startHttpReceiver(reply)
  const target = yield* startHttpReceiver(({ url }) => ({
    status: url.endsWith("/fail") ? 400 : 200
  }))
  const start = startServer({ ...(yield* storeVariables), EGRESS_ALLOW: "127.0.0.0/8" })
  let server = yield* start
  const { token, workspace } = yield* newUser(server)
  const ask = (method: string, at: string, body?: object) =>
    Effect.promise(() =>
      sendJson(server, method, workspace + at, { token, ...(body === undefined ? {} : { body }) })
    )
  return {
    ask,
    hook,
    target,
    workspace_id: workspace.split("/").at(-1),
    callbacks: {
      on_failure: { url: `${hook.url}/failed` },
      on_success: { url: `${hook.url}/succeeded` }
    },
    /** Kills the node, runs `meanwhile`, and starts another node on the same data. */
    replaceNode: (meanwhile: () => void = () => {}) =>
      Effect.gen(function* () {
        server.kill("SIGKILL")
        yield* server.exited
        meanwhile()
        server = yield* start
      }),
    arrived: (count: number) =>
      eventually(
        `${count} callbacks`,
        async () => hook.received.length >= count && hook.received,
        withinMs
      ),
    deliveries: (query = "") =>
      Effect.map(ask("GET", `/notifications/deliveries${query}`), ({ body }) => body.data)
  }
})

it.live(
  "Each run of a cron task, a delayed task and a chain leads to a signed callback, where one is set",
  () =>
    Effect.gen(function* () {
      const { arrived, ask, callbacks, deliveries, hook, target, workspace_id } = yield* setUp()
      const { body: secrets } = yield* ask("GET", `/signing-secrets?url=${hook.url}`)
      const { call_secret, message_secret } = secrets.data[0]

      const { body: cron, status } = yield* ask("POST", "/cron", {
        name: "Nightly",
        url: `${target.url}/fail`,
        schedule: "0 0 1 1 *",
        ...callbacks
      })
      assert.strictEqual(status, 201, JSON.stringify(cron))
      assert.containSubset(cron, callbacks)
      // Every failed run causes a callback, regardless of `task_failure_threshold`.
      for (const count of [1, 2]) {
        yield* ask("POST", `/cron/${cron.id}/run`)
        yield* arrived(count)
      }
      const [first, second] = hook.received
      assert.strictEqual(first?.url, "/failed")
      assert.strictEqual(first?.method, "POST")
      const [run] = (yield* ask("GET", `/executions?task_id=${cron.id}&limit=100`)).body.data.slice(
        -1
      )
      assert.deepStrictEqual(first?.body, {
        id: first?.headers["idempotency-key"],
        type: "execution.failed",
        created_at: run.finished_at,
        workspace_id,
        data: {
          execution: Struct.pick(run, Object.keys(EventExecution.fields)),
          notice: {
            title: "Failed: Nightly",
            name: "Nightly",
            reason: "responded with 400",
            facts: [{ name: "Execution", value: run.id }],
            is_reminder: false
          }
        }
      })
      assert.strictEqual(first?.headers["idempotency-key"], first?.body.id)
      const message = {
        id: String(first?.headers["webhook-id"]),
        timestamp: String(first?.headers["webhook-timestamp"]),
        signature: String(first?.headers["webhook-signature"]),
        body: first?.text ?? ""
      }
      const nowSeconds = Date.now() / 1_000
      const problemWith = (secret: string) =>
        Effect.promise(() => findVerificationProblem(message, [secret], { nowSeconds }))
      assert.isUndefined(yield* problemWith(message_secret))
      assert.strictEqual(yield* problemWith(call_secret), "no_matching_signature")
      assert.strictEqual(message.id, `msg_${first?.body.id}`)
      assert.notStrictEqual(first?.body.id, second?.body.id)

      const delayed = yield* ask("POST", "/delayed", {
        url: `${target.url}/ok`,
        delay_seconds: 0,
        on_success: callbacks.on_success
      })
      assert.strictEqual(delayed.status, 201, JSON.stringify(delayed.body))
      yield* arrived(3)
      assert.strictEqual(hook.received[2]?.url, "/succeeded")
      assert.containSubset(eventsIn(hook.received[2]?.body), [
        {
          type: "execution.succeeded",
          data: { execution: { task_id: delayed.body.id, status: "succeeded", error: null } }
        }
      ])

      const { body: chain } = yield* ask("POST", "/chains", {
        name: "Two steps",
        steps: [
          { name: "a", url: `${target.url}/ok` },
          { name: "b", url: `${target.url}/ok` }
        ],
        ...callbacks
      })
      const { body: chainRun } = yield* ask("POST", `/chains/${chain.id}/run`)
      yield* arrived(4)
      assert.containSubset(eventsIn(hook.received[3]?.body), [
        {
          type: "chain_run.succeeded",
          data: {
            chain_run: { id: chainRun.id, chain_id: chain.id, status: "succeeded" },
            execution: { chain_run_id: chainRun.id, status: "succeeded" },
            notice: { title: "Succeeded: Two steps" }
          }
        }
      ])

      // The removed callback is no longer sent. The other callback is kept.
      const { body: changed } = yield* ask("PATCH", `/cron/${cron.id}`, {
        on_failure: null,
        url: `${target.url}/fail`
      })
      assert.isNull(changed.on_failure)
      assert.deepStrictEqual(changed.on_success, callbacks.on_success)
      const before = target.received.length
      yield* ask("POST", `/cron/${cron.id}/run`)
      yield* eventually("the run", async () => target.received.length > before, withinMs)
      yield* ask("PATCH", `/cron/${cron.id}`, { url: `${target.url}/ok` })
      yield* ask("POST", `/cron/${cron.id}/run`)
      yield* arrived(5)
      assert.strictEqual(hook.received[4]?.url, "/succeeded")

      const listed = yield* eventually(
        "the end of the deliveries",
        async () => {
          const all = await Effect.runPromise(deliveries("?status=delivered"))
          return all.length === 5 && all
        },
        withinMs
      )
      assert.containSubset(listed[0], { channel_id: null, kind: "callback", attempts_count: 1 })
      const { body: detail } = yield* ask("GET", `/notifications/deliveries/${listed[0].id}`)
      assert.containSubset(detail.attempts, [{ number: 1, status_code: 200 }])

      const resent = yield* ask("POST", `/notifications/deliveries/${listed[0].id}/resend`)
      assert.strictEqual(resent.status, 202, JSON.stringify(resent.body))
      assert.containSubset(resent.body, { channel_id: null, kind: "callback" })
      yield* arrived(6)
      assert.strictEqual(hook.received[5]?.body.id, resent.body.id)
      assert.deepStrictEqual(hook.received[5]?.body.data, hook.received[4]?.body.data)
    }),
  { timeout: 180_000 }
)

it.live(
  "A node that is killed between settling and the response loses no callback",
  () =>
    Effect.gen(function* () {
      let hangs = false
      const { ask, callbacks, hook, replaceNode, target } = yield* setUp(() => ({ hangs }))
      const { body: task } = yield* ask("POST", "/cron", {
        name: "Killed",
        url: `${target.url}/ok`,
        schedule: "0 0 1 1 *",
        ...callbacks
      })
      const told = () => new Set(hook.received.map(({ body }) => body.id)).size

      // The node is killed as soon as the API shows the run as finished, which means that the run
      // is settled.
      for (const ms of [0, 10, 50]) {
        const before = told()
        const { body: run } = yield* ask("POST", `/cron/${task.id}/run`)
        yield* eventually(
          "the end of the run",
          async () =>
            (await Effect.runPromise(ask("GET", `/executions/${run.id}`))).body.status ===
            "succeeded",
          withinMs
        )
        yield* Effect.sleep(ms)
        yield* replaceNode()
        yield* eventually("its callback", async () => told() > before, withinMs)
        assert.strictEqual(told(), before + 1)
      }

      // The callback has arrived, but no node received the response. An earlier callback can be
      // repeated.
      const known = new Set(hook.received.map(({ body }) => body.id))
      const arrivals = () => hook.received.filter(({ body }) => !known.has(body.id))
      hangs = true
      yield* ask("POST", `/cron/${task.id}/run`)
      yield* eventually("its callback", async () => arrivals().length === 1, withinMs)
      yield* replaceNode(() => {
        hangs = false
      })
      yield* eventually("it once more", async () => arrivals().length > 1, withinMs)
      assert.lengthOf(new Set(arrivals().map(({ body }) => body.id)), 1)
    }),
  { timeout: 300_000 }
)
