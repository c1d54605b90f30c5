import { setTimeout } from "node:timers/promises"
import { smallBody } from "../engines/engine.ts"
import { startServiceEngine } from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeCertificate } from "../support/certificate.ts"
import { makeDatabase, query } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { startSink } from "../support/sink.ts"
import { formatNumber, percentile, formatSpread } from "../support/statistics.ts"

const rounds = 3
const seconds = 10
const perSecond = { targets: 300, others: 100 }

/** Calls are scheduled a few seconds ahead, like real schedules. */
const startsInMs = 4_000

/** Starts a service that calls new HTTPS targets while repeatedly calling one plain HTTP target. */
const startWithNewTargets = async (threads: number) => {
  await using starting = new AsyncDisposableStack()
  const database = starting.use(await makeDatabase())
  const certificate = starting.use(makeCertificate())
  const answer = "ok"
  const targets = starting.use(await startSink({ answer, keepsConnections: false, certificate }))
  const others = starting.use(await startSink({ answer, keepsConnections: true }))
  const engine = starting.use(
    await startServiceEngine({
      database: database.url,
      body: smallBody,
      sinkUrl: targets.url,
      env: { CALL_THREADS: String(threads), NODE_EXTRA_CA_CERTS: certificate.file }
    })
  )
  const stack = starting.move()
  const made = { targets: 0, others: 0 }
  const schedule = (count: number) =>
    engine.schedule({ count, startsInMs, spreadMs: seconds * 1_000 })
  const runCalls = async () => {
    const before = { ...made }
    made.others += perSecond.others * seconds
    made.targets += perSecond.targets * seconds
    await schedule(perSecond.others * seconds)
    await query(database.url, "UPDATE tasks SET url = $1 WHERE url <> $1", [others.url])
    await schedule(perSecond.targets * seconds)
    const arrivals = {
      targets: await targets.arrivals(made.targets),
      others: await others.arrivals(made.others)
    }
    while (!(await engine.isDone(made.targets + made.others))) await setTimeout(10)
    const due = new Map((await engine.history()).map(({ dueMs, id }) => [id, dueMs]))
    const latenessOf = (name: keyof typeof made) => {
      const { ids, times } = arrivals[name]
      return ids
        .map((id, n) => (times[n] ?? Number.NaN) - (due.get(id) ?? Number.NaN))
        .slice(before[name])
    }
    return { targets: latenessOf("targets"), others: latenessOf("others") }
  }
  return { runCalls, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

export const measureHandshakes = async (): Promise<Report> => {
  await using here = await startWithNewTargets(0)
  await using one = await startWithNewTargets(1)
  await using two = await startWithNewTargets(2)
  const contenders = { here: here.runCalls, one: one.runCalls, two: two.runCalls }
  await alternate(1, contenders)
  const measured = await alternate(rounds, contenders)
  const late = (name: keyof typeof measured, of: "targets" | "others", share: number) =>
    measured[name].map((round) => percentile(round[of], share))
  const rowOf = (title: string, name: keyof typeof measured) => [
    title,
    ...[0.5, 0.99].map((share) => formatSpread(late(name, "others", share))),
    ...[0.5, 0.99].map((share) => formatSpread(late(name, "targets", share)))
  ]
  const gain =
    percentile(late("here", "others", 0.99), 0.5) / percentile(late("one", "others", 0.99), 0.5)
  return {
    title: "New HTTPS targets",
    work: `${perSecond.targets} calls per second for ${seconds} s, each on a new connection with a full handshake, as to a target that was never called before, and at the same time ${perSecond.others} calls per second to another target over open HTTP connections. Milliseconds from the time that a call was due until it reached its receiver, ${rounds} rounds in turn.`,
    columns: ["", "others p50 ms", "others p99 ms", "HTTPS p50 ms", "HTTPS p99 ms"],
    rows: [
      rowOf("on the main thread", "here"),
      rowOf("in one thread", "one"),
      rowOf("in two threads", "two")
    ],
    goal: "others at least 1.2 × less late at p99 with a thread",
    result: `${formatNumber(gain)} × less late`
  }
}
