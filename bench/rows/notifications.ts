import { createServer } from "node:http"
import { setTimeout } from "node:timers/promises"
import { makeDatabase, query } from "../support/database.ts"
import { insertHeartbeats } from "../support/heartbeats.ts"
import { listen } from "../support/listen.ts"
import { get, newWorkspaces, post, put } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, percentile } from "../support/statistics.ts"

const idleCount = 90
const idleEveryMs = 150
const storm = { count: 10_000, firstInMs: 5_000, spreadMs: 1_000 }
const stormWorkspaces = 10
const patienceMs = 60_000

interface Message {
  readonly workspace_id: string
  readonly created_at: string
  readonly data: { readonly events_count?: number }
}

const countOf = ({ data }: Message) => data.events_count ?? 1

interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly received: Array<Message & { readonly receivedAt: number }>
  /** Waits until the received messages cover this many events. */
  readonly receivedEvents: (events: number) => Promise<void>
}

const startReceiver = async (): Promise<Receiver> => {
  const received: Array<Message & { readonly receivedAt: number }> = []
  const server = createServer(async (incoming, response) => {
    const receivedAt = Date.now()
    const message = JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as Message
    received.push({ ...message, receivedAt })
    response.end("ok")
  })
  const url = `http://127.0.0.1:${await listen(server)}/`
  const eventsReceived = () => received.reduce((sum, message) => sum + countOf(message), 0)
  return {
    url,
    received,
    receivedEvents: async (events) => {
      const endsAt = performance.now() + patienceMs
      while (eventsReceived() < events) {
        if (performance.now() > endsAt)
          throw new Error(`received ${eventsReceived()} of ${events} events`)
        await setTimeout(10)
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Creates workspaces with default settings. Each of them notifies a webhook. */
const populate = async (service: string, count: number, receiver: string) => {
  const workspaces = await newWorkspaces(service, count)
  for (const { accessToken, id } of workspaces) {
    const at = `/v1/workspaces/${id}/notifications`
    const channel = { name: "Bench", kind: "webhook", config: { url: receiver } }
    const { id: channelId } = await post<{ id: string }>(
      service,
      `${at}/channels`,
      channel,
      accessToken
    )
    const { version } = (await get(service, { path: `${at}/settings`, token: accessToken })) as {
      readonly version: number
    }
    const rules = [{ events: ["incident.opened", "incident.closed"], channel_ids: [channelId] }]
    await put(service, `${at}/settings`, { version, rules }, accessToken)
  }
  return workspaces
}

const measureIdle = async (service: string, receiver: Receiver) => {
  const workspaces = await populate(service, idleCount, receiver.url)
  const failPaths: Array<string> = []
  for (const { accessToken, id } of workspaces) {
    const monitor = { name: "Nightly", period_seconds: 86_400 }
    const at = `/v1/workspaces/${id}/monitors/heartbeat`
    const { ping_url } = await post<{ ping_url: string }>(service, at, monitor, accessToken)
    failPaths.push(`${new URL(ping_url).pathname}/fail`)
  }
  for (const path of failPaths) {
    await fetch(service + path, { method: "POST" })
    await setTimeout(idleEveryMs * (0.5 + Math.random()))
  }
  await receiver.receivedEvents(idleCount)
  return receiver.received.map(({ created_at, receivedAt }) => receivedAt - Date.parse(created_at))
}

/**
 * Measures a burst of events. Each message names at most ten events and includes the total number.
 */
const measureStorm = async (service: string, database: string, receiver: Receiver) => {
  const workspaces = await populate(service, stormWorkspaces, receiver.url)
  const ids = workspaces.map(({ id }) => id)
  await insertHeartbeats(database, ids, storm)
  await receiver.receivedEvents(storm.count)
  const late: Array<number> = []
  for (const id of ids) {
    const began = await query<{ readonly ms: number }>(
      database,
      `SELECT (extract(epoch FROM opened_at) * 1000)::float8 AS ms
       FROM incidents
       WHERE workspace_id = $1
       ORDER BY opened_at`,
      [id]
    )
    let received = 0
    for (const message of receiver.received.filter(({ workspace_id }) => workspace_id === id)) {
      const own = began.slice(received, received + countOf(message))
      late.push(...own.map(({ ms }) => message.receivedAt - ms))
      received += countOf(message)
    }
  }
  if (late.length !== storm.count) {
    throw new Error(`received ${late.length} of ${storm.count} events`)
  }
  return late
}

const measure = async (
  how: (service: string, database: string, receiver: Receiver) => Promise<ReadonlyArray<number>>
) => {
  await using database = await makeDatabase()
  await using service = await startService({ DATABASE_URL: database.url, LOG_LEVEL: "warn" })
  await using receiver = await startReceiver()
  const late = await how(service.url, database.url, receiver)
  return { late, messages: receiver.received.length }
}

const rowOf = (name: string, { late, messages }: Awaited<ReturnType<typeof measure>>) => [
  name,
  formatNumber(messages),
  ...[0.5, 0.95, 0.99, 1].map((share) => formatNumber(percentile(late, share)))
]

export const measureNotifications = async (): Promise<Report> => {
  const idle = await measure((service, _, receiver) => measureIdle(service, receiver))
  const stormy = await measure(measureStorm)
  const p95 = ({ late }: typeof idle) => formatNumber(percentile(late, 0.95))
  return {
    title: "Notifications",
    work: `Milliseconds from the moment that a monitor goes down until its message reaches a local webhook. Idle: ${idleCount} pings with \`fail\`, one every ${idleEveryMs} ms, each in a different workspace. Storm: ${formatNumber(storm.count)} heartbeats of ${stormWorkspaces} workspaces whose deadlines pass within ${storm.spreadMs / 1_000} s; 250 ms are a deliberate delay, for pings that are still being written. With default settings: events after a first message are grouped for 1 s, then for 2, 4 and so on up to 10 s.`,
    columns: ["", "messages", "p50 ms", "p95 ms", "p99 ms", "last ms"],
    rows: [
      rowOf(`idle, ${idleCount} transitions`, idle),
      rowOf(`storm, ${formatNumber(storm.count)} transitions`, stormy)
    ],
    goal: "p95 ≤ 250 ms when idle, ≤ 5 s in a storm",
    result: `p95 ${p95(idle)} ms when idle, ${p95(stormy)} ms in a storm`
  }
}
