// @tags processes postgres
import { key as certificateKey, root, siteUntil } from "@scheduling/calls/testing/certificates"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { createServer } from "node:tls"
import {
  sendJson,
  eventually,
  listening,
  newUser,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../support/TestDatabase.ts"
import { startHttpReceiver, startSmtpReceiver } from "./support/receivers.ts"
import { eventsIn } from "./support/events.ts"

const secret = "a secret for tests, thirty-two bytes and more"

const monitorIn = ({ data }: ReturnType<typeof eventsIn>[number]): string | undefined => {
  if ("incident" in data) return data.incident.subject.id
  return "monitor" in data ? data.monitor.id : undefined
}

const storeVariables =
  testDatabaseUrl === undefined
    ? Effect.map(temporaryFolder("notifications"), (DATA_DIR) => ({ DATA_DIR }))
    : Effect.map(freshDatabaseUrl(testDatabaseUrl), (DATABASE_URL) => ({
        DATABASE_URL,
        APP_SECRET: secret
      }))

/** Starts a server whose certificate expires in this number of days, unless the test renews it. */
const tlsServer = (days: number) => {
  const certificate = (left: number) => ({
    key: certificateKey,
    cert: siteUntil(new Date(Date.now() + left * 86_400_000))
  })
  const server = createServer(certificate(days))
  return Effect.map(
    Effect.acquireRelease(listening(server), () => Effect.sync(() => server.close())),
    (port) => ({ port, renew: (left: number) => server.setSecureContext(certificate(left)) })
  )
}

const trustedRoot = Effect.map(temporaryFolder("trusted"), (folder) => {
  const file = path.join(folder, "root.pem")
  fs.writeFileSync(file, root)
  return file
})

it.live(
  "What fails reaches a mail server and a webhook once, and so does its recovery",
  () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver()
      const hook = yield* startHttpReceiver()
      const site = yield* tlsServer(5)
      let fails = true
      const target = yield* startHttpReceiver(() => ({ status: fails ? 400 : 200 }))
      const server = yield* startServer({
        ...(yield* storeVariables),
        EGRESS_ALLOW: "127.0.0.0/8",
        NODE_EXTRA_CA_CERTS: yield* trustedRoot,
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls.rejectUnauthorized=false`,
        MAIL_FROM: "Alerts <alerts@scheduling.test>",
        PUBLIC_URL: "https://scheduling.test"
      })
      const { token, workspace } = yield* newUser(server)
      const [welcome] = yield* eventually(
        "a link for the email",
        async () => smtp.mails.length === 1 && smtp.mails.splice(0),
        20_000
      )
      const link = /\/email\/verify\/\S+/.exec(welcome?.text ?? "")?.[0] ?? ""
      const opened = yield* Effect.promise(() => fetch(server.url + link, { method: "POST" }))
      assert.strictEqual(opened.status, 200)
      const ask = (method: string, at: string, body?: object) =>
        Effect.promise(() =>
          sendJson(server, method, workspace + at, {
            token,
            ...(body === undefined ? {} : { body })
          })
        )
      const { body: channel, status } = yield* ask("POST", "/notifications/channels", {
        name: "hook",
        kind: "webhook",
        config: { url: `${hook.url}/alerts` }
      })
      assert.strictEqual(status, 201, JSON.stringify(channel))
      const { body: settings } = yield* ask("GET", "/notifications/settings")
      assert.lengthOf(settings.rules, 1)
      const put = yield* ask("PUT", "/notifications/settings", {
        version: settings.version,
        group_seconds: 1,
        rules: [
          ...settings.rules,
          {
            events: [
              "execution.failed",
              "task.recovered",
              "incident.opened",
              "incident.closed",
              "certificate.expiring",
              "certificate.changed"
            ],
            channel_ids: [channel.id]
          }
        ]
      })
      assert.strictEqual(put.status, 200, JSON.stringify(put.body))

      const { body: task } = yield* ask("POST", "/cron", {
        name: "Nightly report <b>",
        url: `${target.url}/job`,
        schedule: "0 0 1 1 *"
      })
      const run = ask("POST", `/cron/${task.id}/run`)
      yield* run
      yield* eventually("a webhook", async () => hook.received.length === 1, 20_000)
      yield* eventually("a mail", async () => smtp.mails.length === 1, 20_000)

      // The task fails again, which causes no notification, and then recovers.
      yield* run
      yield* eventually("the second run", async () => target.received.length === 2, 20_000)
      fails = false
      yield* run
      yield* eventually("a recovery", async () => hook.received.length === 2, 20_000)
      yield* eventually("a mail of it", async () => smtp.mails.length === 2, 20_000)

      const [down, up] = hook.received
      assert.containSubset(eventsIn(down?.body), [
        {
          type: "execution.failed",
          data: {
            execution: { task_id: task.id, error: { message: "responded with 400" } },
            notice: { title: "Failed: Nightly report <b>" }
          }
        }
      ])
      assert.containSubset(eventsIn(up?.body), [
        {
          type: "task.recovered",
          data: {
            execution: { task_id: task.id },
            notice: { title: "Recovered: Nightly report <b>" }
          }
        }
      ])
      assert.match(String(down?.headers["webhook-signature"]), /^v1,/)
      assert.strictEqual(down?.headers["idempotency-key"], down?.body.id)
      assert.deepStrictEqual(
        smtp.mails.map(({ headers }) => headers.get("subject")?.split("] ")[1]),
        ["Failed: Nightly report <b>", "Recovered: Nightly report <b>"]
      )

      // The delivery is recorded shortly after the message is sent.
      const statuses = yield* eventually(
        "four deliveries",
        async () => {
          const { body } = await Effect.runPromise(ask("GET", "/notifications/deliveries"))
          const all = body.data.map(({ status }: { readonly status: string }) => status)
          return !all.includes("queued") && !all.includes("sending") && all
        },
        20_000
      )
      assert.deepStrictEqual(statuses, Array(4).fill("delivered"))

      const eventsOf = (monitor: { readonly id: string }): ReadonlyArray<string> =>
        hook.received.flatMap(({ body }) =>
          eventsIn(body)
            .filter((event) => monitorIn(event) === monitor.id)
            .map(({ type }) => type)
        )
      const mailsAbout = (name: string) =>
        smtp.mails.filter(({ text }) => text.includes(name)).length

      const { body: heartbeat } = yield* ask("POST", "/monitors/heartbeat", {
        name: "Hourly backup",
        period_seconds: 3_600
      })
      const ping = (signal: string) =>
        Effect.promise(() => fetch(server.url + new URL(heartbeat.ping_url).pathname + signal))
      yield* ping("/fail")
      yield* eventually("that it is down", async () => eventsOf(heartbeat).length === 1, 20_000)
      // Otherwise, one email could contain both events.
      yield* eventually("a mail of it", async () => mailsAbout("Hourly backup") === 1, 20_000)
      yield* ping("")
      yield* eventually("that it is up", async () => eventsOf(heartbeat).length === 2, 20_000)
      yield* eventually("mails of both", async () => mailsAbout("Hourly backup") === 2, 20_000)
      assert.deepStrictEqual(eventsOf(heartbeat), ["incident.opened", "incident.closed"])
      const { body: incidents } = yield* ask("GET", `/incidents?subject_id=${heartbeat.id}`)
      assert.lengthOf(incidents.data, 1)
      const { body: incident } = yield* ask("GET", `/incidents/${incidents.data[0].id}`)
      assert.lengthOf(incident.deliveries, 4)

      const { body: ssl } = yield* ask("POST", "/monitors/ssl", {
        name: "Shop",
        host: "127.0.0.1",
        port: site.port
      })
      yield* eventually("that it expires", async () => eventsOf(ssl).length === 1, 20_000)
      yield* eventually("a mail of it", async () => mailsAbout("Shop") === 1, 20_000)
      site.renew(300)
      yield* ask("POST", `/monitors/ssl/${ssl.id}/check`)
      yield* eventually("that it changed", async () => eventsOf(ssl).length === 2, 20_000)
      assert.deepStrictEqual(eventsOf(ssl), ["certificate.expiring", "certificate.changed"])
      const shown = yield* ask("GET", `/monitors/ssl/${ssl.id}`)
      assert.deepInclude(shown.body, { status: "up", verification: "ok" })
      assert.strictEqual(server.stderr(), "")
    }),
  { timeout: 120_000 }
)
