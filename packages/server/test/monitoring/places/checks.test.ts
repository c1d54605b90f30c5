import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import type { WorkerProbe } from "@scheduling/domain/workers/WorkerProtocol"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, type Member, signUp, runConcurrently } from "../../support/http.ts"
import { signalledNodesLayer } from "../../support/TestApp.ts"
import { onPostgres } from "../../support/TestDatabase.ts"
import { agentClientOf, workerClientOf } from "../../workers/workers.ts"
import { eventuallyOf, monitorClientOf } from "../monitors.ts"

const sitesOf = (member: Member) =>
  monitorClientOf("http", member, {
    name: "Site",
    url: "http://10.9.8.7/",
    timeout_seconds: 2,
    confirm_after: 1
  })

const good = { error: null, duration_ms: 12, dns_ms: 1, connect_ms: 2, tls_ms: 3, wait_ms: 4 }
const rest = { status_code: 200, certificate_expires_at: null, values: null }
const success = { ...good, ...rest }
const failure = {
  ...success,
  status_code: 401,
  error: { code: "http_status", message: "Responded with 401." }
}

interface Answer {
  readonly result: object
  readonly unreached?: boolean
}

type Answers = (probe: WorkerProbe) => Answer | undefined

const resultsOf = (probes: ReadonlyArray<WorkerProbe>, answers: Answers) =>
  probes.flatMap((probe) => {
    const answer = answers(probe)
    return answer === undefined ? [] : [{ probe_id: probe.probe_id, unreached: false, ...answer }]
  })

/**
 * Starts an agent that responds to probes with the given results. It stops when the scope closes.
 */
const startAgent = Effect.fnUntraced(function* (
  member: Member,
  label: string,
  answers: Answers,
  home?: "otherUrl"
) {
  const created = yield* workerClientOf(member).create({ name: `At ${label}`, labels: [label] })
  const agent = agentClientOf(created.body.token, home)
  const { body } = yield* agent.hello()
  const session: number = body.session
  const given: Array<WorkerProbe> = []
  const exchange = Effect.fnUntraced(function* () {
    for (let results: ReadonlyArray<object> = []; ;) {
      const orders = yield* agent.beat(session, { probes: results })
      const probes: ReadonlyArray<WorkerProbe> = orders.body.probes ?? []
      given.push(...probes)
      results = resultsOf(probes, answers)
      if (results.length === 0) return
    }
  })
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.gen(function* () {
        const claimed = yield* agent.claim(session, { wait_seconds: 5 })
        if (claimed.body.beat === true) yield* exchange()
      })
    )
  )
  return { id: String(created.body.id), agent, session, given }
})

const places = (...labels: ReadonlyArray<string>) => ({
  places: labels.map((label) => ({ labels: [label] }))
})

/** Waits until every location has been checked. */
const checkedOf = (member: Member, id: string, what = "a check of all places") =>
  eventuallyOf(what, sitesOf(member).get(id), ({ body }) =>
    body.place_results.every(({ checked_at }: { checked_at: string | null }) => checked_at !== null)
      ? body
      : undefined
  )

const statusesOf = (monitor: { readonly place_results: ReadonlyArray<{ status: string }> }) =>
  monitor.place_results.map(({ status }) => status)

