import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  sendJson,
  eventually,
  newUser,
  type ServerProcess,
  startServer
} from "../../support/ServerProcess.ts"
import { startHttpReceiver, startSmtpReceiver } from "./receivers.ts"
import { eventsIn } from "./events.ts"

export const maxWaitMs = 60_000

/**
 * Creates users who are notified about their monitors by email and webhook, and nodes that can be
 * killed.
 */
export const startFixture = Effect.fnUntraced(function* (store: Readonly<Record<string, string>>) {
  const smtp = yield* startSmtpReceiver()
  let hold: Promise<void> | undefined
  const hook = yield* startHttpReceiver(() => (hold === undefined ? {} : { after: hold }))
  const start = startServer({
    ...store,
    EGRESS_ALLOW: "127.0.0.0/8",
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls.rejectUnauthorized=false`,
    MAIL_FROM: "alerts@scheduling.test",
    PUBLIC_URL: "https://scheduling.test"
  })
  let node: ServerProcess = yield* start
  const { token, workspace } = yield* newUser(node)
  const ask = (method: string, at: string, body?: object) =>
    Effect.promise(() =>
      sendJson(node, method, workspace + at, { token, ...(body === undefined ? {} : { body }) })
    )

  const link = yield* eventually(
    "a link for the email",
    async () => /\/email\/verify\/\S+/.exec(smtp.mails[0]?.text ?? "")?.[0],
    maxWaitMs
  )
  yield* Effect.promise(() => fetch(node.url + link, { method: "POST" }))
  const { body: channel } = yield* ask("POST", "/notifications/channels", {
    name: "hook",
    kind: "webhook",
    config: { url: `${hook.url}/alerts` }
  })
  const { body: channels } = yield* ask("GET", "/notifications/channels")
  const channel_ids = channels.data.map(({ id }: { readonly id: string }) => id)
  const put = yield* ask("PUT", "/notifications/settings", {
    version: 1,
    group_seconds: 0,
    rules: [{ events: ["incident.opened", "incident.closed"], channel_ids }]
  })
  assert.strictEqual(put.status, 200, JSON.stringify(put.body))

  return {
    ask,
    channel,
    start,
    node: () => node,
    use: (other: ServerProcess) => {
      node = other
    },
    /**
     * Returns the events that the webhook received about a monitor. Repeated messages are counted
     * once.
     */
    eventsOf: (monitorId: string): ReadonlyArray<string> => {
      const messages = new Map(hook.received.map(({ body }) => [body.id, eventsIn(body)]))
      return [...messages.values()]
        .flat()
        .filter(({ data }) => "incident" in data && data.incident.subject.id === monitorId)
        .map(({ type }) => type)
    },
    mailsOf: (name: string): number =>
      new Set(
        smtp.mails
          .filter(({ headers }) => headers.get("subject")?.includes(name))
          .map(({ headers }) => headers.get("message-id"))
      ).size,
    hookCalls: () => hook.received.length,
    /** Kills the node, runs `meanwhile`, and starts another node. */
    replaceNode: (meanwhile: Effect.Effect<unknown> = Effect.void) =>
      Effect.gen(function* () {
        node.kill("SIGKILL")
        yield* node.exited
        yield* meanwhile
        node = yield* start
      }),
    /** Makes the webhook withhold its responses until the returned effect runs. */
    holdAnswers: Effect.sync(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      hold = promise
      return Effect.sync(() => {
        hold = undefined
        resolve()
      })
    })
  }
})

export type Fixture = Effect.Success<ReturnType<typeof startFixture>>

export interface Heartbeat {
  readonly id: string
  readonly name: string
  readonly pingPath: string
}

export const createHeartbeat = Effect.fnUntraced(function* ({ ask }: Fixture, name: string) {
  const { body } = yield* ask("POST", "/monitors/heartbeat", {
    name,
    period_seconds: 30,
    grace_seconds: 30
  })
  const pingPath = new URL(String(body.ping_url)).pathname
  return { id: String(body.id), name, pingPath } satisfies Heartbeat
})

/**
 * Asserts that exactly one message reports that the monitor is down, that exactly one reports its
 * recovery, and that both are about the same incident.
 */
export const assertNotifiedOnce = Effect.fnUntraced(function* (
  { ask, mailsOf, node, eventsOf }: Fixture,
  { id, name, pingPath }: Heartbeat
) {
  const hasEvents = (count: number) => async () => {
    const types = eventsOf(id)
    if (types.length !== count) throw new Error(`there are ${types.length} events: ${types.join()}`)
    return true
  }
  yield* eventually(`${name}: down`, hasEvents(1), maxWaitMs)
  yield* eventually(`${name}: a mail`, async () => mailsOf(name) === 1, maxWaitMs)
  const { status } = yield* Effect.promise(() => fetch(node().url + pingPath))
  assert.strictEqual(status, 200, name)
  yield* eventually(`${name}: up`, hasEvents(2), maxWaitMs)
  yield* eventually(`${name}: another mail`, async () => mailsOf(name) === 2, maxWaitMs)
  assert.deepStrictEqual(eventsOf(id), ["incident.opened", "incident.closed"], name)
  const { body } = yield* ask("GET", `/incidents?subject_id=${id}`)
  assert.lengthOf(body.data, 1, name)
  assert.isNotNull(body.data[0].closed_at, name)
  // A delivery can be recorded shortly after its message is sent.
  const deliveries = yield* eventually(
    `${name}: four deliveries`,
    async () => {
      const { body: incident } = await Effect.runPromise(
        ask("GET", `/incidents/${body.data[0].id}`)
      )
      const statuses = incident.deliveries.map(({ status }: { readonly status: string }) => status)
      return !statuses.includes("sending") && !statuses.includes("queued") && statuses
    },
    maxWaitMs
  )
  assert.deepStrictEqual(deliveries, Array(4).fill("delivered"), name)
})
