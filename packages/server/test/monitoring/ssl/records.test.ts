// @tags slow
import { EgressAllow, Resolver } from "@scheduling/calls/egress/Egress"
import {
  expired,
  key as certificateKey,
  root,
  selfSigned,
  site
} from "@scheduling/calls/testing/certificates"
import { tcpTarget } from "@scheduling/calls/testing/CallTargets"
import { TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { afterAll, assert, beforeAll, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MaintenanceRepo } from "../../../src/incidents/maintenance/MaintenanceRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import { CertificateChecks } from "../../../src/monitoring/ssl/CertificateChecks.ts"
import { SslMonitorsRepo } from "../../../src/monitoring/ssl/SslMonitorsRepo.ts"
import { StatusChanges } from "../../../src/monitoring/StatusChanges.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { Signals } from "../../../src/events/Signals.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"
import { statusAndError } from "../../support/http.ts"
import { loopback, testAppLayer } from "../../support/TestApp.ts"
import { setUpHeartbeats } from "../monitors.ts"

/** The certificate checks of a node that is allowed to connect to this machine. */
const checks = CertificateChecks.layer.pipe(
  Layer.provide(StatusChanges.layer),
  Layer.provide([
    IncidentsRepo.layer,
    MaintenanceRepo.layer,
    MonitorEventsRepo.layer,
    MonitorsRepo.layer,
    Outbox.layer,
    SslMonitorsRepo.layer,
    TlsProbe.layer
  ]),
  Layer.provide([
    Ids.layer,
    Signals.layer,
    Layer.succeed(StoreClock, () => DateTime.nowAsDate),
    Layer.succeed(EgressAllow, loopback),
    Layer.succeed(Resolver, async () => ["127.0.0.1"])
  ])
)

/** Runs all due checks on a new node. */
const checkAll = Effect.gen(function* () {
  const { finished, startDue } = yield* CertificateChecks
  while ((yield* startDue) === 0) yield* finished
}).pipe(Effect.provide(checks), Effect.scoped)

const presenting = (cert: string) =>
  tcpTarget((socket) => {
    new TLSSocket(socket, { isServer: true, key: certificateKey, cert }).on("error", () => {})
  })

const server = presenting(site)

const roots = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([root]))
afterAll(() => setDefaultCACertificates(roots))

