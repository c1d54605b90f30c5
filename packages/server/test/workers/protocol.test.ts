import { assert, layer } from "@effect/vitest"
import {
  parseSigningSecret,
  computeSignature as sign,
  signedContent
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { checkNodes } from "../../src/engine/Nodes.ts"
import { recover } from "../../src/engine/transitions/recover.ts"
import { finishUnclaimed } from "../../src/engine/workers/finishUnclaimed.ts"
import { claimForWorker } from "../../src/engine/workers/WorkerClaim.ts"
import { EndSignals } from "../../src/events/EndSignals.ts"
import { Signals } from "../../src/events/Signals.ts"
import { AgentSessionsRepo } from "../../src/workers/protocol/AgentSessionsRepo.ts"
import { WorkerTokensRepo } from "../../src/workers/protocol/WorkerTokensRepo.ts"
import { setUpDelayed, delayedClientOf } from "../tasks/delayed/tasks.ts"
import { chainClientOf } from "../tasks/chains/chains.ts"
import { accessStatus, ask, createKey, type Member, statusAndError } from "../support/http.ts"
import { twoTestNodesLayer } from "../support/TestApp.ts"
import { agentClientOf, successResult, workerClientOf } from "./workers.ts"

const onOffice = { run_on: { labels: ["office"] }, url: "http://10.1.2.3/job", delay_seconds: 0 }

const setUp = Effect.gen(function* () {
  const { member } = yield* setUpDelayed
  const workers = workerClientOf(member)
  const created = (yield* workers.create({ labels: ["office", "gpu"] })).body
  return {
    member,
    workers,
    worker: created.id as string,
    token: created.token as string,
    agent: agentClientOf(created.token),
    tasks: delayedClientOf(member)
  }
})

/** Creates a worker whose agent is online. */
const beginOnline = Effect.gen(function* () {
  const fixture = yield* setUp
  const { body } = yield* fixture.agent.hello()
  return { ...fixture, session: Number(body.session) }
})

const executionOf = Effect.fnUntraced(function* (member: Member, runId: string) {
  const path = `${member.workspace}/executions/${runId}`
  return (yield* ask("GET", path, { token: member.access_token })).body
})

/** Makes the agent's session expire, and recovers the runs that it held. */
const fallSilent = Effect.fnUntraced(function* (session: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE nodes
    SET lease_until = now() - interval '1 second'
    WHERE id = ${session}`
  yield* checkNodes(sql, { forMs: 60_000, isLong: true })
  yield* recover(sql, "dead", "perhaps going on").pipe(Effect.provide(silentSignals))
})

/** Provides the services that recovery notifies, but without any listeners. */
const silentSignals = Layer.merge(
  Signals.layer,
  Layer.succeed(
    EndSignals,
    EndSignals.of({ send: () => {}, watch: () => Effect.die("nobody waits") })
  )
)

layer(twoTestNodesLayer())("the worker protocol", (it) => {
  it.effect("accepts only worker tokens, and other endpoints reject worker tokens", () =>
    Effect.gen(function* () {
      const { agent, member, token } = yield* setUp
      const { key } = yield* createKey(member)
      for (const other of [member.access_token, key, "pwk_nonsense", `${token}x`, undefined]) {
        for (const what of ["hello", "claim", "beat", "results"]) {
          const refused = yield* ask("POST", `/v1/worker/${what}`, { token: other, body: {} })
          assert.strictEqual(statusAndError(refused), "401 invalid_worker_token")
          assert.strictEqual(
            refused.headers.get("www-authenticate"),
            'Bearer error="invalid_token"'
          )
        }
      }
      assert.strictEqual(yield* accessStatus(token), "401 invalid_token")
      const list = yield* ask("GET", `${member.workspace}/workers`, { token })
      assert.strictEqual(statusAndError(list), "401 invalid_token")
      assert.strictEqual(
        statusAndError(yield* ask("GET", "/v1/worker/hello")),
        "405 method_not_allowed"
      )
      assert.strictEqual((yield* agent.hello()).status, 200)
    })
  )

  it.effect("starts with a hello, whose fields the worker record shows", () =>
    Effect.gen(function* () {
      const { agent, worker, workers } = yield* setUp
      const welcome = (yield* agent.hello({ labels: ["gpu", "moon"], slots: 7 })).body
      assert.deepInclude(welcome, { worker_id: worker, name: "Office", labels: ["gpu"] })
      const shown = (yield* workers.get(worker)).body
      assert.deepInclude(shown, { status: "online", version: "0.1.0", host: "rack2", slots: 7 })
      assert.isNotNull(shown.last_seen_at)
      const outdated = yield* agent.hello({ protocol: 0 })
      assert.strictEqual(statusAndError(outdated), "409 agent_outdated")
      assert.strictEqual(
        statusAndError(yield* agent.hello({ slots: 101 })),
        "422 validation_failed"
      )
      assert.strictEqual(
        statusAndError(yield* agent.claim(welcome.session, { slots: 0 })),
        "422 validation_failed"
      )
    })
  )

  it.effect(
    "welcomes an agent with the labels that it offers, not those of the previous agent",
    () =>
      Effect.gen(function* () {
        const { agent } = yield* setUp
        const welcomed = Effect.fnUntraced(function* (input: object) {
          return (yield* agent.hello(input)).body.labels
        })
        assert.deepStrictEqual(yield* welcomed({ labels: ["gpu"] }), ["gpu"])
        assert.deepStrictEqual(yield* welcomed({ labels: ["office"] }), ["office"])
        assert.deepStrictEqual(yield* welcomed({}), ["office", "gpu"])
      })
  )

  it.effect("gives a signed run once, and writes its result once, on any node", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      const task = (yield* tasks.create({ ...onOffice, body: '{"n":1}' })).body
      assert.deepStrictEqual(task.run_on, { labels: ["office"] })
      const [call] = (yield* agent.claim(session)).body.calls
      assert.deepInclude(call, { method: "POST", url: onOffice.url, body: '{"n":1}', attempt: 1 })
      assert.deepStrictEqual((yield* agent.claim(session)).body.calls, [])
      const path = `${member.workspace}/signing-secrets?url=${encodeURIComponent(onOffice.url)}`
      const secrets = yield* ask("GET", path, { token: member.access_token })
      const { id, signature, timestamp } = call.signature
      const secret =
        parseSigningSecret(secrets.body.data[0].call_secret) ?? assert.fail("no secret")
      const message = { id, timestamp, body: call.body }
      const expected = yield* Effect.promise(() => sign(signedContent(message), secret))
      assert.strictEqual(signature, expected)
      assert.strictEqual((yield* executionOf(member, call.run_id)).status, "running")

      const { body } = yield* agent.results(session, [successResult(call)], "otherUrl")
      assert.deepStrictEqual(body.receipts, [{ run_id: call.run_id, receipt: "written" }])
      const again = yield* agent.results(session, [successResult(call)])
      assert.deepStrictEqual(again.body.receipts, [{ run_id: call.run_id, receipt: "fenced" }])
      const ended = yield* executionOf(member, call.run_id)
      assert.deepInclude(ended, { status: "succeeded", status_code: 200, attempts_count: 1 })
      assert.strictEqual(ended.attempts[0].response_body, '{"id":7}')
    })
  )

  it.effect("gives only runs of the worker's workspace whose labels it has", () =>
    Effect.gen(function* () {
      const { agent, session, tasks } = yield* beginOnline
      const stranger = yield* beginOnline
      yield* stranger.tasks.create(onOffice)
      yield* tasks.create({ ...onOffice, run_on: { labels: ["office", "moon"] } })
      yield* tasks.create({ ...onOffice, run_on: null, url: "http://example.com/" })
      assert.deepStrictEqual((yield* agent.claim(session)).body.calls, [])
      yield* tasks.create({ ...onOffice, run_on: { labels: ["gpu", "office"] } })
      const { calls } = (yield* agent.claim(session)).body
      assert.lengthOf(calls, 1)
      const [foreign] = (yield* stranger.agent.claim(stranger.session)).body.calls
      const forged = { ...successResult(foreign), lease: `${session}.1` }
      const { receipts } = (yield* agent.results(session, [forged, successResult(foreign)])).body
      assert.deepStrictEqual(
        receipts.map(({ receipt }: { readonly receipt: string }) => receipt),
        ["fenced", "fenced"]
      )
    })
  )

  it.effect("accepts the result of a run only from the agent that holds it", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks, workers } = yield* beginOnline
      const { token } = (yield* workers.create({ labels: ["office"] })).body
      const other = agentClientOf(token)
      const otherSession = Number((yield* other.hello()).body.session)
      yield* tasks.create(onOffice)
      const [call] = (yield* agent.claim(session)).body.calls
      const forged = { ...successResult(call), lease: `${otherSession}.1` }
      const refused = yield* other.results(otherSession, [forged])
      assert.deepStrictEqual(refused.body.receipts, [{ run_id: call.run_id, receipt: "fenced" }])
      const taken = yield* agent.results(session, [successResult(call)])
      assert.deepStrictEqual(taken.body.receipts, [{ run_id: call.run_id, receipt: "written" }])
      assert.strictEqual((yield* executionOf(member, call.run_id)).status, "succeeded")
    })
  )

  it.effect("gives runs with other labels after the runs of an earlier read are taken", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      const sql = yield* SqlClient.SqlClient
      for (let n = 0; n < 3; n++) yield* tasks.create(onOffice)
      const claimOne = Effect.map(agent.claim(session, { slots: 1 }), ({ body }) => body.calls)
      assert.lengthOf(yield* claimOne, 1)
      yield* tasks.create({ ...onOffice, run_on: { labels: ["gpu"] }, url: "http://10.1.2.3/gpu" })
      assert.deepInclude((yield* claimOne)[0], { url: onOffice.url })
      yield* sql`
        DELETE FROM runs
        WHERE workspace_id = ${member.workspace.slice(member.workspace.lastIndexOf("/") + 1)}
          AND lease_owner IS NULL
          AND run_on = ${JSON.stringify(onOffice.run_on)}::jsonb`
      assert.deepInclude((yield* claimOne)[0], { url: "http://10.1.2.3/gpu" })
      assert.deepStrictEqual(yield* claimOne, [])
    })
  )

  it.effect("holds a claim until a run is due", () =>
    Effect.gen(function* () {
      const { agent, session, tasks } = yield* beginOnline
      const waiting = yield* Effect.forkChild(agent.claim(session, { wait_seconds: 30 }))
      yield* tasks.create(onOffice)
      const { calls } = (yield* waitMovingClock(waiting)).body
      assert.lengthOf(calls, 1)
      const late = yield* Effect.forkChild(agent.claim(session, { wait_seconds: 1 }))
      assert.deepStrictEqual((yield* waitMovingClock(late)).body.calls, [])
    })
  )

  it.effect("gives no run to a waiting claim after its worker was paused, changed or revoked", () =>
    Effect.gen(function* () {
      const { member, session, tasks, token, worker, workers } = yield* beginOnline
      const sql = yield* SqlClient.SqlClient
      // Claims runs as a waiting claim does, with the labels that the agent had when the claim
      // started.
      const claimed = Effect.map(
        claimForWorker(sql, {
          workspace_id: authorize(member.workspace_id),
          session,
          sets: [["office"]],
          limit: 1
        }),
        ({ leased, started }) => [...leased, ...started].length
      )
      yield* tasks.create(onOffice)
      yield* tasks.create(onOffice)
      yield* workers.act(worker, "pause")
      assert.strictEqual(yield* claimed, 0)
      yield* workers.act(worker, "resume")
      yield* workers.update(worker, { labels: ["gpu"] })
      assert.strictEqual(yield* claimed, 0)
      yield* workers.update(worker, { labels: ["gpu", "office"] })
      assert.strictEqual(yield* claimed, 1)
      yield* ask("POST", "/v1/workers/revoke", { body: { token } })
      assert.strictEqual(yield* claimed, 0)
    })
  )

  it.effect("retries a failed call as often as the task says", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      yield* tasks.create({ ...onOffice, retry_count: 1 })
      const [call] = (yield* agent.claim(session)).body.calls
      const failure = { outcome: "retryable", status_code: 503, retry_after_seconds: 0 }
      yield* agent.results(session, [{ ...successResult(call), ...failure }])
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        UPDATE runs
        SET due_at = now()
        WHERE id = ${call.run_id}`
      const [second] = (yield* agent.claim(session)).body.calls
      assert.deepInclude(second, { run_id: call.run_id, attempt: 2 })
      yield* agent.results(session, [
        {
          ...successResult(second),
          ...failure,
          status_code: null,
          error: { code: "connection", message: "connection refused" }
        }
      ])
      const ended = yield* executionOf(member, call.run_id)
      assert.deepInclude(ended, {
        status: "failed",
        attempts_count: 2,
        error: { code: "connection", message: "connection refused" }
      })
    })
  )

  it.effect("sends the task's success rules, and retries after the task's delay", () =>
    Effect.gen(function* () {
      const { agent, session, tasks } = yield* beginOnline
      const rule = { success_codes: ["200", "404"], body_contains: "ok" }
      const retry = { count: 1, first_seconds: 600, factor: 1, max_seconds: 600 }
      yield* tasks.create({ ...onOffice, ...rule, retry })
      const [call] = (yield* agent.claim(session)).body.calls
      assert.deepStrictEqual(call.success, rule)
      yield* agent.results(session, [
        { ...successResult(call), outcome: "retryable", status_code: 500, response_body: "" }
      ])
      const sql = yield* SqlClient.SqlClient
      const [run] = yield* sql<{ readonly wait_s: number }>`
        SELECT date_part('epoch', due_at - now()) AS wait_s
        FROM runs
        WHERE id = ${call.run_id}`
      assert.isAtLeast(run?.wait_s ?? 0, 290)
      assert.isAtMost(run?.wait_s ?? 0, 600)
    })
  )

  it.effect("sends cancelled runs to the agent", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      yield* tasks.create(onOffice)
      const [call] = (yield* agent.claim(session)).body.calls
      const running = { running: [call.run_id] }
      assert.deepStrictEqual((yield* agent.beat(session, running)).body.cancel, [])
      yield* tasks.cancel(call.run_id)
      assert.deepStrictEqual((yield* agent.beat(session, running)).body.cancel, [call.run_id])
      yield* agent.results(session, [{ ...successResult(call), outcome: "cancelled" }])
      assert.strictEqual((yield* executionOf(member, call.run_id)).status, "cancelled")
    })
  )

  it.effect("recovers the runs of an agent that another one replaces", () =>
    Effect.gen(function* () {
      const { agent, session, tasks } = yield* beginOnline
      yield* tasks.create(onOffice)
      const [call] = (yield* agent.claim(session)).body.calls
      const next = Number((yield* agent.hello()).body.session)
      for (const refused of [
        yield* agent.beat(session),
        yield* agent.claim(session),
        yield* agent.results(session, [successResult(call)])
      ]) {
        assert.strictEqual(statusAndError(refused), "409 session_ended")
        assert.strictEqual(refused.body.detail.reason, "replaced")
      }
      const late = yield* agent.results(next, [successResult(call)])
      assert.strictEqual(late.body.receipts[0].receipt, "fenced")
      const [again] = (yield* agent.claim(next)).body.calls
      assert.deepInclude(again, { run_id: call.run_id, attempt: 2 })
    })
  )

  it.effect("recovers the runs of a silent agent, and announces that the worker is offline", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks, worker, workers } = yield* beginOnline
      yield* tasks.create(onOffice)
      const [call] = (yield* agent.claim(session)).body.calls
      yield* fallSilent(session)
      assert.strictEqual((yield* workers.get(worker)).body.status, "offline")
      assert.strictEqual(statusAndError(yield* agent.beat(session)), "409 session_ended")
      const other = agentClientOf((yield* workers.create({ labels: ["office"] })).body.token)
      const otherSession = Number((yield* other.hello()).body.session)
      const [again] = (yield* other.claim(otherSession)).body.calls
      assert.deepInclude(again, { run_id: call.run_id, attempt: 2 })
      yield* other.results(otherSession, [successResult(again)])
      const { attempts, status } = yield* executionOf(member, call.run_id)
      assert.strictEqual(status, "succeeded")
      assert.deepStrictEqual(
        attempts.map(
          ({ error }: { readonly error: { readonly message: string } | null }) =>
            error && error.message
        ),
        ["the worker was lost during the call", null]
      )
    })
  )

  it.effect("announces once that a worker is offline, and once that it is online again", () =>
    Effect.gen(function* () {
      const { agent, member, session, worker } = yield* beginOnline
      yield* fallSilent(session)
      const sessions = yield* Effect.provide(AgentSessionsRepo, AgentSessionsRepo.layer)
      yield* sessions.updateLost
      const missed = (yield* sessions.claimMissed).find(({ id }) => id === worker)
      assert.deepInclude(missed, { name: "Office", host: "rack2" })
      assert.lengthOf(
        (yield* sessions.claimMissed).filter(({ id }) => id === worker),
        0
      )
      yield* agent.hello()
      const sql = yield* SqlClient.SqlClient
      const silentSignals = yield* sql<{ readonly event: string }>`
        SELECT event
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
          AND subject_id = ${worker}`
      assert.deepStrictEqual(
        silentSignals.map(({ event }) => event),
        ["worker.online"]
      )
    })
  )

  it.effect("looks up the hash of a token at each request", () =>
    Effect.gen(function* () {
      const { agent, session, worker } = yield* beginOnline
      const sql = yield* SqlClient.SqlClient
      const [token] = yield* sql<{ readonly token_hash: string }>`
        SELECT token_hash
        FROM worker_tokens
        WHERE worker_id = ${worker}`
      const hash = token?.token_hash ?? assert.fail("no token")
      const tokens = yield* Effect.provide(WorkerTokensRepo, WorkerTokensRepo.layer)
      yield* tokens.updateHash(hash, `${hash} of another secret`)
      assert.strictEqual(statusAndError(yield* agent.beat(session)), "401 invalid_worker_token")
      yield* tokens.updateHash(`${hash} of another secret`, hash)
      assert.strictEqual((yield* agent.beat(session)).status, 200)
    })
  )

  it.effect("takes back runs that an agent never got, returns or leaves behind", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      const sql = yield* SqlClient.SqlClient
      yield* tasks.create(onOffice)
      const [lost] = (yield* agent.claim(session)).body.calls
      yield* agent.beat(session)
      assert.strictEqual((yield* executionOf(member, lost.run_id)).status, "running")
      yield* sql`
        UPDATE runs
        SET attempt_started_at = now() - interval '1 minute', started_at = now() - interval '1 minute'
        WHERE id = ${lost.run_id}`
      yield* agent.beat(session)
      const [again] = (yield* agent.claim(session)).body.calls
      assert.deepInclude(again, { run_id: lost.run_id, attempt: 1 })
      const returned = { ...successResult(again), outcome: "returned", status_code: null }
      const { receipts } = (yield* agent.results(session, [returned])).body
      assert.strictEqual(receipts[0].receipt, "written")
      const [third] = (yield* agent.claim(session)).body.calls
      assert.strictEqual(third.attempt, 1)
      yield* agent.beat(session, { running: [third.run_id], leaving: true })
      assert.strictEqual((yield* executionOf(member, third.run_id)).status, "queued")
    })
  )

  it.effect("rejects a token after its rotation, its expiry or the deletion of its worker", () =>
    Effect.gen(function* () {
      const { agent, session, tasks, worker, workers } = yield* beginOnline
      yield* tasks.create(onOffice)
      const graced = (yield* workers.act(worker, "rotate", { grace_seconds: 60 })).body
      assert.strictEqual((yield* agent.beat(session)).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(statusAndError(yield* agent.beat(session)), "401 invalid_worker_token")
      const next = agentClientOf(graced.token)
      const nextSession = Number((yield* next.hello()).body.session)
      yield* workers.act(worker, "pause")
      assert.deepStrictEqual((yield* next.claim(nextSession)).body.calls, [])
      yield* workers.act(worker, "resume")
      const waiting = yield* Effect.forkChild(next.claim(nextSession))
      assert.lengthOf((yield* waitMovingClock(waiting)).body.calls, 1)
      const last = (yield* workers.act(worker, "rotate", {})).body
      assert.strictEqual(statusAndError(yield* next.beat(nextSession)), "401 invalid_worker_token")
      yield* workers.remove(worker)
      assert.strictEqual(
        statusAndError(yield* agentClientOf(last.token).hello()),
        "401 invalid_worker_token"
      )
    })
  )

  it.effect("fails runs that no worker claims in time, and finishes cancelled runs", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      const sql = yield* SqlClient.SqlClient
      const nowhere = { ...onOffice, run_on: { labels: ["moon"] }, worker_wait_seconds: 0 }
      const { last_run } = (yield* tasks.create(nowhere)).body
      yield* tasks.create(onOffice)
      const [call] = (yield* agent.claim(session)).body.calls
      yield* tasks.cancel(call.run_id)
      yield* fallSilent(session)
      assert.isTrue((yield* checkNodes(sql, { forMs: 60_000, isLong: true })).unclaimed)
      yield* finishUnclaimed(sql, true).pipe(Effect.provide(silentSignals))
      const failed = yield* executionOf(
        member,
        last_run?.execution_id ?? (yield* runOf(nowhere, member))
      )
      assert.deepInclude(failed, { status: "failed", attempts_count: 0 })
      assert.strictEqual(failed.error.code, "no_worker")
      assert.match(failed.error.message, / moon /)
      assert.strictEqual((yield* executionOf(member, call.run_id)).status, "cancelled")
    })
  )

  it.effect("gives the steps of a chain, with responses of earlier steps", () =>
    Effect.gen(function* () {
      const { agent, member, session } = yield* beginOnline
      const chains = chainClientOf(member)
      const chain = yield* chains.create({
        name: "two steps",
        steps: [
          { name: "one", url: "http://10.0.0.1/one", run_on: { labels: ["office"] } },
          {
            name: "two",
            url: "http://10.0.0.1/two/{{ steps.one.body.id }}",
            run_on: { labels: ["gpu"] }
          }
        ]
      })
      assert.strictEqual(chain.status, 201, chain.text)
      const run = (yield* chains.act(chain.body.id, "run")).body
      const [one] = (yield* agent.claim(session)).body.calls
      assert.strictEqual(one.url, "http://10.0.0.1/one")
      yield* agent.results(session, [successResult(one)])
      const [two] = (yield* agent.claim(session)).body.calls
      assert.strictEqual(two.url, "http://10.0.0.1/two/7")
      yield* agent.results(session, [successResult(two)])
      const path = `${member.workspace}/chains/${chain.body.id}/runs/${run.id}`
      const ended = yield* ask("GET", path, { token: member.access_token })
      assert.strictEqual(ended.body.status, "succeeded", ended.text)
    })
  )

  it.effect("gives a waiting run to the labels that its task has now", () =>
    Effect.gen(function* () {
      const { agent, member, session } = yield* beginOnline
      const token = member.access_token
      const cron = `${member.workspace}/cron`
      const task = { name: "job", schedule: "0 3 * * *", url: "http://10.1.2.3/" }
      const body = { ...task, run_on: { labels: ["moon"] } }
      const { id } = (yield* ask("POST", cron, { token, body })).body
      yield* ask("POST", `${cron}/${id}/run`, { token })
      assert.deepStrictEqual((yield* agent.claim(session)).body.calls, [])
      yield* ask("PATCH", `${cron}/${id}`, { token, body: { run_on: { labels: ["gpu"] } } })
      assert.lengthOf((yield* agent.claim(session)).body.calls, 1)
      const back = yield* ask("PATCH", `${cron}/${id}`, { token, body: { run_on: null } })
      assert.strictEqual(statusAndError(back), "422 validation_failed")
    })
  )

  it.effect("keeps a run unfinished until its job calls the completion URL", () =>
    Effect.gen(function* () {
      const { agent, member, session, tasks } = yield* beginOnline
      const beginJob = Effect.fnUntraced(function* (completion: string) {
        yield* tasks.create({ ...onOffice, completion, timeout_seconds: 7_200 })
        const [call] = (yield* agent.claim(session)).body.calls
        assert.strictEqual(call.timeout_seconds, 900)
        assert.notProperty(call, "success.completion")
        return call
      })
      const say = (url: string) =>
        Effect.promise(async () => (await fetch(url, { method: "POST", body: "done" })).status)

      const asked = yield* beginJob("callback")
      yield* agent.results(session, [successResult(asked)])
      const waiting = yield* executionOf(member, asked.run_id)
      assert.strictEqual(waiting.status, "running")
      assert.isString(waiting.awaiting_completion_since)
      assert.strictEqual(yield* say(asked.complete_url), 200)
      assert.strictEqual((yield* executionOf(member, asked.run_id)).status, "succeeded")

      const offered = yield* beginJob("auto")
      const result = { ...successResult(offered), status_code: 202, completes_later: true }
      yield* agent.results(session, [result])
      assert.strictEqual((yield* executionOf(member, offered.run_id)).status, "running")
      assert.strictEqual(yield* say(offered.complete_url), 200)

      const answered = yield* beginJob("auto")
      yield* agent.results(session, [successResult(answered)])
      assert.strictEqual((yield* executionOf(member, answered.run_id)).status, "succeeded")

      const early = yield* beginJob("callback")
      assert.strictEqual(yield* say(early.complete_url), 200)
      const { receipts } = (yield* agent.results(session, [successResult(early)])).body
      assert.deepStrictEqual(receipts, [{ run_id: early.run_id, receipt: "fenced" }])
      assert.strictEqual((yield* executionOf(member, early.run_id)).status, "succeeded")
    })
  )
})

/** Returns the id of the run whose task has these labels. */
const runOf = Effect.fnUntraced(function* (
  { run_on }: { readonly run_on: object },
  { workspace_id }: Member
) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: string }>`
    SELECT executions.id
    FROM executions
    JOIN tasks ON tasks.id = executions.task_id
    WHERE executions.workspace_id = ${workspace_id}
      AND tasks.run_on = ${JSON.stringify(run_on)}::jsonb`
  return row?.id ?? assert.fail("there is no run")
})

/** Advances the clock until the request has been answered. */
const waitMovingClock = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<A, E> =>
  Effect.raceFirst(
    Fiber.join(fiber),
    Effect.forever(Effect.andThen(TestClock.adjust("250 millis"), Effect.promise(tick)))
  )

const tick = () => new Promise((resolve) => setTimeout(resolve, 20))
