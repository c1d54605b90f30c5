/**
 * Checks that response times do not reveal what the responses hide. `npm run timing` checks
 * everything, and `npm run timing keys`, `logins`, `codes` or `links` checks one part. Uses the
 * embedded store, or a database that it creates and drops on the server named by
 * `TEST_DATABASE_URL`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { startServer, temporaryFolder } from "../../packages/server/test/support/ServerProcess.ts"
import {
  freshDatabaseUrl,
  testDatabaseUrl
} from "../../packages/server/test/support/TestDatabase.ts"
import { compareCodeTimes } from "./codes.ts"
import { compareKeyTimes } from "./keys.ts"
import { compareLinkTimes } from "./links.ts"
import { compareLoginTimes } from "./logins.ts"
import { type Difference, differenceOf } from "./statistics.ts"
import { makeStopwatch } from "./Stopwatch.ts"

/** The significance level: a difference counts if its p-value is below this. */
const significance = 0.001

const isAsked = (what: "keys" | "logins" | "codes" | "links") =>
  process.argv.length === 2 || process.argv.includes(what)

const storeVariables = Effect.gen(function* () {
  const DATA_DIR = yield* temporaryFolder("timing")
  if (testDatabaseUrl === undefined) return { DATA_DIR }
  return {
    DATA_DIR,
    DATABASE_URL: yield* freshDatabaseUrl(testDatabaseUrl),
    APP_SECRET: "a secret for tests, thirty-two bytes and more"
  }
})

const micros = (millis: number) => `${(millis * 1_000).toFixed(0)} µs`

const rowOf = (names: string, difference: Difference, samples: number) => {
  const { chance, interval, medians, odds, requestsToTell } = difference
  return [
    names.padEnd(46),
    `${samples} each`.padEnd(11),
    `medians ${medians.map(micros).join(" and ")}`.padEnd(34),
    `difference ${interval.map(micros).join(" to ")}`.padEnd(32),
    `slower ${(odds * 100).toFixed(1)} %, p ${chance.toPrecision(2)}`.padEnd(30),
    `told apart by ${requestsToTell.toLocaleString("en")} requests`
  ].join("  ")
}

const program = Effect.gen(function* () {
  const variables = yield* storeVariables
  const server = yield* startServer({
    ...variables,
    TRUST_PROXY: "127.0.0.0/8",
    RUNNER: "off",
    LOG_LEVEL: "warn"
  })
  const watch = yield* Effect.acquireRelease(
    Effect.sync(() => makeStopwatch(server.url)),
    ({ close }) => Effect.sync(close)
  )
  const wrong: Array<string> = []

  const compare = (
    first: readonly [string, ReadonlyArray<number>],
    second: readonly [string, ReadonlyArray<number>],
    isAlike = true
  ) => {
    const names = `${first[0]} / ${second[0]}`
    const difference = differenceOf(first[1], second[1])
    console.log(rowOf(names, difference, first[1].length))
    if (difference.chance >= significance === isAlike) return
    wrong.push(
      isAlike
        ? `${names} can be told apart in ${first[1].length} requests of each`
        : `${names} could not be told apart, so this measured nothing`
    )
  }

  if (isAsked("logins")) {
    const login = yield* Effect.promise(() => compareLoginTimes(server, watch))
    compare(["wrong password", login["wrong password"]], ["unknown email", login["unknown email"]])
  }
  if (isAsked("keys")) {
    const keys = yield* Effect.promise(() => compareKeyTimes(server, watch))
    const unknown = ["unknown key", keys["unknown key"]] as const
    compare(["nearly a key", keys["nearly a key"]], unknown)
    compare(["revoked key", keys["revoked key"]], unknown)
    compare(["malformed key", keys["malformed key"]], unknown, false)
  }
  if (isAsked("codes")) {
    const codes = yield* Effect.promise(() => compareCodeTimes(server, watch))
    compare(
      ["nearly a recovery code", codes["nearly a recovery code"]],
      ["no recovery code", codes["no recovery code"]]
    )
  }
  if (isAsked("links")) {
    const links = yield* Effect.promise(() => compareLinkTimes(server, watch, variables.DATA_DIR))
    for (const [kind, { nearly, unknown }] of Object.entries(links)) {
      compare([`nearly a token: ${kind}`, nearly], ["unknown token", unknown])
    }
  }

  for (const complaint of wrong) console.log(`BROKEN: ${complaint}`)
  if (wrong.length > 0) process.exitCode = 1
})

NodeRuntime.runMain(Effect.scoped(program))
