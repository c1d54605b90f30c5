/**
 * Whether the time that an answer takes tells what the answer does not: `npm run timing`, or with one
 * of them `npm run timing keys` and `logins`. On the embedded store, or on a database that it makes
 * and drops on the server of `TEST_DATABASE_URL`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import {
  call,
  newUser,
  type ServerProcess,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../support/TestDatabase.ts"
import { type Difference, differenceOf } from "./statistics.ts"
import { makeStopwatch, race, type Taken } from "./Stopwatch.ts"

/** Of an account that an attacker asks about there are ten failed logins in 15 minutes. */
const logins = 400
const keyUses = 5_000

/** A difference that chance would show less often than this is one. */
const significance = 0.001

/** So few that each account is asked for ten times at most, where its throttle would begin. */
const accounts = 50

const isAsked = (what: "keys" | "logins") =>
  process.argv.length === 2 || process.argv.includes(what)

type Watch = ReturnType<typeof makeStopwatch>

const storeVariables = Effect.gen(function* () {
  if (testDatabaseUrl === undefined) return { DATA_DIR: yield* temporaryFolder("timing") }
  return {
    DATABASE_URL: yield* freshDatabaseUrl(testDatabaseUrl),
    APP_SECRET: "a secret for tests, thirty-two bytes and more"
  }
})

/** Every request comes from somewhere else, and meets no throttle of addresses. */
const fromSomewhere = () => ({ "x-forwarded-for": `100.${[...randomBytes(3)].join(".")}` })

const json = { "content-type": "application/json" }

const raceLogins = async (server: ServerProcess, { take }: Watch) => {
  const known: Array<string> = []
  const unknown: Array<string> = []
  for (let index = 0; index < accounts; index++) {
    const email = `${crypto.randomUUID()}@example.com`
    const { status } = await call(server, "POST", "/v1/auth/register", {
      body: { email, password: "correct horse battery staple" },
      headers: fromSomewhere()
    })
    if (status !== 201) throw new Error(`a registration was answered with ${status}`)
    known.push(email)
    unknown.push(`${crypto.randomUUID()}@example.com`)
  }
  // Both have been asked for as often before, so that their throttles have as much to do.
  const attempt = (emails: ReadonlyArray<string>) => (round: number) =>
    take({
      method: "POST",
      path: "/v1/auth/login",
      headers: { ...json, ...fromSomewhere() },
      body: JSON.stringify({
        email: emails[round % accounts],
        password: "wrong horse battery staple"
      })
    })
  return race(logins, { "wrong password": attempt(known), "unknown email": attempt(unknown) })
}

const unknownKey = () => `pak_${randomBytes(32).toString("base64url")}`

/** All of the key but its last character. */
const nearly = (key: string) => key.slice(0, -1) + (key.endsWith("A") ? "B" : "A")

const makeKeys = async (server: ServerProcess) => {
  const { token, workspace } = await Effect.runPromise(newUser(server))
  const create = async () => {
    const input = { name: "a key", scopes: ["workspace:read"] }
    const { body } = await call(server, "POST", `${workspace}/api-keys`, { token, body: input })
    return body as { readonly id: string; readonly key: string }
  }
  const [live, revoked]: [Array<string>, Array<string>] = [[], []]
  for (let index = 0; index < 20; index++) {
    live.push((await create()).key)
    const { id, key } = await create()
    await call(server, "POST", `${workspace}/api-keys/${id}/revoke`, { token })
    revoked.push(key)
  }
  return { live, revoked }
}

const raceKeys = async (server: ServerProcess, { take }: Watch) => {
  const { live, revoked } = await makeKeys(server)
  const one = (keys: ReadonlyArray<string>, round: number) => keys[round % keys.length] ?? ""
  const use = (key: string): Promise<Taken> =>
    take({ method: "GET", path: "/v1/whoami", headers: { authorization: `Bearer ${key}` } })
  const runners = {
    "unknown key": () => use(unknownKey()),
    "nearly a key": (round: number) => use(nearly(one(live, round))),
    "revoked key": (round: number) => use(one(revoked, round)),
    // Refused before the look-up, as everybody may know: a watch that misses this shows nothing.
    "malformed key": () => use(`${unknownKey()}x`)
  }
  await race(200, runners)
  return race(keyUses, runners)
}

const micros = (millis: number) => `${(millis * 1_000).toFixed(0)} µs`

const rowOf = (names: string, difference: Difference, samples: number) => {
  const { chance, interval, medians, odds, requestsToTell } = difference
  return [
    names.padEnd(34),
    `${samples} each`.padEnd(11),
    `medians ${medians.map(micros).join(" and ")}`.padEnd(34),
    `difference ${interval.map(micros).join(" to ")}`.padEnd(32),
    `slower ${(odds * 100).toFixed(1)} %, p ${chance.toPrecision(2)}`.padEnd(30),
    `told apart by ${requestsToTell.toLocaleString("en")} requests`
  ].join("  ")
}

const program = Effect.gen(function* () {
  const server = yield* startServer({
    ...(yield* storeVariables),
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
    const login = yield* Effect.promise(() => raceLogins(server, watch))
    compare(["wrong password", login["wrong password"]], ["unknown email", login["unknown email"]])
  }
  if (isAsked("keys")) {
    const keys = yield* Effect.promise(() => raceKeys(server, watch))
    const unknown = ["unknown key", keys["unknown key"]] as const
    compare(["nearly a key", keys["nearly a key"]], unknown)
    compare(["revoked key", keys["revoked key"]], unknown)
    compare(["malformed key", keys["malformed key"]], unknown, false)
  }

  for (const complaint of wrong) console.log(`BROKEN: ${complaint}`)
  if (wrong.length > 0) process.exitCode = 1
})

NodeRuntime.runMain(Effect.scoped(program))