layer(signalledNodesLayer, { excludeTestServices: true })("a check from places", (it) => {
  it.effect("decides by any, the majority or all of the places that are known", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      // The agent in `lie` always reports success. There is no agent in `away`.
      yield* startAgent(member, "fra", () => ({ result: failure }))
      yield* startAgent(member, "lon", () => ({ result: failure }))
      yield* startAgent(member, "lie", () => ({ result: success }))
      const cases = [
        { places: ["fra", "lon", "lie"], any: "down", majority: "down", all: "up" },
        { places: ["fra", "lie", "away"], any: "down", majority: "up", all: "up" },
        { places: ["fra", "away", "lon"], any: "down", majority: "down", all: "down" }
      ] as const
      for (const { places: labels, ...expected } of cases) {
        for (const [down_when, status] of Object.entries(expected)) {
          const { body } = yield* sites.create({ ...places(...labels), down_when })
          const monitor = yield* eventuallyOf("a status", sites.get(body.id), (answer) =>
            answer.body.status === "new" ? undefined : answer.body
          )
          assert.strictEqual(monitor.status, status, `${labels.join()} ${down_when}`)
          const at = { fra: "down", lon: "down", lie: "up", away: "unknown" }
          assert.deepStrictEqual(
            statusesOf(monitor),
            labels.map((label) => at[label])
          )
          if (status === "down") {
            assert.match(monitor.last_check.error.message, /^Failed at \d of \d places\. At fra: /)
          }
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("shows the result of each place with its worker, its reason and its times", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      const fra = yield* startAgent(member, "fra", () => ({ result: failure }))
      const { body } = yield* sites.create(places("fra", "away"))
      const monitor = yield* checkedOf(member, body.id)
      const [first, second] = monitor.place_results
      const { at, ...measured } = first.last_check
      assert.deepStrictEqual(measured, failure)
      assert.strictEqual(first.checked_at, at)
      assert.deepInclude(first, {
        labels: ["fra"],
        status: "down",
        reason: "Responded with 401.",
        worker: "At fra"
      })
      assert.deepInclude(second, {
        labels: ["away"],
        status: "unknown",
        reason: "No online worker has these labels.",
        worker: null,
        last_check: null
      })
      const [probe] = fra.given
      assert.deepInclude(probe?.target, { kind: "http", url: "http://10.9.8.7/", method: "GET" })
      const { body: listed } = yield* sites.list()
      assert.deepStrictEqual(listed.data[0].place_results, monitor.place_results)
      yield* workerClientOf(member).update(fra.id, { name: "Frankfurt" })
      const renamed = yield* sites.get(body.id)
      assert.strictEqual(renamed.body.place_results[0].worker, "Frankfurt")
    }).pipe(Effect.scoped)
  )

  // `url` is the node that runs checks. On the embedded store, it is the only node.
  it.effect.skipIf(!onPostgres)("asks agents that are connected to other nodes", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      yield* startAgent(member, "here", () => ({ result: success }))
      yield* startAgent(member, "there", () => ({ result: failure }), "otherUrl")
      // A claim waits for five seconds. If no message from the other node ended the wait early, the
      // agent would respond too late.
      const { body } = yield* sites.create({
        ...places("here", "there"),
        down_when: "any",
        timeout_seconds: 4
      })
      for (const failures of [1, 2]) {
        const monitor = yield* eventuallyOf("a failure", sites.get(body.id), (answer) =>
          answer.body.failures === failures ? answer.body : undefined
        )
        assert.deepStrictEqual(statusesOf(monitor), ["up", "down"])
        assert.strictEqual(monitor.status, "down")
        assert.strictEqual(
          monitor.last_check.error.message,
          "Failed at 1 of 2 places. At there: Responded with 401."
        )
        yield* sites.act(body.id, "check")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("does not count when no place is known", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      const created = yield* sites.create(places("away", "far"))
      const away = yield* checkedOf(member, created.body.id)
      assert.deepStrictEqual(statusesOf(away), ["unknown", "unknown"])
      assert.deepInclude(away, { status: "new", last_check: null, failures: 0 })
      // This agent claims a probe and then sends nothing, as if it had been killed.
      yield* startAgent(member, "mute", () => undefined)
      const other = yield* sites.create(places("mute"))
      const mute = yield* checkedOf(member, other.body.id, "the end of a round")
      assert.deepInclude(mute, { status: "new", last_check: null })
      assert.strictEqual(mute.place_results[0].reason, "The worker did not respond in time.")
    }).pipe(Effect.scoped)
  )

  it.effect("takes no late, repeated or foreign result", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      const other = yield* startAgent(member, "lon", () => undefined)
      const stranger = yield* signUp()
      const thief = yield* startAgent(stranger, "fra", () => undefined)
      const fra = yield* startAgent(member, "fra", () => undefined)
      const { body } = yield* sites.create({ ...places("fra"), timeout_seconds: 5 })
      const [probe] = yield* eventuallyOf(
        "a probe",
        Effect.sync(() => fra.given),
        (given) => (given.length > 0 ? given : undefined)
      )
      if (probe === undefined) return assert.fail("no probe")
      const lie = (id: string) =>
        resultsOf([{ ...probe, probe_id: id }], () => ({ result: failure }))
      const place = Effect.map(sites.get(body.id), (answer) => answer.body.place_results[0])
      const [monitorId, , round] = probe.probe_id.split(".")
      for (const id of [
        `${monitorId}.1.${round}`,
        `${monitorId}.0.${Number(round) + 1}`,
        `${monitorId}.0.${Number(round) - 1}`,
        "nonsense"
      ]) {
        yield* fra.agent.beat(fra.session, { probes: lie(id) })
      }
      yield* other.agent.beat(other.session, { probes: lie(probe.probe_id) })
      yield* thief.agent.beat(thief.session, { probes: lie(probe.probe_id) })
      assert.strictEqual((yield* place).status, "unknown")
      const results = resultsOf([probe], () => ({ result: success }))
      const beat = fra.agent.beat(fra.session, { probes: results })
      assert.deepStrictEqual(
        (yield* runConcurrently([beat, beat])).map(({ status }) => status),
        [200, 200]
      )
      const taken = yield* place
      assert.strictEqual(taken.status, "up")
      yield* fra.agent.beat(fra.session, { probes: lie(probe.probe_id) })
      assert.deepStrictEqual(yield* place, taken)
      const { body: up } = yield* sites.get(body.id)
      const { failures } = up
      assert.strictEqual(failures, 0)
      const { body: second } = yield* sites.create({ ...places("lon"), timeout_seconds: 1 })
      yield* checkedOf(member, second.id)
      const [late] = other.given
      if (late === undefined) return assert.fail("no probe")
      yield* other.agent.beat(other.session, {
        probes: resultsOf([late], () => ({ result: failure }))
      })
      const { body: after } = yield* sites.get(second.id)
      assert.deepStrictEqual(statusesOf(after), ["unknown"])
    }).pipe(Effect.scoped)
  )

  it.effect("does not count failures of a worker that has lost its network or was paused", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      let state: "good" | "cut off" | "paused" = "good"
      const unreachable = {
        ...success,
        status_code: null,
        error: { code: "connection", message: "Network unreachable." }
      }
      const stalled = {
        ...success,
        duration_ms: 60_000,
        error: { code: "timeout", message: "Timeout." }
      }
      yield* startAgent(member, "fra", () => ({
        unreached: state === "cut off",
        result: { good: success, "cut off": unreachable, paused: stalled }[state]
      }))
      const monitors = yield* runConcurrently(
        Array.from({ length: 8 }, (_, n) =>
          sites.create({ ...places("fra"), url: `http://site${n}.test/`, confirm_after: 10 })
        )
      )
      const ids = monitors.map(({ body }) => String(body.id))
      for (const id of ids) {
        yield* eventuallyOf("a site that is up", sites.get(id), ({ body }) =>
          body.status === "up" ? body : undefined
        )
      }
      state = "cut off"
      yield* runConcurrently(ids.map((id) => sites.act(id, "check")))
      const reason = (expected: string) =>
        eventuallyOf(expected, sites.list("?limit=20"), ({ body }) =>
          body.data.some(
            ({ place_results: [place] }: { place_results: ReadonlyArray<{ reason: string }> }) =>
              place?.reason === expected
          )
            ? true
            : undefined
        )
      yield* reason("The worker cannot reach any of its targets.")
      const { body } = yield* sites.list("?limit=20")
      for (const { failures, status } of body.data) {
        assert.strictEqual(status, "up")
        assert.isAtMost(failures, 5)
      }
      state = "paused"
      yield* sites.act(String(ids[0]), "check")
      yield* reason("The worker was paused during the check.")
      const paused = yield* sites.get(String(ids[0]))
      assert.strictEqual(paused.body.status, "up")
    }).pipe(Effect.scoped)
  )

  it.effect("lets the workers decide about addresses, and the service without places", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const sites = sitesOf(member)
      const metadata = { url: "http://169.254.169.254/" }
      assert.strictEqual((yield* sites.create(metadata)).status, 422)
      const { body, status } = yield* sites.create({ ...metadata, ...places("fra") })
      assert.strictEqual(status, 201)
      assert.deepInclude(body, { ...places("fra"), down_when: "majority" })
      const moved = yield* sites.update(body.id, { url: "http://169.254.169.253/" })
      assert.strictEqual(moved.status, 200, moved.text)
      const here = yield* sites.update(body.id, { places: null })
      assert.strictEqual(here.status, 422)
      assert.deepStrictEqual(here.body.detail.issues[0].path, ["url"])
      const port = yield* httpTarget((_, response) => response.end())
      const local = { places: null, url: `http://127.0.0.1:${port}/` }
      const changed = yield* sites.update(body.id, local)
      assert.deepInclude(changed.body, { places: null, place_results: [], status: "new" })
      for (const [wrong, path] of [
        [{ places: [] }, ["places"]],
        [places(...Array.from({ length: 11 }, () => "fra")), ["places"]],
        [{ places: [{ labels: [] }] }, ["places", 0, "labels"]],
        [{ ...places("fra"), down_when: "most" }, ["down_when"]]
      ] as const) {
        const refused = yield* sites.create(wrong)
        assert.strictEqual(refused.status, 422, refused.text)
        assert.deepStrictEqual(refused.body.detail.issues[0].path, path)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("forgets the results of places that a monitor no longer has", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const sites = sitesOf(member)
      const { body } = yield* sites.create(places("a", "b", "c"))
      yield* checkedOf(member, body.id)
      const changed = yield* sites.update(body.id, places("b", "a"))
      assert.deepStrictEqual(
        changed.body.place_results.map(({ reason }: { reason: string }) => reason),
        ["Not checked yet.", "Not checked yet."]
      )
      yield* sites.remove(body.id)
      const left = yield* sql`SELECT FROM monitor_places WHERE monitor_id = ${body.id}`
      assert.lengthOf(left, 0)
      assert.strictEqual((yield* ask("GET", "/v1/health")).status, 200)
    }).pipe(Effect.scoped)
  )
})
