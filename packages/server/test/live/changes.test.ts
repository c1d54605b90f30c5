// @tags idle
import { assert, describe, layer } from "@effect/vitest"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { Effect, Exit, Scope } from "effect"
import { ask, createKey, signUp } from "../support/http.ts"
import { runningConfig, signalledNodesLayer, startNode, TestApp } from "../support/TestApp.ts"
import { agentClientOf } from "../workers/workers.ts"
import type { LiveEvent } from "@scheduling/domain/events/Event"
import { follow } from "./streams.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const port = yield* httpTarget((_, response) => void response.end("ok"))
  const post = (at: string, body: object = {}) => ask("POST", workspace + at, { token, body })
  return { member, token, workspace, post, url: `http://127.0.0.1:${port}/` }
})

const typesOf = (events: ReadonlyArray<LiveEvent>) => events.map(({ type }) => type)

const has = (type: LiveEvent["type"]) => (events: ReadonlyArray<LiveEvent>) =>
  events.some((event) => event.type === type)

/** Returns the executions from events that concern only executions. */
const executionsOf = (events: ReadonlyArray<LiveEvent>) =>
  events.flatMap(({ data }) =>
    "execution" in data && !("task" in data) && !("chain_run" in data) ? [data.execution] : []
  )

layer(signalledNodesLayer, { excludeTestServices: true, timeout: "60 seconds" })("events", (it) => {
  describe.each(["url", "otherUrl"] as const)("at %s", (at) => {
    it.effect("cover tasks and their executions", () =>
      Effect.gen(function* () {
        const { post, token, url, workspace } = yield* setUp
        const stream = yield* follow({ workspace, token, at })
        const created = yield* post("/cron", { name: "a", url, schedule: "0 0 1 1 *" })
        const task_id: string = created.body.id
        const run = yield* post(`/cron/${task_id}/run`)
        yield* ask("PATCH", `${workspace}/cron/${task_id}`, { token, body: { name: "b" } })
        yield* stream.until("its end", has("execution.succeeded"))
        yield* ask("DELETE", `${workspace}/cron/${task_id}`, { token })
        const events = yield* stream.until("all of it", has("task.deleted"))
        assert.deepStrictEqual(typesOf(events.filter(({ data }) => "task" in data)), [
          "task.created",
          "task.updated",
          "task.deleted"
        ])
        const common = { id: run.body.id, kind: "cron", task_id, chain_run_id: null, error: null }
        assert.deepStrictEqual<unknown>(executionsOf(events), [
          { ...common, status: "queued", attempts_count: 0, status_code: null },
          { ...common, status: "running", attempts_count: 1, status_code: null },
          { ...common, status: "succeeded", attempts_count: 1, status_code: 200 }
        ])
        assert.isTrue(events.every(({ workspace_id }) => workspace.endsWith(workspace_id)))
        assert.strictEqual(new Set(events.map(({ id }) => id)).size, events.length)
      })
    )

    it.effect("ask for a reload when the workspace is stopped and when it is resumed", () =>
      Effect.gen(function* () {
        const { post, token, workspace } = yield* setUp
        const stream = yield* follow({ workspace, token, at })
        const resets = (count: number) => (events: ReadonlyArray<LiveEvent>) =>
          events.filter(({ type }) => type === "reset").length === count
        yield* post("/stop")
        yield* stream.until("a reset", resets(1))
        yield* post("/resume")
        yield* stream.until("another reset", resets(2))
      })
    )

    it.effect("resume after the last event that a client has seen, on any node", () =>
      Effect.gen(function* () {
        const { post, token, url, workspace } = yield* setUp
        const task = { name: "a", url, schedule: "0 0 1 1 *" }
        const first = yield* Effect.scoped(
          Effect.gen(function* () {
            const stream = yield* follow({ workspace, token })
            yield* post("/cron", task)
            yield* stream.until("an event", (events) => events.length === 1)
            return stream.lastId()
          })
        )
        yield* post("/cron", task)
        yield* post("/cron", task)
        const stream = yield* follow({ workspace, token, at, after: first })
        const missed = yield* stream.until("what was missed", (events) => events.length >= 2)
        assert.deepStrictEqual(typesOf(missed), ["task.created", "task.created"])
        assert.notInclude(
          missed.map(({ id }) => id),
          first
        )
      })
    )
  })

  it.effect("begin with the events since a time, once each, that the key's scopes allow", () =>
    Effect.gen(function* () {
      const { member, post, token, url, workspace } = yield* setUp
      const { key } = yield* createKey(member, { scopes: ["executions:read"] })
      const task = { name: "a", url, schedule: "0 0 1 1 *" }
      const witness = yield* follow({ workspace, token })
      yield* post("/cron", task)
      const [first] = yield* witness.until("the first task", ({ length }) => length === 1)
      const after = first?.created_at ?? ""
      const stream = yield* follow({ workspace, token, after })
      const ofKey = yield* follow({ workspace, token: key, after })
      const created = yield* post("/cron", task)
      yield* post(`/cron/${created.body.id}/run`)
      const hasEnded = has("execution.succeeded")
      const seen = yield* witness.until("its end", hasEnded)
      const events = yield* stream.until("its end", hasEnded)
      assert.deepStrictEqual(
        events.map(({ id }) => id),
        seen.map(({ id }) => id)
      )
      const heard = yield* ofKey.until("its end", hasEnded)
      assert.isTrue(heard.every(({ data }) => "execution" in data && !("task" in data)))
      const late = yield* follow({ workspace, token, after })
      const missed = yield* late.until("what was missed", hasEnded)
      assert.strictEqual(new Set(missed.map(({ id }) => id)).size, missed.length)
    })
  )

  it.effect("name the chain of a step, and cover attempts that fail", () =>
    Effect.gen(function* () {
      const { post, token, workspace } = yield* setUp
      let calls = 0
      const port = yield* httpTarget((_, response) => {
        response.writeHead(calls++ === 0 ? 503 : 200).end()
      })
      const step = { name: "a", url: `http://127.0.0.1:${port}/`, retry_count: 1 }
      const chain = yield* post("/chains", { name: "c", steps: [step, { ...step, name: "b" }] })
      const stream = yield* follow({ workspace, token })
      const run = yield* post(`/chains/${chain.body.id}/run`)
      const events = yield* stream.until("its end", has("chain_run.succeeded"))
      assert.deepStrictEqual(typesOf(events).slice(0, 5), [
        "execution.queued",
        "execution.running",
        "execution.queued",
        "execution.running",
        "execution.succeeded"
      ])
      assert.deepInclude(executionsOf(events)[2], {
        attempts_count: 1,
        status_code: 503,
        error: { code: "http_status", message: "responded with 503" }
      })
      assert.isTrue(executionsOf(events).every(({ chain_run_id }) => chain_run_id === run.body.id))
      // The first step has the same id as the chain run, but the chain run does not finish when it
      // does.
      assert.lengthOf(
        events.filter(({ type }) => type === "execution.succeeded"),
        2
      )
      const end = events.find(({ type }) => type === "chain_run.succeeded")
      assert.deepStrictEqual<unknown>(end?.data, {
        chain_run: { id: run.body.id, chain_id: chain.body.id, status: "succeeded" },
        execution: executionsOf(events).findLast(({ status }) => status === "succeeded"),
        notice: null
      })
    })
  )

  it.effect("cover cancelled executions, one by one and all together", () =>
    Effect.gen(function* () {
      const { post, token, workspace } = yield* setUp
      const later = { url: "https://example.com/", delay_seconds: 86_400 }
      const task = yield* post("/delayed", later)
      const stream = yield* follow({ workspace, token })
      const list = yield* ask("GET", `${workspace}/executions/scheduled?task_id=${task.body.id}`, {
        token
      })
      const execution = String(list.body.data[0].id)
      yield* post(`/executions/${execution}/cancel`)
      const events = yield* stream.until("an event", has("execution.cancelled"))
      assert.deepInclude<unknown>(executionsOf(events).at(-1), { id: execution, kind: "delayed" })
    })
  )

  it.effect("cover queues, and workers for users", () =>
    Effect.gen(function* () {
      const { member, post, token, workspace } = yield* setUp
      const { key } = yield* createKey(member, { scopes: ["executions:read", "tasks:read"] })
      const stream = yield* follow({ workspace, token })
      const ofKey = yield* follow({ workspace, token: key })
      const types = ["created", "updated", "updated", "updated", "deleted"]
      for (const [noun, input] of [
        ["worker", {}],
        ["queue", { max_concurrency: 1 }]
      ] as const) {
        const { id } = (yield* post(`/${noun}s`, { name: "a", ...input })).body
        const path = `${workspace}/${noun}s/${id}`
        yield* ask("PATCH", path, { token, body: { name: "b" } })
        // Pausing again changes nothing.
        for (const action of ["pause", "pause", "resume"]) yield* post(`/${noun}s/${id}/${action}`)
        yield* ask("DELETE", path, { token })
        const events = yield* stream.until("its end", has(`${noun}.deleted`))
        assert.deepStrictEqual(
          typesOf(events.filter(({ data }) => noun in data)),
          types.map((what) => `${noun}.${what}`)
        )
        assert.deepStrictEqual<unknown>(events.at(-1)?.data, { [noun]: { id }, notice: null })
      }
      const heard = yield* ofKey.until("its end", has("queue.deleted"))
      assert.deepStrictEqual(
        typesOf(heard),
        types.map((what) => `queue.${what}`)
      )
    })
  )

  it.effect("show users, but not API keys, when an agent connects and disconnects", () =>
    Effect.gen(function* () {
      const { member, post, token, workspace } = yield* setUp
      const { key } = yield* createKey(member, { scopes: ["executions:read", "tasks:read"] })
      const worker = (yield* post("/workers", { name: "Office" })).body
      const agent = agentClientOf(worker.token)
      const stream = yield* follow({ workspace, token })
      const ofKey = yield* follow({ workspace, token: key })
      const { session } = (yield* agent.hello()).body
      yield* agent.beat(session, { leaving: true })
      yield* post("/cron", { name: "a", url: "https://example.com", schedule: "0 0 1 1 *" })
      const events = yield* stream.until("all of it", has("task.created"))
      assert.deepStrictEqual(typesOf(events), ["worker.online", "worker.offline", "task.created"])
      assert.deepStrictEqual<unknown>(events[0]?.data, { worker: { id: worker.id }, notice: null })
      const heard = yield* ofKey.until("the task", has("task.created"))
      assert.deepStrictEqual(typesOf(heard), ["task.created"])
    })
  )

  it.effect("cover monitors and their incidents", () =>
    Effect.gen(function* () {
      const { post, token, workspace } = yield* setUp
      const stream = yield* follow({ workspace, token })
      const monitor = yield* post("/monitors/heartbeat", { name: "m", period_seconds: 3_600 })
      const { id, ping_url } = monitor.body
      const path = new URL(ping_url).pathname
      yield* ask("GET", `${path}/fail`)
      const open = yield* ask("GET", `${workspace}/incidents?open=true`, { token })
      yield* post(`/incidents/${open.body.data[0].id}/acknowledge`)
      yield* ask("GET", path)
      yield* ask("PATCH", `${workspace}/monitors/heartbeat/${id}`, { token, body: { name: "n" } })
      yield* ask("DELETE", `${workspace}/monitors/heartbeat/${id}`, { token })
      const events = yield* stream.until("all of it", has("monitor.deleted"))
      assert.sameMembers(
        events.map(({ data, type }) =>
          "monitor" in data && data.monitor.status !== null
            ? `${type} ${data.monitor.status}`
            : type
        ),
        [
          "monitor.created",
          "incident.opened",
          "monitor.status_changed down",
          "incident.acknowledged",
          "incident.closed",
          "monitor.status_changed up",
          "monitor.updated",
          "monitor.deleted"
        ]
      )
      const { cause, id: incidentId } = open.body.data[0]
      for (const { data } of events) {
        if ("monitor" in data) assert.deepInclude(data.monitor, { id, kind: "heartbeat" })
        else {
          assert.deepStrictEqual<unknown>(data, {
            incident: { id: incidentId, subject: { kind: "heartbeat", id, name: "m" }, cause },
            notice: null
          })
        }
      }
    })
  )

  it.effect("stay within the workspace, and within the scopes of a key", () =>
    Effect.gen(function* () {
      const mine = yield* setUp
      const theirs = yield* setUp
      const { key } = yield* createKey(mine.member, { scopes: ["executions:read"] })
      const narrow = yield* follow({ workspace: mine.workspace, token: key })
      const wide = yield* follow({ workspace: mine.workspace, token: mine.token })
      const task = { name: "a", url: mine.url, schedule: "0 0 1 1 *" }
      yield* theirs.post("/cron", task)
      yield* mine.post("/monitors/heartbeat", { name: "m", period_seconds: 3_600 })
      const created = yield* mine.post("/cron", task)
      yield* mine.post(`/cron/${created.body.id}/run`)
      const ended = has("execution.succeeded")
      const events = yield* narrow.until("its end", ended)
      assert.isTrue(events.every(({ type }) => type.startsWith("execution.")))
      const all = yield* wide.until("its end", ended)
      assert.deepStrictEqual(
        all.flatMap(({ data }) => ("task" in data ? [data.task.id as string] : [])),
        [created.body.id]
      )
    })
  )

  it.effect("end when the node stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const url = yield* Scope.provide(startNode(runningConfig), scope)
      const app = { url, otherUrl: url, logs: [] }
      const { access_token: token, workspace } = yield* Effect.provideService(
        signUp(),
        TestApp,
        app
      )
      const stream = yield* Effect.provideService(follow({ workspace, token }), TestApp, app)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* stream.untilEnd, "ended")
    })
  )
})
