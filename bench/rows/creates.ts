import { alternate } from "../support/alternate.ts"
import { makeDatabase, query } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { resourceUseOf } from "../support/idle.ts"
import { generateLoad, type GetOrPost } from "../support/load.ts"
import { newWorkspaces } from "../support/population.ts"
import { scriptOfPeer, type Server, startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const workspaceCount = 64
const connections = 64
const seconds = 4
const rounds = 5

const kinds = {
  cron: { name: "Report", schedule: "0 0 1 1 *" },
  delayed: { name: "Reminder", delay_seconds: 1_000_000 }
}

type Kind = keyof typeof kinds

/**
 * Starts a service with its own database. `creates` measures how fast the service creates tasks.
 */
const begin = async (
  running: AsyncDisposableStack,
  startServer: (env: Readonly<Record<string, string>>) => Promise<Server>
) => {
  const database = running.use(await makeDatabase())
  const server = running.use(await startServer({ DATABASE_URL: database.url, LOG_LEVEL: "warn" }))
  const used = resourceUseOf(server.pid, running.use(await watchDatabase(database.url)))
  const workspaces = await newWorkspaces(server.url, workspaceCount)
  const requestsOf = (kind: Kind): ReadonlyArray<GetOrPost> =>
    workspaces.map(({ accessToken, id }) => ({
      path: `/v1/workspaces/${id}/${kind}`,
      token: accessToken,
      body: JSON.stringify({ ...kinds[kind], url: "https://example.com/" })
    }))
  return {
    measure: (kind: Kind) => async () => {
      await used()
      const { perSecond } = await generateLoad({
        url: server.url,
        requests: requestsOf(kind),
        connections,
        seconds
      })
      const { postgresMs, serviceMs } = await used()
      const created = perSecond * seconds
      return {
        perSecond,
        serviceMicros: (serviceMs * 1_000) / created,
        postgresMicros: (postgresMs * 1_000) / created
      }
    },
    countEvents: async () => {
      const [row] = await query<{ readonly events: number }>(
        database.url,
        `SELECT count(*)::int AS events
         FROM audit_events
         WHERE action IN ('cron_task.created', 'delayed_task.created')`
      )
      return row?.events ?? 0
    }
  }
}

export const measureCreates = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const service = await begin(running, startService)
  const without = await begin(running, (env) =>
    startService(env, scriptOfPeer("serviceWithoutAudit"))
  )
  const rows: Array<ReadonlyArray<string>> = []
  const results: Array<string> = []
  for (const kind of ["cron", "delayed"] as const) {
    const contenders = { service: service.measure(kind), without: without.measure(kind) }
    await alternate(1, contenders)
    const measured = await alternate(rounds, contenders)
    const perSecond = (of: "service" | "without") => measured[of].map((round) => round.perSecond)
    const micros = (of: "service" | "without") =>
      measured[of].map(({ postgresMicros, serviceMicros }) => postgresMicros + serviceMicros)
    for (const [name, of] of [
      ["with their audit events", "service"],
      ["without", "without"]
    ] as const) {
      rows.push([
        `${kind} tasks, ${name}`,
        formatSpread(perSecond(of)),
        `${formatNumber(median(measured[of].map(({ serviceMicros }) => serviceMicros)))} + ${formatNumber(median(measured[of].map(({ postgresMicros }) => postgresMicros)))}`
      ])
    }
    results.push(
      `${kind} ${formatSpread(ratios(perSecond("service"), perSecond("without")))} × per second, ${formatSpread(ratios(micros("service"), micros("without")))} × CPU time`
    )
  }
  if ((await service.countEvents()) === 0 || (await without.countEvents()) > 0) {
    throw new Error("only the service itself must have audit events of its tasks")
  }
  return {
    title: "Creates and the audit log",
    work: `\`POST W/cron\` and \`POST W/delayed\` over ${connections} connections that cycle through ${workspaceCount} workspaces; ${rounds} rounds of ${seconds} s in turn. Beside the service runs the same service, which writes no audit events of the tasks.`,
    columns: ["", "creates/s", "CPU µs per create, service + PostgreSQL"],
    rows,
    goal: "≥ 0.85 × creates per second",
    result: results.join("; ")
  }
}
