import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { Clock, Context, DateTime, Effect, Layer, Logger, References, Result } from "effect"
import { HttpServer } from "effect/http"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { AppLayer } from "../../src/App.ts"
import type { Argon2Parameters } from "../../src/accounts/passwords/argon2.ts"
import { HashCost } from "../../src/accounts/passwords/Passwords.ts"
import { AppConfig } from "../../src/core/config/Config.ts"
import { selfHostedCatalog } from "../../src/core/config/plans.ts"
import { HttpServerLayer } from "../../src/http/HttpServer.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { leapingClock } from "./leap.ts"
import { accountMaker } from "./makeAccount.ts"
import type { Member } from "./people.ts"
import { onPostgres, TestDatabaseLayer } from "./TestDatabase.ts"
import { testSecret } from "./testSecret.ts"

/** The whole service on a real socket, with the test's clock and a real database. */
export class TestApp extends Context.Service<
  TestApp,
  {
    readonly url: string
    /** The URL of a second node on the same database, if the test starts one. */
    readonly otherUrl: string
    readonly logs: ReadonlyArray<string>
    /** Creates an account directly in the database, if the configuration permits that. */
    readonly makeAccount?: Effect.Effect<Member>
  }
>()("@scheduling/server/test/TestApp") {}

export const testConfig: AppConfig["Service"] = {
  host: "127.0.0.1",
  port: 0,
  databaseUrl: undefined,
  databasePool: 4,
  dataDir: ".data",
  appSecret: testSecret,
  previousAppSecrets: [],
  appSecretLost: undefined,
  registration: "open",
  passwordLogin: "on",
  authProxyHeader: undefined,
  bootstrap: undefined,
  oidc: undefined,
  egressAllow: [],
  callThreads: 0,
  runner: "off",
  rateLimit: 0,
  retentionDays: 30,
  auditRetentionDays: 400,
  trustProxy: [IpNetwork.fromStringUnsafe("127.0.0.0/8")],
  allowedHosts: undefined,
  allowedOrigins: [],
  smtpUrl: undefined,
  mailFrom: undefined,
  dkimDomain: undefined,
  dkimSelector: undefined,
  dkimPrivateKey: undefined,
  publicUrl: undefined,
  plans: selfHostedCatalog,
  stripeSecretKey: undefined,
  stripeWebhookSecrets: [],
  logLevel: "trace",
  logFormat: "json",
  logRequests: "off",
  metricsPort: undefined,
  metricsToken: undefined,
  otlpEndpoint: undefined,
  otlpHeaders: undefined,
  otlpProtocol: "http/json",
  otlpServiceName: "scheduling-service",
  traceSampleRatio: 1
}

export const loopback = Result.getOrThrow(parseCidrs("127.0.0.0/8"))

/** The configuration for a node with a runner that is allowed to call the tests' targets. */
export const runningConfig: AppConfig["Service"] = {
  ...testConfig,
  runner: "on",
  egressAllow: loopback
}

export const testNow = Date.UTC(2026, 5, 1, 12)

/** The parameters for cheap password hashes, because a real hash takes 30 ms. */
const cheapHashes: typeof HashCost.Service = { memoryCost: 8, timeCost: 1, parallelism: 1 }

/** The parameters for real password hashes, used by tests about hashes. */
export const realHashes = HashCost.defaultValue()

export const startNode = (config: AppConfig["Service"], hashCost = cheapHashes) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      AppLayer.pipe(
        Layer.provideMerge(Layer.fresh(HttpServerLayer)),
        Layer.provide(Layer.succeed(AppConfig, config)),
        Layer.provide(Layer.succeed(HashCost, hashCost)),
        Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate))
      )
    )
    return HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  })

/** Makes `otherUrl` throw, so that a test cannot mistake one node for two. */
const oneNode = (app: Omit<TestApp["Service"], "otherUrl">) =>
  TestApp.of({
    ...app,
    get otherUrl(): string {
      throw new Error("There is one node. `twoTestNodesLayer` starts another.")
    }
  })

const onTestClock =
  (withOther: boolean) =>
  (overrides: Partial<AppConfig["Service"]> = {}, hashCost = cheapHashes) =>
    Layer.effect(
      TestApp,
      Effect.gen(function* () {
        yield* TestClock.setTime(testNow)
        const logs: Array<string> = []
        const config = { ...testConfig, ...overrides }
        const capture = Layer.mergeAll(
          Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))]),
          Layer.succeed(References.MinimumLogLevel, "All")
        )
        const clock = yield* leapingClock
        const node = startNode(config, hashCost).pipe(
          Effect.provide(capture),
          Effect.provideService(Clock.Clock, clock)
        )
        const app = { url: yield* node, logs, ...(yield* accounts(config, hashCost, clock)) }
        return withOther ? TestApp.of({ ...app, otherUrl: yield* node }) : oneNode(app)
      })
    ).pipe(Layer.provideMerge(TestDatabaseLayer))

/** A node on the test's clock. */
export const testAppLayer = onTestClock(false)

/** Two nodes that share a database and the test's clock. */
export const twoTestNodesLayer = onTestClock(true)

/**
 * Creates accounts directly in the database, which is faster. With a mail server, tests register over
 * HTTP instead, because registration sends emails.
 */
const accounts = (config: AppConfig["Service"], hashCost: Argon2Parameters, clock: Clock.Clock) =>
  config.appSecret === undefined || config.smtpUrl !== undefined
    ? Effect.succeed({})
    : Effect.map(accountMaker({ appSecret: config.appSecret, hashCost, clock }), (makeAccount) => ({
        makeAccount
      }))

const nodesLayer = (config: AppConfig["Service"], other: (url: string) => typeof answering) =>
  Layer.effect(
    TestApp,
    Effect.gen(function* () {
      const url = yield* startNode(config)
      const clock = Clock.Clock.defaultValue()
      const made = yield* accounts(config, cheapHashes, clock)
      return TestApp.of({ url, otherUrl: yield* other(url), logs: [], ...made })
    })
  ).pipe(Layer.provideMerge(TestDatabaseLayer))

const answering = startNode({ ...runningConfig, runner: "off" })

export const runningNodeLayer = (config = runningConfig) => nodesLayer(config, Effect.succeed)

/** A node that makes calls, and a node that only serves the API. */
export const runningNodesLayer = nodesLayer(runningConfig, () => answering)

/**
 * Two nodes on PostgreSQL. On the embedded store, where nodes receive no signals from each other,
 * one node.
 */
export const signalledNodesLayer = onPostgres ? runningNodesLayer : runningNodeLayer()