layer(testAppLayer())("an SSL monitor", (it) => {
  it.effect("is created with defaults, and checked immediately", () =>
    Effect.gen(function* () {
      const { member, ssl } = yield* setUpHeartbeats
      const port = yield* server
      const created = yield* ssl.create({ port, tags: ["web"] })
      assert.strictEqual(created.status, 201, created.text)
      assert.deepStrictEqual(created.body, {
        id: created.body.id,
        workspace_id: member.workspace_id,
        key: null,
        version: 1,
        name: "Website",
        tags: ["web"],
        depends_on: [],
        status: "new",
        paused: false,
        last_change_at: "2026-06-01T12:00:00.000Z",
        next_check_at: "2026-06-01T12:00:00.000Z",
        open_incident_id: null,
        created_by: created.body.created_by,
        updated_by: created.body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z",
        host: "site.test",
        port,
        server_name: null,
        protocol: "tls",
        warn_days: [30, 14, 7, 3, 1],
        check_interval_seconds: 21_600,
        last_check_at: null,
        verification: null,
        verification_message: null,
        certificate: null
      })
      yield* checkAll
      const { body: seen } = yield* ssl.get(created.body.id)
      assert.deepInclude(seen, {
        status: "up",
        verification: "ok",
        last_check_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepInclude(seen.certificate, {
        subject: "CN=site.test",
        issuer: "CN=test root",
        valid_to: "2120-01-01T00:00:00.000Z",
        chain: []
      })
      assert.isAbove(seen.certificate.days_left, 30_000)
      const { body: events } = yield* ssl.events(created.body.id)
      assert.deepInclude(events.data[0], {
        type: "check",
        status: "up",
        verification: "ok",
        fingerprint_sha256: seen.certificate.fingerprint_sha256
      })
      const again = Date.parse(seen.next_check_at) - Date.UTC(2026, 5, 1, 12)
      assert.isAtLeast(again, 0.9 * 21_600_000)
      assert.isAtMost(again, 1.1 * 21_600_000)
    })
  )

  it.effect("announces a new certificate of its server", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { member, ssl } = yield* setUpHeartbeats
      let shown = site
      const port = yield* tcpTarget((socket) => {
        const secured = new TLSSocket(socket, { isServer: true, key: certificateKey, cert: shown })
        secured.on("error", () => {})
      })
      const { body: created } = yield* ssl.create({ port, name: "Shop" })
      yield* checkAll
      shown = selfSigned
      yield* TestClock.adjust("7 hours")
      yield* checkAll
      const { body: events } = yield* ssl.events(created.id)
      assert.includeMembers(
        events.data.map(({ type }: { readonly type: string }) => type),
        ["certificate_changed"]
      )
      const notifications = yield* sql<{ event: string; data: { readonly name: string } }>`
        SELECT event, data
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
          AND event = 'certificate.changed'`
      assert.deepStrictEqual(
        notifications.map(({ data }) => data.name),
        ["Shop"]
      )
    })
  )

  it.effect("forgets its status and certificate when its target changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { member, ssl } = yield* setUpHeartbeats
      const { body: created } = yield* ssl.create({ port: yield* server })
      yield* checkAll
      // An update that does not change the target keeps the status.
      const same = yield* ssl.update(created.id, { name: "Shop", server_name: "site.test" })
      assert.deepInclude(same.body, { status: "up", verification: "ok" })
      const other = yield* tcpTarget((socket) => {
        new TLSSocket(socket, { isServer: true, key: certificateKey, cert: selfSigned }).on(
          "error",
          () => {}
        )
      })
      const changed = yield* ssl.update(created.id, { port: other })
      assert.deepInclude(changed.body, { status: "new", certificate: null, verification: null })
      yield* checkAll
      const down = (yield* ssl.get(created.id)).body
      assert.deepInclude(down, { status: "down", verification: "self_signed" })
      // This also applies if the old target is down.
      yield* ssl.update(created.id, { port: yield* Effect.scoped(server) })
      yield* checkAll
      yield* TestClock.adjust("1 minute")
      yield* checkAll
      const again = (yield* ssl.get(created.id)).body
      assert.deepInclude(again, { status: "down", certificate: null })
      assert.notStrictEqual(again.open_incident_id, down.open_incident_id)
      const { body: events } = yield* ssl.events(created.id)
      assert.notInclude(
        events.data.map(({ type }: { readonly type: string }) => type),
        "certificate_changed"
      )
      const notifications = yield* sql<{ readonly event: string; readonly id: string }>`
        SELECT event, data -> 'about' -> 'incident' ->> 'id' AS id
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
        ORDER BY ordinal`
      assert.deepInclude(notifications.at(-1), {
        event: "incident.opened",
        id: again.open_incident_id
      })
    })
  )

  it.effect("has the default port of its protocol, and rejects invalid hosts", () =>
    Effect.gen(function* () {
      const { ssl } = yield* setUpHeartbeats
      const ports = { tls: 443, smtp: 587, imap: 143, pop3: 110, postgres: 5432 }
      for (const [protocol, port] of Object.entries(ports)) {
        assert.strictEqual((yield* ssl.create({ protocol })).body.port, port)
      }
      for (const host of ["https://site.test", "site.test:443", "a b", "-x.test", "", "10.0.0.5"]) {
        const refused = yield* ssl.create({ host })
        assert.strictEqual(statusAndError(refused), "422 validation_failed", host)
        assert.deepStrictEqual(refused.body.detail.issues[0].path, ["host"])
      }
      assert.strictEqual((yield* ssl.create({ host: "2606:4700::1111" })).status, 201)
      const names = { host: "München.de", server_name: "例え.jp" }
      assert.deepInclude((yield* ssl.create(names)).body, {
        host: "xn--mnchen-3ya.de",
        server_name: "xn--r8jz45g.jp"
      })
      for (const host of [
        "münchen.de/path",
        "münchen.de:443",
        "ada@münchen.de",
        "mün chen.de",
        `${"ü".repeat(260)}.de`
      ]) {
        assert.strictEqual(
          statusAndError(yield* ssl.create({ host })),
          "422 validation_failed",
          host
        )
      }
      for (const wrong of [{ port: 0 }, { warn_days: [0] }, { check_interval_seconds: 60 }]) {
        assert.strictEqual(statusAndError(yield* ssl.create(wrong)), "422 validation_failed")
      }
    })
  )

  it.effect("says in its incident and its message when the certificate expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { heartbeats, member, ssl } = yield* setUpHeartbeats
      yield* ssl.create({ port: yield* presenting(expired) })
      yield* checkAll
      const [incident] = (yield* heartbeats.incidents()).body.data
      assert.strictEqual(incident.opened_at, "2026-06-01T12:00:00.000Z")
      assert.deepStrictEqual(incident.cause, {
        code: "expired",
        message: "The certificate expired on 2020-02-01.",
        certificate_expires_at: "2020-02-01T00:00:00.000Z"
      })
      const [announced] = yield* sql<{ readonly cause: unknown }>`
        SELECT data -> 'about' -> 'incident' -> 'cause' AS cause
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}`
      assert.deepStrictEqual(announced?.cause, incident.cause)
    })
  )

  it.effect("goes down after two failed checks with one incident, and announces the recovery", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { heartbeats, member, ssl } = yield* setUpHeartbeats
      const closed = yield* Effect.scoped(server)
      const { body: created } = yield* ssl.create({ port: closed })
      const get = Effect.map(ssl.get(created.id), ({ body }) => body)
      yield* checkAll
      assert.deepInclude(yield* get, {
        status: "new",
        verification: "unreachable",
        verification_message: "Connection refused.",
        next_check_at: "2026-06-01T12:01:00.000Z"
      })
      yield* TestClock.adjust("1 minute")
      yield* checkAll
      const down = yield* get
      assert.deepInclude(down, { status: "down", next_check_at: "2026-06-01T12:11:00.000Z" })
      const { body: incidents } = yield* heartbeats.incidents()
      assert.deepInclude(incidents.data[0], {
        id: down.open_incident_id,
        subject: { kind: "ssl", id: created.id, name: created.name },
        cause: { code: "unreachable", message: "Connection refused." }
      })
      yield* TestClock.adjust("10 minutes")
      yield* checkAll
      assert.strictEqual((yield* heartbeats.incidents()).body.data.length, 1)
      const port = yield* server
      const changed = yield* ssl.update(created.id, { port })
      assert.deepInclude(changed.body, {
        status: "new",
        open_incident_id: null,
        verification: null,
        verification_message: null,
        last_check_at: null
      })
      assert.deepStrictEqual((yield* heartbeats.incidents("?open=true")).body.data, [])
      yield* checkAll
      assert.deepInclude(yield* get, { status: "up", open_incident_id: null, port })
      const notifications = yield* sql<{ event: string }>`
        SELECT event
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
        ORDER BY ordinal`
      assert.deepStrictEqual(
        notifications.map(({ event }) => event),
        ["incident.opened", "incident.closed"]
      )
    })
  )

  it.effect("needs a minute between the two failed checks that make it go down", () =>
    Effect.gen(function* () {
      const { ssl } = yield* setUpHeartbeats
      const { body: created } = yield* ssl.create({ port: yield* Effect.scoped(server) })
      const status = Effect.map(ssl.get(created.id), ({ body }) => body.status)
      yield* checkAll
      yield* TestClock.adjust("10 seconds")
      const { body: asked } = yield* ssl.act(created.id, "check")
      assert.strictEqual(asked.next_check_at, "2026-06-01T12:01:00.000Z")
      yield* checkAll
      assert.strictEqual(yield* status, "new")
      yield* ssl.act(created.id, "pause")
      yield* ssl.act(created.id, "resume")
      yield* checkAll
      assert.strictEqual(yield* status, "new")
      yield* TestClock.adjust("59 seconds")
      yield* checkAll
      assert.strictEqual(yield* status, "new")
      yield* TestClock.adjust("1 second")
      yield* checkAll
      assert.strictEqual(yield* status, "down")
      yield* ssl.act(created.id, "check")
      yield* checkAll
      assert.strictEqual(yield* status, "down")
    })
  )

  it.effect("is checked on request, except while it is paused", () =>
    Effect.gen(function* () {
      const { ssl } = yield* setUpHeartbeats
      const { body: created } = yield* ssl.create({ port: yield* server })
      yield* checkAll
      yield* TestClock.adjust("1 minute")
      const asked = yield* ssl.act(created.id, "check")
      assert.strictEqual(asked.status, 202)
      assert.strictEqual(asked.body.next_check_at, "2026-06-01T12:01:00.000Z")
      yield* checkAll
      const { body: seen } = yield* ssl.get(created.id)
      assert.strictEqual(seen.last_check_at, "2026-06-01T12:01:00.000Z")
      const paused = yield* ssl.act(created.id, "pause")
      assert.strictEqual(paused.body.status, "paused")
      assert.strictEqual(statusAndError(yield* ssl.act(created.id, "check")), "409 conflict")
      yield* TestClock.adjust("1 day")
      yield* checkAll
      assert.strictEqual((yield* ssl.get(created.id)).body.last_check_at, seen.last_check_at)
      const resumed = yield* ssl.act(created.id, "resume")
      assert.deepInclude(resumed.body, {
        status: "new",
        next_check_at: "2026-06-02T12:01:00.000Z",
        updated_at: "2026-06-02T12:01:00.000Z"
      })
      yield* checkAll
      assert.strictEqual((yield* ssl.get(created.id)).body.status, "up")
    })
  )

  it.effect("that is changed during a check ignores the result", () =>
    Effect.gen(function* () {
      const { ssl } = yield* setUpHeartbeats
      const connected = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<void>()
      const slow = yield* tcpTarget((socket) => {
        connected.resolve()
        void answer.promise.then(() => socket.destroy())
      })
      const { body: created } = yield* ssl.create({ port: slow })
      yield* Effect.gen(function* () {
        const { finished, startDue } = yield* CertificateChecks
        yield* startDue
        yield* Effect.promise(() => connected.promise)
        yield* ssl.act(created.id, "pause")
        answer.resolve()
        yield* finished
      }).pipe(Effect.provide(checks), Effect.scoped)
      assert.deepInclude((yield* ssl.get(created.id)).body, {
        status: "paused",
        verification: null,
        next_check_at: null
      })
    })
  )

  it.effect("is leased with at most three others of its workspace, and by one node", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE ssl_monitors SET check_at = NULL`
      const { member, ssl } = yield* setUpHeartbeats
      for (let made = 0; made < 6; made++) yield* ssl.create()
      const repo = yield* Effect.provide(SslMonitorsRepo, SslMonitorsRepo.layer)
      const at = yield* DateTime.nowAsDate
      const take = (busy: ReadonlyArray<string> = []) =>
        Effect.map(
          repo.lease(at, {
            limit: 24,
            ofWorkspace: 4,
            until: new Date(at.getTime() + 60_000),
            busy
          }),
          (rows) => rows.length
        )
      assert.strictEqual(yield* take([member.workspace_id]), 0)
      assert.strictEqual(yield* take(), 4)
      assert.strictEqual(yield* take(), 2)
      assert.strictEqual(yield* take(), 0)
    })
  )
})
