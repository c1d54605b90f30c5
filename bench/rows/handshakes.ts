import { setTimeout } from "node:timers/promises"
import type { Work } from "../engines/engine.ts"
import { observe, smallCall } from "../engines/observe.ts"
import { startServiceEngine } from "../engines/service.ts"
import { makeDatabase } from "../support/database.ts"
import { freePort } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { figure } from "../support/statistics.ts"

const seconds = 20
const perSecond = 300

/** Scheduled well ahead, as schedules are. */
const startsInMs = 4_000

const workOf = (spreadSeconds: number): Work => ({
  count: perSecond * spreadSeconds,
  startsInMs,
  spreadMs: spreadSeconds * 1_000
})

/** The service's own measure of its event loop since the last time it was asked, in milliseconds. */
const loopDelay = async (metricsPort: number) => {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const read = (name: string) =>
    1_000 * Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1])
  return {
    p99: read("scheduling_event_loop_delay_seconds"),
    max: read("scheduling_event_loop_delay_max_seconds")
  }
}

const measure = async (threads: number, overTls: boolean) => {
  const metricsPort = await freePort()
  await using database = await makeDatabase()
  await using observed = await observe(startServiceEngine, {
    database: database.url,
    call: { ...smallCall, overTls, keepsConnections: false },
    env: { METRICS_PORT: String(metricsPort), CALL_THREADS: String(threads) }
  })
  const meet = (work: Work) => observed.run(work.count, () => observed.engine.schedule(work))
  await meet(workOf(2))
  await setTimeout(1_000)
  await loopDelay(metricsPort)
  const { micros } = await meet(workOf(seconds))
  const delay = await loopDelay(metricsPort)
  await observed.verify()
  return { ...delay, micros }
}

type Measured = Awaited<ReturnType<typeof measure>>

const rowOf = (name: string, { max, micros, p99 }: Measured) => [
  name,
  figure(p99),
  figure(max),
  figure(micros)
]

export const handshakes = async (): Promise<Report> => {
  const plain = await measure(0, false)
  const here = await measure(0, true)
  const thread = await measure(1, true)
  return {
    title: "New HTTPS targets",
    work: `${perSecond} calls a second for ${seconds} s, each on a new connection with a whole handshake, as to a target that was never called before. The event loop's delay is the service's own measure, which looks every 20 ms.`,
    columns: ["", "event loop p99 ms", "longest ms", "processor µs a run, with PostgreSQL's"],
    rows: [
      rowOf("over HTTP", plain),
      rowOf("over HTTPS, on the main thread", here),
      rowOf("over HTTPS, in a thread", thread)
    ],
    goal: "at most 1 ms more at p99 than over HTTP",
    result: `${figure(thread.p99 - plain.p99)} ms more`
  }
}
