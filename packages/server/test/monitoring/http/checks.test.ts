import {
  expired,
  key as certificateKey,
  root,
  selfSigned,
  site,
  siteUntil
} from "@scheduling/calls/testing/certificates"
import { httpTarget, replyWith, tcpTarget } from "@scheduling/calls/testing/CallTargets"
import type { Incident } from "@scheduling/domain/incidents/Incident"
import type { MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import { afterAll, assert, beforeAll, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import { ask, type Member, statusAndError, signUp, runConcurrently } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"
import {
  assertTested,
  type CheckCase,
  eventuallyOf,
  firstCheckOf,
  monitorClientOf
} from "../monitors.ts"

const httpOf = (member: Member, defaults: object = {}) =>
  monitorClientOf("http", member, { name: "Site", confirm_after: 1, ...defaults })

const checked = (member: Member, input: object) => firstCheckOf(httpOf(member), input)

const answering =
  (status: number, body = "", headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(body)

const secureTarget = (certificate: string) =>
  tcpTarget((socket) => {
    const secured = new TLSSocket(socket, {
      isServer: true,
      key: certificateKey,
      cert: certificate
    })
    secured.on("error", () => {})
    secured.once("data", () => secured.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"))
  })

const roots = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([root]))
afterAll(() => setDefaultCACertificates(roots))

layer(runningNodeLayer(), { excludeTestServices: true })("a check of an HTTP monitor", (it) => {
  it.effect("measures a response that keeps all rules", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const seen: Array<string> = []
      const port = yield* httpTarget((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers["x-token"]}`)
        response.end(JSON.stringify({ status: "ok", checks: [{ state: 1 }], "odd key": null }))
      })
      const monitor = yield* checked(member, {
        url: `http://127.0.0.1:${port}/health?deep=1`,
        headers: { "x-token": "t0ken-of-the-site" },
        body_contains: "status",
        body_lacks: "error",
        body_json: { path: "$.checks[0].state", equals: 1 },
        max_latency_ms: 5_000,
        min_certificate_days: 7
      })
      assert.strictEqual(monitor.status, "up")
      assert.deepStrictEqual(monitor.headers, { "x-token": "•••" })
      const { at, connect_ms, duration_ms, wait_ms, ...rest } = monitor.last_check
      assert.deepStrictEqual(rest, {
        error: null,
        dns_ms: null,
        tls_ms: null,
        status_code: 200,
        certificate_expires_at: null,
        values: null
      })
      for (const ms of [connect_ms, duration_ms, wait_ms]) assert.isAtLeast(ms, 0)
      assert.isBelow(Math.abs(Date.parse(at) - Date.now()), 60_000)
      assert.deepStrictEqual(seen, ["GET /health?deep=1 t0ken-of-the-site"])
      const { body: events } = yield* httpOf(member).events(monitor.id)
      assert.deepInclude(events.data[0], { type: "check", status: "up", status_code: 200 })
    })
  )

  it.effect("says which rule a response breaks", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const ok = yield* httpTarget(answering(200, '{"status":"degraded","list":[1]}'))
      const unavailable = yield* httpTarget(answering(503, "down for maintenance"))
      const slow = yield* httpTarget((_, response) => void setTimeout(() => response.end(), 300))
      const hanging = yield* httpTarget(() => {})
      const trickling = yield* httpTarget((_, response) => {
        response.writeHead(200, { "content-length": "100" }).write("a")
      })
      const halfOpen = yield* tcpTarget((socket) => void socket.end())
      const garbage = yield* tcpTarget(replyWith("SSH-2.0-OpenSSH_9.7\r\n"))
      const loop = yield* httpTarget((request, response) =>
        response.writeHead(302, { location: `${request.url}x` }).end()
      )
      const inside = yield* httpTarget(answering(302, "", { location: "http://10.0.0.1/" }))
      const closed = yield* Effect.scoped(tcpTarget(() => {}))
      const soon = new Date(Date.now() + 3.5 * 86_400_000)
      const url = (port: number) => ({ url: `http://127.0.0.1:${port}/` })
      const secure = (port: number) => ({ url: `https://127.0.0.1:${port}/` })
      const cases: ReadonlyArray<CheckCase> = [
        [url(unavailable), "http_status", /^Responded with 503\.$/],
        [{ ...url(ok), success_codes: ["201", "301-399"] }, "http_status", /200 is not one of 201/],
        [{ ...url(unavailable), success_codes: ["503"] }, null, /^$/],
        [{ ...url(ok), body_contains: "healthy" }, "response_rule", /does not contain "healthy"/],
        [{ ...url(ok), body_lacks: "degraded" }, "response_rule", /contains "degraded"/],
        [
          { ...url(ok), body_json: { path: "status", equals: "ok" } },
          "response_rule",
          /^Status is "degraded" and not "ok"\.$/
        ],
        [
          { ...url(ok), body_json: { path: "list[1]", equals: 1 } },
          "response_rule",
          /nothing at list\[1\]/
        ],
        [
          { ...url(unavailable), success_codes: ["503"], body_json: { path: "a", equals: 1 } },
          "response_rule",
          /not JSON/
        ],
        [{ ...url(slow), max_latency_ms: 100 }, "too_slow", /took \d+ ms, more than 100 ms/],
        [{ ...url(hanging), timeout_seconds: 1 }, "timeout", /after 1 s while waiting/],
        [{ ...url(trickling), timeout_seconds: 1 }, "timeout", /while reading/],
        [url(halfOpen), "connection", /^Connection closed/],
        [url(closed), "connection", /^Connection refused\.$/],
        [url(garbage), "invalid_response", /^Invalid HTTP response\.$/],
        [url(loop), "too_many_redirects", /^More than 10 redirects\.$/],
        [{ ...url(loop), follow_redirects: false }, "http_status", /redirects are not followed/],
        [url(inside), "address_refused", /^The service may not connect/],
        [secure(yield* secureTarget(site)), null, /^$/],
        [secure(yield* secureTarget(expired)), "tls", /expired/],
        [secure(yield* secureTarget(selfSigned)), "tls", /self-signed/],
        [
          { ...secure(yield* secureTarget(siteUntil(soon))), min_certificate_days: 7 },
          "certificate_expiring",
          /valid for 3 more days, less than 7/
        ]
      ]
      const monitors = yield* runConcurrently(cases.map(([input]) => checked(member, input)))
      monitors.forEach((monitor, index) => {
        const [input, code, message] = cases[index] ?? assert.fail("no case")
        const { error } = monitor.last_check
        assert.strictEqual(error?.code ?? null, code, JSON.stringify([input, error]))
        assert.match(error?.message ?? "", message, JSON.stringify(input))
        const status: MonitorStatus = code === null ? "up" : "down"
        assert.strictEqual(monitor.status, status)
      })
      yield* assertTested(httpOf(member), cases)
      const { body: incidents } = yield* httpOf(member).incidents("?limit=100")
      const failing = cases.filter(([, code]) => code !== null)
      assert.lengthOf(incidents.data, failing.length)
      assert.deepStrictEqual(
        incidents.data.flatMap(({ cause }: Incident) => cause.certificate_expires_at ?? []),
        [`${soon.toISOString().slice(0, 19)}.000Z`]
      )
      // The measured durations must not reveal anything about a private network.
      const refused = monitors.find(
        ({ last_check }) => last_check.error?.code === "address_refused"
      )
      assert.deepInclude(refused?.last_check, { duration_ms: null, dns_ms: null, connect_ms: null })
      const certificate = monitors.find(({ last_check }) => last_check.certificate_expires_at)
      assert.strictEqual(certificate?.last_check.certificate_expires_at, "2120-01-01T00:00:00.000Z")
    })
  )

  it.effect("follows redirects, and gives credentials to their own server only", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const seen: Array<string | undefined> = []
      const last = yield* httpTarget((request, response) => {
        seen.push(request.headers.authorization)
        response.end("the end")
      })
      const first = yield* httpTarget((request, response) => {
        seen.push(request.headers.authorization)
        const location = request.url === "/" ? "/second" : `http://127.0.0.1:${last}/`
        response.writeHead(307, { location }).end()
      })
      const monitor = yield* checked(member, {
        url: `http://127.0.0.1:${first}/`,
        headers: { authorization: "Bearer s3cret-of-first" },
        body_contains: "the end"
      })
      assert.strictEqual(monitor.status, "up")
      const bearer = "Bearer s3cret-of-first"
      assert.deepStrictEqual(seen, [bearer, bearer, undefined])
    })
  )

  it.effect("confirms a failure within seconds, and a recovery by the next responses", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      let status = 500
      const port = yield* httpTarget((_, response) => response.writeHead(status).end())
      const monitors = httpOf(member, { url: `http://127.0.0.1:${port}/`, interval_seconds: 3_600 })
      const { body: created } = yield* monitors.create({ confirm_after: 2, recover_after: 2 })
      const stateOf = (wanted: object) =>
        eventuallyOf(JSON.stringify(wanted), monitors.get(created.id), ({ body }) =>
          Object.entries(wanted).every(([name, value]) => body[name] === value) ? body : undefined
        )
      const first = yield* stateOf({ status: "new", failures: 1 })
      const inMs = Date.parse(first.next_check_at) - Date.parse(first.last_check.at)
      assert.strictEqual(inMs, 3_000)
      const down = yield* stateOf({ status: "down", failures: 2 })
      const { body: incidents } = yield* monitors.incidents()
      assert.deepInclude(incidents.data[0], {
        id: down.open_incident_id,
        subject: { kind: "http", id: down.id, name: down.name },
        closed_at: null,
        cause: { code: "http_status", message: "Responded with 500." }
      })
      status = 204
      assert.strictEqual(statusAndError(yield* monitors.act(created.id, "check")), "202")
      yield* stateOf({ status: "down", failures: 0 })
      yield* stateOf({ status: "up" })
      const { body: closed } = yield* monitors.incidents()
      assert.isNotNull(closed.data[0].closed_at)
    })
  )

  it.effect("fills in secrets for allowed hosts, and masks them in responses", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const port = yield* httpTarget((request, response) =>
        response.end(JSON.stringify({ echo: request.headers.authorization }))
      )
      const secret = (name: string, allowed_hosts: ReadonlyArray<string>) =>
        ask("PUT", `${member.workspace}/secrets/${name}`, {
          token: member.access_token,
          body: { value: "the-value-of-it", allowed_hosts }
        })
      yield* secret("TOKEN", [`http://127.0.0.1:${port}`])
      yield* secret("OTHER", ["api.example.com"])
      const url = `http://127.0.0.1:${port}/`
      const bearer = (name: string) => ({
        auth: { kind: "bearer", token: `{{ secrets.${name} }}` }
      })
      const echoed = yield* checked(member, {
        url,
        ...bearer("TOKEN"),
        body_json: { path: "echo", equals: "Bearer the-value-of-it" }
      })
      assert.strictEqual(
        echoed.last_check.error?.message,
        'Echo is "Bearer •••" and not "Bearer the-value-of-it".'
      )
      const refused = yield* checked(member, { url, ...bearer("OTHER") })
      assert.strictEqual(refused.last_check.error?.code, "secret_refused")
      const missing = yield* checked(member, { url, headers: { "x-key": "{{ secrets.NONE }}" } })
      assert.strictEqual(missing.last_check.error?.code, "secret_missing")
      yield* assertTested(httpOf(member), [
        [{ url, ...bearer("TOKEN") }, null, /^$/],
        [{ url, ...bearer("OTHER") }, "secret_refused", /./]
      ])
      const inUse = yield* ask("DELETE", `${member.workspace}/secrets/TOKEN`, {
        token: member.access_token
      })
      assert.strictEqual(statusAndError(inUse), "409 conflict")
      assert.strictEqual(inUse.body.detail.existing_id, echoed.id)
    })
  )

  it.effect("keeps masked credentials, and rejects what contradicts itself", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const monitors = httpOf(member, { url: "http://127.0.0.1:9/" })
      const problemOf = (input: object) =>
        Effect.map(monitors.create(input), ({ body, status }) => [
          status,
          body.detail?.issues?.[0]?.path.join(".")
        ])
      assert.deepStrictEqual(yield* problemOf({ body: "x" }), [422, "body"])
      assert.deepStrictEqual(yield* problemOf({ url: "http://10.0.0.1/" }), [422, "url"])
      assert.deepStrictEqual(yield* problemOf({ url: "http://127.0.0.1:9/{{ run.id }}" }), [
        422,
        "url"
      ])
      assert.deepStrictEqual(yield* problemOf({ headers: { authorization: "•••" } }), [
        422,
        "headers.authorization"
      ])
      assert.deepStrictEqual(yield* problemOf({ body_json: { path: "a b", equals: 1 } }), [
        422,
        "body_json.path"
      ])
      const headers = { authorization: "Bearer abc", "x-other": "1" }
      const { body: created } = yield* monitors.create({ key: "site", headers, method: "POST" })
      const shown = { ...headers, authorization: "•••" }
      assert.deepStrictEqual(created.headers, shown)
      const { body: same } = yield* ask("PUT", `${member.workspace}/monitors/http/by-key/site`, {
        token: member.access_token,
        body: (yield* monitors.get(created.id)).body
      })
      assert.strictEqual(same.version, created.version)
      const { body: changed } = yield* monitors.update(created.id, {
        headers: { "x-other": null },
        body: { a: 1 }
      })
      assert.deepInclude(changed, { headers: { authorization: "•••" }, body: '{"a":1}' })
      const wrong = yield* monitors.update(created.id, { method: "GET" })
      assert.strictEqual(statusAndError(wrong), "422 validation_failed")
    })
  )
})
