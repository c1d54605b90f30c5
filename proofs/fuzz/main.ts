/**
 * Starts a server and attacks it with requests generated from the contract: `npm run fuzz -- --seed
 * 1 --requests 100000`. Uses the embedded store, or a database that it creates and drops on the
 * server named by `TEST_DATABASE_URL` or `DATABASE_URL`.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import {
  type ServerProcess,
  startServer,
  temporaryFolder
} from "../../packages/server/test/support/ServerProcess.ts"
import { freshDatabaseUrl } from "../../packages/server/test/support/TestDatabase.ts"
import { attack, type AttackOptions, type AttackResult } from "./Attack.ts"
import {
  responseTable,
  describeFailure,
  growthOf,
  isAnyIn,
  neverSucceeded,
  statusTable
} from "./Report.ts"
import { sinkAddress, startSink } from "./Sink.ts"
import { type Vitals, vitalsOf } from "./Vitals.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    requests: { type: "string", default: "100000" },
    concurrency: { type: "string", default: "32" }
  }
})
const seed = Number(values.seed)
const requests = Number(values.requests)

/** True if the run is long enough to try every endpoint and for memory usage to stabilize. */
const isLong = requests >= 50_000

const samplesOfRun = 500

/**
 * The server's heap limit. Without a limit, V8 leaves garbage uncollected: the process used 700 MB
 * when 60 MB were needed. With a limit, a leak crashes the process. With 192 MB, the process spent
 * two thirds of its time on garbage collection.
 */
const heapMb = 512

const storeVariables = Effect.gen(function* () {
  const url = process.env["TEST_DATABASE_URL"] ?? process.env["DATABASE_URL"]
  if (url === undefined) return { DATA_DIR: yield* temporaryFolder("fuzz") }
  return {
    DATABASE_URL: yield* freshDatabaseUrl(url),
    APP_SECRET: "a secret for tests, thirty-two bytes and more"
  }
})

/** Runs the attack and samples the server's memory and handles. */
const observed = async (server: ServerProcess, options: AttackOptions) => {
  const samples: Array<Vitals> = []
  const step = Math.ceil(requests / samplesOfRun)
  const start = performance.now()
  const outcome = await attack({
    ...options,
    onRequest: (number) => {
      const vitals = number % step === 0 ? vitalsOf(server.pid) : undefined
      if (vitals !== undefined) samples.push(vitals)
    }
  })
  return { outcome, samples, seconds: (performance.now() - start) / 1000 }
}

const complaintsOf = (
  server: ServerProcess,
  { secrets }: AttackResult,
  exitCode: number | null
): ReadonlyArray<string> => {
  const logs = server.stdout() + server.stderr()
  const bad = logs.split("\n").filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
  return [
    ...(exitCode === 0 ? [] : [`asked to stop, the server exited with ${exitCode}`]),
    ...(server.stderr() === "" ? [] : [`on its standard error: ${server.stderr()}`]),
    ...(isAnyIn(secrets, logs) ? ["a secret in its logs"] : []),
    ...bad.slice(0, 5).map((line) => `in its logs (${bad.length} of the kind): ${line}`)
  ]
}

const program = Effect.gen(function* () {
  const print = (text: string) => Effect.sync(() => console.log(text))
  yield* print(`seed ${seed}, ${requests} requests`)
  const sink = yield* startSink
  const variables: Readonly<Record<string, string>> = yield* storeVariables
  const server = yield* startServer({
    ...variables,
    NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
    EGRESS_ALLOW: `${sinkAddress}/32`,
    TRUST_PROXY: "127.0.0.1/32",
    LOG_FORMAT: "json",
    LOG_LEVEL: "trace"
  })
  const concurrency = Number(values.concurrency)
  const options = { url: server.url, sink, seed, requests, concurrency, now: Date.now() }
  const { outcome, samples, seconds } = yield* Effect.promise(() => observed(server, options))
  server.kill("SIGTERM")
  const complaints = [...complaintsOf(server, outcome, yield* server.exited)]

  yield* print(responseTable(outcome))
  for (const failure of outcome.failures) {
    yield* print(`\n${describeFailure(server.url, seed, failure)}`)
  }
  yield* print(`\n${statusTable(outcome)}`)
  if (samples.length > 0) {
    const growth = growthOf(samples, requests)
    yield* print(growth.line)
    if (isLong && !growth.isFlat) complaints.push("it keeps growing")
  }
  if (isLong) complaints.push(...neverSucceeded(outcome).map((name) => `${name} never succeeded`))
  for (const complaint of complaints) yield* print(complaint)
  yield* print(
    `seed ${seed}: ${requests} requests in ${seconds.toFixed(1)} s, ` +
      `${Math.round(requests / seconds)} per second, ${outcome.failures.length} failures`
  )
  return outcome.failures.length === 0 && complaints.length === 0
})

process.exitCode = (await Effect.runPromise(Effect.scoped(program))) ? 0 : 1
