// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { completionClientOf, startTarget } from "../completions/jobs.ts"
import { notificationClientOf } from "../../notifications/support/channels.ts"
import {
  ask,
  type Member,
  statusAndError,
  password,
  randomIp,
  signUp,
  times
} from "../../support/http.ts"
import { runningConfig, startNode, TestApp } from "../../support/TestApp.ts"
import { checkValueOf, testSecret } from "../../support/testSecret.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { agentClientOf, workerClientOf } from "../../workers/workers.ts"

const at = (url: string) => TestApp.of({ url, otherUrl: url, logs: [] })

/**
 * Two nodes: one still has the old secret. The other was started without it, because the operator
 * declared the secret lost.
 */
const NodesLayer = Layer.effect(
  TestApp,
  Effect.gen(function* () {
    const otherUrl = yield* startNode({ ...runningConfig, runner: "off" })
    const url = yield* startNode({
      ...runningConfig,
      appSecret: Redacted.make("the secret of the day after, thirty-two bytes"),
      appSecretLost: checkValueOf(testSecret)
    })
    return TestApp.of({ ...at(url), otherUrl })
  })
).pipe(Layer.provideMerge(TestDatabaseLayer))

/**
 * Signs up at the node with the old secret, so that the other node cannot decrypt the account's
 * secrets.
 */
const signUpBefore = Effect.gen(function* () {
  const { otherUrl } = yield* TestApp
  const { channel, member } = yield* Effect.gen(function* () {
    const somebody = yield* signUp()
    const { body } = yield* notificationClientOf(somebody).create({ key: "alerts", config: alerts })
    return { member: somebody, channel: body }
  }).pipe(Effect.provideService(TestApp, at(otherUrl)))
  const login = yield* ask("POST", "/v1/auth/login", {
    headers: { "x-forwarded-for": randomIp() },
    body: { email: member.email, password }
  })
  return { ...member, access_token: String(login.body.access_token), channel }
})

/** No server listens at this address. */
const alerts = { url: "http://127.0.0.1:1/", authorization: "Bearer abcdefghijkl" }

const rotate = ({ access_token: token, workspace }: Member) =>
  ask("POST", `${workspace}/signing-secrets/rotate`, { token })

const reason =
  "the workspace has no signing secret that can be decrypted: rotate it to get a new one"

layer(NodesLayer, { excludeTestServices: true })("secrets that cannot be decrypted", (it) => {
  it.effect(
    "fail the runs of a workspace with the reason, until it rotates its signing secret",
    () =>
      Effect.gen(function* () {
        const lost = yield* signUpBefore
        const jobs = completionClientOf(lost)
        const others = completionClientOf(yield* signUp())
        const { url, urls } = yield* startTarget(() => ({ status: 200 }))

        const ids = yield* Effect.forEach(times(5, String), () =>
          Effect.all([jobs.begin({ url }), others.begin({ url })])
        )
        // The node would prepare the call before the run is due.
        const later = yield* jobs.request("POST", "/delayed", { url, delay_seconds: 1 })
        for (const [lostRun, other] of ids) {
          assert.deepInclude(yield* jobs.ended(lostRun), {
            status: "failed",
            error: { code: "internal", message: reason }
          })
          assert.deepInclude(yield* others.ended(other), { status: "succeeded" })
        }
        const { data } = yield* jobs.until(
          `/executions?task_id=${later.body.id}`,
          (page) => page.data[0]?.status === "failed"
        )
        assert.strictEqual(data[0].error.message, reason)
        assert.lengthOf(urls, 5)

        assert.strictEqual(statusAndError(yield* rotate(lost)), "201")
        const again = Effect.flatMap(jobs.begin({ url }), jobs.ended)
        const { status } = yield* Effect.repeat(again, {
          until: (execution) => execution.status === "succeeded",
          times: 1_000
        })
        assert.strictEqual(status, "succeeded")
      })
  )

  it.effect("fail the runs that a worker claims", () =>
    Effect.gen(function* () {
      const lost = yield* signUpBefore
      const jobs = completionClientOf(lost)
      const { body: worker } = yield* workerClientOf(lost).create({ labels: ["office"] })
      const agent = agentClientOf(worker.token)
      const session = Number((yield* agent.hello()).body.session)
      const run_on = { labels: ["office"] }
      const id = yield* jobs.begin({ url: "https://intern.example.com/", run_on })
      assert.deepStrictEqual((yield* agent.claim(session, { wait_seconds: 2 })).body.calls, [])
      assert.deepInclude(yield* jobs.ended(id), {
        status: "failed",
        error: { code: "internal", message: reason }
      })
    })
  )

  it.effect("delay messages to webhooks", () =>
    Effect.gen(function* () {
      const lost = yield* signUpBefore
      const { url, urls } = yield* startTarget(() => ({ status: 200 }))
      const channels = notificationClientOf(lost)
      const { body: channel } = yield* channels.create({ config: { url } })
      yield* channels.test(channel.id)
      const found = completionClientOf(lost)
      const tried = yield* found.until(
        `/notifications/deliveries?channel_id=${channel.id}`,
        ({ data }) => data[0]?.error !== null
      )
      assert.deepInclude(tried.data[0], { error: reason })
      assert.lengthOf(urls, 0)
    })
  )

  it.effect("of a channel must be entered again, and it can be paused without them", () =>
    Effect.gen(function* () {
      const { channel, ...lost } = yield* signUpBefore
      const channels = notificationClientOf(lost)
      yield* channels.test(channel.id)
      const tried = yield* completionClientOf(lost).until(
        `/notifications/deliveries?channel_id=${channel.id}`,
        ({ data }) => data[0]?.error !== null
      )
      assert.deepInclude(tried.data[0], {
        error: "the secrets of the channel can no longer be decrypted: enter them again"
      })

      const { url, urls } = yield* startTarget(() => ({ status: 200 }))
      for (const config of [{ url }, channel.config]) {
        for (const refused of [
          yield* channels.update(channel.id, { config }),
          yield* channels.put("alerts", {
            name: "ops",
            kind: "webhook",
            config: { ...channel.config, ...config }
          })
        ]) {
          assert.strictEqual(statusAndError(refused), "422 validation_failed", refused.text)
          assert.deepStrictEqual(refused.body.detail.issues[0].path, ["config", "authorization"])
        }
      }
      const paused = yield* channels.update(channel.id, { paused: true, name: "off" })
      assert.deepInclude(paused.body, { paused: true, name: "off", config: channel.config })

      yield* rotate(lost)
      const again = yield* channels.put("alerts", {
        name: "ops",
        kind: "webhook",
        paused: false,
        config: { ...alerts, url }
      })
      assert.strictEqual(statusAndError(again), "200", again.text)
      yield* channels.test(channel.id)
      yield* completionClientOf(lost).until(
        `/notifications/deliveries?channel_id=${channel.id}&status=delivered`,
        ({ data }) => data.length === 1
      )
      assert.lengthOf(urls, 1)
    })
  )
})
