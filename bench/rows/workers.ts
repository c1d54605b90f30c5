import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { ScheduledCalls } from "../engines/engine.ts"
import { startMeasuredEngine, smallCall, type StartEngine } from "../engines/startMeasuredEngine.ts"
import { startServiceEngine, startWorkersEngine } from "../engines/service.ts"
import { newWorkers } from "../support/agents.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { measureIdle, resourceUseOf } from "../support/idle.ts"
import { startService } from "../support/processes.ts"
import { cpuTimeOf } from "../support/cpuTime.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, percentile, ratios, formatSpread } from "../support/statistics.ts"
import { startContender } from "./drain.ts"

const agents = 2
const slots = 100
const rounds = 5
const runs = Number(process.env["BENCH_RUNS"] ?? 10_000)

/**
 * Compares runs whose calls are made by agents with runs whose calls are made by the service
 * itself.
 */
export const measureWorkerDrain = async (): Promise<Report> => {
  const work = { runs, call: smallCall }
  await using service = await startContender(startServiceEngine, work)
  await using workers = await startContender(startWorkersEngine(agents, slots), work)
  const contenders = { service: service.drain, workers: workers.drain }
  await alternate(1, contenders)
  const drained = await alternate(rounds, contenders)
  for (const contender of [service, workers]) await contender.verify()
  const perSecond = (name: keyof typeof drained) => drained[name].map((round) => round.perSecond)
  const figures = (name: keyof typeof drained) => [
    formatSpread(perSecond(name)),
    formatSpread(drained[name].map(({ micros }) => micros)),
    formatSpread(drained[name].map(({ walBytes }) => walBytes))
  ]
  const ratioToService = `${formatSpread(ratios(perSecond("workers"), perSecond("service")))} ×`
  return {
    title: "Runs for workers",
    work: `${formatNumber(runs)} due runs, each a POST to a local receiver, and a history row; made by ${agents} agents with ${slots} slots, compared with as many made by the service itself; ${rounds} rounds in turn. CPU time is that of the service and PostgreSQL, without the agents. Each run was called exactly once and is in the history.`,
    columns: ["", "runs/s", "CPU µs per run, with PostgreSQL", "WAL bytes per run"],
    rows: [
      ["by agents", ...figures("workers")],
      ["by the service", ...figures("service")]
    ],
    goal: "≥ 0.5 ×",
    result: ratioToService
  }
}

const idleAgents = Number(process.env["BENCH_AGENTS"] ?? 1_000)

export const measureIdleWorkers = async (): Promise<Report> => {
  await using database = await makeDatabase()
  await using service = await startService({ DATABASE_URL: database.url, LOG_LEVEL: "warn" })
  const { tokens } = await newWorkers(service.url, idleAgents)
  await using watch = await watchDatabase(database.url)
  const used = resourceUseOf(service.pid, watch)
  const [alone] = await measureIdle([{ used }])
  const script = fileURLToPath(new URL("../support/idlePolls.ts", import.meta.url))
  const polls = fork(script, [service.url, tokens.join(",")])
  try {
    await Promise.race([
      once(polls, "message"),
      once(polls, "exit").then(([code]) =>
        Promise.reject(new Error(`the polling process exited with ${code}`))
      )
    ])
    const [waiting] = await measureIdle([{ used }])
    if (alone === undefined || waiting === undefined) throw new Error("nothing was measured")
    if (cpuTimeOf(polls.pid ?? 0) === 0) throw new Error("the polling process has exited")
    const share = median(waiting.service) / 10
    return {
      title: "Idle agents",
      work: `${formatNumber(idleAgents)} agents of one workspace wait for runs with long polls of ten seconds, for 30 s; milliseconds of CPU time per second.`,
      columns: ["", "service", "PostgreSQL", "transactions per second"],
      rows: [
        [
          "with them",
          ...[waiting.service, waiting.postgres, waiting.transactions].map(formatSpread)
        ],
        ["without", ...[alone.service, alone.postgres, alone.transactions].map(formatSpread)]
      ],
      goal: "< 5 % of one core on the service",
      result: `${formatNumber(share)} % of one core`
    }
  } finally {
    if (polls.exitCode === null) {
      polls.kill("SIGKILL")
      await once(polls, "exit")
    }
  }
}

const paced: ScheduledCalls = { count: 2_000, startsInMs: 4_000, spreadMs: 40_000 }
const warmUp: ScheduledCalls = { count: 200, startsInMs: 2_000, spreadMs: 2_000 }

const measureWait = async (start: StartEngine) => {
  await using database = await makeDatabase()
  await using observed = await startMeasuredEngine(start, { database: database.url })
  const runCalls = (work: ScheduledCalls) =>
    observed.run(work.count, () => observed.engine.schedule(work))
  await runCalls(warmUp)
  const { arrived } = await observed.latenessOf(await runCalls(paced))
  await observed.verify()
  return [0.5, 0.95, 0.99, 1].map((share) => percentile(arrived, share))
}

export const measureWorkerLateness = async (): Promise<Report> => {
  const workers = await measureWait(startWorkersEngine(agents, slots))
  const service = await measureWait(startServiceEngine)
  return {
    title: "Lateness of agents",
    work: `Milliseconds from the time that a call was due until its first byte reached a local receiver: ${formatNumber(paced.count)} firings of cron tasks, 50 per second, made by ${agents} agents, compared with the service itself. Each was called exactly once.`,
    columns: ["", "p50 ms", "p95 ms", "p99 ms", "latest ms"],
    rows: [
      ["by agents", ...workers.map(formatNumber)],
      ["by the service", ...service.map(formatNumber)]
    ],
    goal: "p95 ≤ 100 ms",
    result: `p50 ${formatNumber(workers[0] ?? Number.NaN)} ms, p95 ${formatNumber(workers[1] ?? Number.NaN)} ms`
  }
}
