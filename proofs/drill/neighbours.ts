import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { createInterface } from "node:readline"
import { eventually, temporaryFolder } from "../../packages/server/test/support/ServerProcess.ts"
import { type AttackName, attacks } from "./neighbours/attacks.ts"
import { Neighbour, type NeighbourObservations } from "./neighbours/Neighbour.ts"
import { startNode } from "./fixture/Fixture.ts"
import { embeddedStore, startPostgres, postgresStore } from "./fixture/Store.ts"
import { tableOf } from "./table.ts"

/**
 * The limits that the service promises a tenant, whatever two other tenants do within their limits.
 */
const promised = { p99Ms: 250, nodeMemoryMb: 1_024 }

/** The default number of requests per minute per account. The modest tenant makes 450. */
const shippedRateLimit = 600

/** Node's default heap size in a container of 1 GB. */
const heapMb = 512

/**
 * Runs a modest tenant alongside two hostile tenants, first with one attack at a time, then with
 * all attacks at the same time. Prints how each attack affects the modest tenant.
 */
export const neighboursDrill = Effect.fnUntraced(function* (options: {
  readonly minutes: number
  readonly isEmbedded: boolean
  readonly addresses: number
  /** True if the default rate limit is turned off. */
  readonly isUnlimited: boolean
  readonly only: ReadonlyArray<string>
}) {
  const store = options.isEmbedded
    ? embeddedStore(yield* temporaryFolder("neighbours"))
    : postgresStore((yield* startPostgres).url)
  const node = yield* startNode(store, {
    NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
    RATE_LIMIT: options.isUnlimited ? "0" : String(shippedRateLimit)
  })
  const everyMs = options.isUnlimited ? 100 : 400
  const neighbour = yield* Effect.promise(() => Neighbour.join(node.url))

  const names = Object.keys(attacks) as ReadonlyArray<AttackName>
  const isWanted = (name: string) => options.only.length === 0 || options.only.includes(name)
  const rounds: ReadonlyArray<Round> = [
    { name: "nobody", tenants: [], share: 1 },
    ...names.map((name) => ({ name, tenants: [[name]], share: 1 })),
    {
      name: "all at once",
      tenants: [names.filter((_, n) => n % 2 === 0), names.filter((_, n) => n % 2 === 1)],
      share: names.length / 2
    }
  ].filter(({ name }) => isWanted(name))
  const shares = rounds.reduce((sum, { share }) => sum + share, 0)

  const broken: Array<string> = []
  yield* print(header)
  for (const { name, share, tenants } of rounds) {
    const lastsMs = (options.minutes * 60_000 * share) / shares
    const result = yield* Effect.scoped(
      Effect.gen(function* () {
        const hostile = yield* Effect.forEach(
          tenants,
          (attack) => startAttacker(node.url, options.addresses, attack),
          { concurrency: "unbounded" }
        )
        for (const { begin } of hostile) begin()
        const seen = yield* Effect.promise(() => neighbour.live(lastsMs, everyMs))
        return { seen, nodeMemoryMb: peakMb(node.pid) }
      })
    )
    yield* print(rowOf(name, result))
    broken.push(...brokenOf(name, result))
    if (!fs.existsSync(`/proc/${node.pid}`)) {
      broken.push(`${name}: the node exited: ${node.stderr().slice(-300)}`)
      break
    }
  }
  return { broken }
})

interface Round {
  readonly name: string
  readonly tenants: ReadonlyArray<ReadonlyArray<AttackName>>
  /** The fraction of the total duration that this round takes. */
  readonly share: number
}

interface Result {
  readonly seen: NeighbourObservations
  readonly nodeMemoryMb: number
}

const print = (line: string) => Effect.sync(() => console.log(line))

/**
 * Starts an attacker, which sets itself up and waits. When the scope closes, its accounts are
 * deleted.
 */
const startAttacker = Effect.fnUntraced(function* (
  url: string,
  addresses: number,
  names: ReadonlyArray<AttackName>
) {
  const script = new URL("./neighbours/attacker.ts", import.meta.url).pathname
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [script, url, String(addresses), ...names], {
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (child) =>
      Effect.promise(async () => {
        const timer = setTimeout(() => child.kill("SIGKILL"), 90_000)
        child.kill("SIGTERM")
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
        clearTimeout(timer)
      })
  )
  let isReady = false
  createInterface(child.stdout).on("line", (line) => {
    if (line === "ready") isReady = true
  })
  yield* eventually("a hostile tenant that is ready", async () => {
    if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}`)
    return isReady
  })
  return { begin: () => child.stdin.write("begin\n") }
})

/** Returns the process's peak memory since the previous call. */
const peakMb = (pid: number): number => {
  const status = `/proc/${pid}/status`
  if (!fs.existsSync(status)) return Number.NaN
  const peak = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(status, "utf8"))?.[1]) / 1024
  // Writing 5 resets the peak value to the current value.
  fs.writeFileSync(`/proc/${pid}/clear_refs`, "5")
  return peak
}

const quantile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const { header, row } = tableOf([
  ["beside", 16],
  ["late p50", 8],
  ["p99", 7],
  ["worst", 7],
  ["response p50", 10],
  ["p99", 7],
  ["worst", 7],
  ["calls", 6],
  ["errors", 6],
  ["peak MB", 7]
])

const rowOf = (name: string, { nodeMemoryMb, seen }: Result): string =>
  row([
    name,
    ...[0.5, 0.99, 1].map((part) => `${quantile(seen.latenessMs, part).toFixed(0)} ms`),
    ...[0.5, 0.99, 1].map((part) => `${quantile(seen.answerMs, part).toFixed(0)} ms`),
    String(seen.latenessMs.length),
    String(seen.errors.length),
    nodeMemoryMb.toFixed(0)
  ])

const brokenOf = (name: string, { nodeMemoryMb, seen }: Result): ReadonlyArray<string> => {
  const late = quantile(seen.latenessMs, 0.99)
  const slow = quantile(seen.answerMs, 0.99)
  const [error] = seen.errors
  return [
    ...(late <= promised.p99Ms ? [] : [`${name}: p99 of lateness is ${late.toFixed(0)} ms`]),
    ...(slow <= promised.p99Ms ? [] : [`${name}: p99 of responses is ${slow.toFixed(0)} ms`]),
    ...(error === undefined ? [] : [`${name}: ${seen.errors.length} errors, such as ${error}`]),
    ...(nodeMemoryMb <= promised.nodeMemoryMb
      ? []
      : [`${name}: the node used ${nodeMemoryMb.toFixed(0)} MB`])
  ]
}
