import { alternate } from "../support/alternate.ts"
import { makeDatabase, query } from "../support/database.ts"
import { type DatabaseWatch, watchDatabase } from "../support/databaseUse.ts"
import { resourceUseOf } from "../support/idle.ts"
import { loadGenerator, generateLoad } from "../support/load.ts"
import { newWorkspaces, post } from "../support/population.ts"
import { startPeer, startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const workspaceCount = 10
const monitorsOfEach = 1_000
const connections = 64
const seconds = 5
const rounds = 5

/** Creates monitors. Returns the paths for pinging them. */
const populate = async (url: string): Promise<ReadonlyArray<string>> => {
  const paths: Array<string> = []
  for (const { accessToken, id } of await newWorkspaces(url, workspaceCount)) {
    let left = monitorsOfEach
    const create = async () => {
      while (left-- > 0) {
        const monitor = { name: "Nightly", period_seconds: 86_400, grace_seconds: 3_600 }
        const at = `/v1/workspaces/${id}/monitors/heartbeat`
        const { ping_url } = await post<{ ping_url: string }>(url, at, monitor, accessToken)
        paths.push(new URL(ping_url).pathname)
      }
    }
    await Promise.all(Array.from({ length: 16 }, create))
  }
  return paths
}

const verify = async (database: string, monitors: number) => {
  const [row] = await query<{ readonly unpinged: number }>(
    database,
    `SELECT
       (SELECT count(*) FROM heartbeats WHERE last_ping_at IS NULL)::int
         + (SELECT count(*) FROM peer_heartbeats WHERE last_ping_at IS NULL)::int AS unpinged`
  )
  if (row?.unpinged !== 0) {
    throw new Error(`${row?.unpinged} of ${2 * monitors} monitors have no ping`)
  }
}

type Request = { readonly path: string }

/** Measures pings, and the CPU time used by the server, PostgreSQL and the sender. */
const measureOf =
  (watch: DatabaseWatch, requests: ReadonlyArray<Request>) =>
  ({ pid, url }: { readonly pid: number; readonly url: string }) => {
    const used = resourceUseOf(pid, watch)
    return async () => {
      await used()
      const sentBefore = process.cpuUsage()
      const measured = await generateLoad({ url, requests, connections, seconds })
      const { system, user } = process.cpuUsage(sentBefore)
      const { postgresMs, serviceMs } = await used()
      const pings = measured.perSecond * seconds
      return {
        ...measured,
        serverMicros: (serviceMs * 1_000) / pings,
        postgresMicros: (postgresMs * 1_000) / pings,
        sentMicros: (system + user) / pings
      }
    }
  }

export const measurePings = async (): Promise<Report> => {
  await using database = await makeDatabase()
  const env = { DATABASE_URL: database.url, LOG_LEVEL: "warn" }
  await using ours = await startService(env)
  await using theirs = await startPeer("fastifyPings", env)
  const paths = await populate(ours.url)
  await post(
    theirs.url,
    "/monitors",
    paths.map((path) => path.split("/").at(-1))
  )
  const requests = paths.map((path) => ({ path }))
  await using watch = await watchDatabase(database.url)
  const measure = measureOf(watch, requests)
  const contenders = { service: measure(ours), peer: measure(theirs) }
  await alternate(1, contenders)
  const measured = await alternate(rounds, contenders)
  await verify(database.url, paths.length)

  const throughput = {
    service: measured.service.map(({ perSecond }) => perSecond),
    peer: measured.peer.map(({ perSecond }) => perSecond)
  }
  const row = (name: string, of: "service" | "peer") => [
    name,
    formatSpread(throughput[of]),
    formatNumber(median(measured[of].map(({ p50 }) => p50))),
    formatNumber(median(measured[of].map(({ p99 }) => p99))),
    `${formatNumber(median(measured[of].map(({ serverMicros }) => serverMicros)))} + ${formatNumber(median(measured[of].map(({ postgresMicros }) => postgresMicros)))}`
  ]
  const microsOf = (of: "service" | "peer") =>
    measured[of].map(({ postgresMicros, serverMicros }) => serverMicros + postgresMicros)
  // wrk is a separate process and uses little CPU time.
  const sent =
    loadGenerator === "wrk"
      ? ""
      : ` ${loadGenerator} uses ${formatNumber(median([...measured.service, ...measured.peer].map(({ sentMicros }) => sentMicros)))} µs of the same CPUs per ping.`
  return {
    title: "Pings",
    work: `\`GET /ping/…\` of ${formatNumber(paths.length)} heartbeats in turn over ${connections} connections; ${rounds} rounds of ${seconds} s. A ping is acknowledged when it is on disk. The peer makes one UPDATE and one INSERT per ping.${sent}`,
    columns: ["", "pings/s", "p50 ms", "p99 ms", "CPU µs per ping, server + PostgreSQL"],
    rows: [row("this service", "service"), row("Fastify + pg, hand-written", "peer")],
    goal: "≥ 3 ×; healthchecks publishes 250 per second for its Django handler",
    result: `${formatSpread(ratios(throughput.service, throughput.peer))} ×; by CPU time ${formatSpread(ratios(microsOf("peer"), microsOf("service")))} ×`
  }
}
