import {
  Config,
  Context,
  Effect,
  Layer,
  type Redacted,
  Result,
  Schema,
  SchemaTransformation
} from "effect"
import type { IpNetwork } from "effect/net"
import { hostProblem, isLoopback } from "./platform/RequestHost.ts"
import { originProblem } from "./platform/RequestPage.ts"
import { type Cidr, parseCidrs } from "./runner/EgressRules.ts"

/** Everything that the environment decides, read once at start. */
export class AppConfig extends Context.Service<
  AppConfig,
  {
    readonly host: string
    readonly port: number
    /** Absent: the embedded store under `dataDir`. */
    readonly databaseUrl: Redacted.Redacted | undefined
    readonly databasePool: number
    readonly dataDir: string
    /** Absent only on the embedded store, which makes one and keeps it. */
    readonly appSecret: Redacted.Redacted | undefined
    readonly previousAppSecrets: ReadonlyArray<Redacted.Redacted>
    readonly registration: "open" | "closed"
    /** Networks that tasks may call though they are private. */
    readonly egressAllow: ReadonlyArray<Cidr>
    readonly runner: "on" | "off"
    readonly retentionDays: number
    readonly auditRetentionDays: number
    /** Addresses of proxies whose `X-Forwarded-For` is believed. */
    readonly trustProxy: ReadonlyArray<IpNetwork.IpNetwork>
    /** Names and addresses that requests may be for; any, if absent. */
    readonly allowedHosts: ReadonlyArray<string> | undefined
    /** Origins whose pages may register, log in and refresh. */
    readonly allowedOrigins: ReadonlyArray<string>
    readonly logLevel: LogLevel
    readonly logFormat: "pretty" | "json"
  }
>()("@scheduling/server/Config") {
  static readonly layer: Layer.Layer<AppConfig, InvalidConfig> = Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const config = yield* environment
      if (config.databaseUrl !== undefined && config.appSecret === undefined) {
        return yield* new InvalidConfig({
          message:
            "APP_SECRET is required with DATABASE_URL: at least 32 bytes, the same on every node"
        })
      }
      return AppConfig.of({
        ...config,
        // A page on this machine could ask through a name that its owner points here.
        allowedHosts: config.allowedHosts ?? (isLoopback(config.host) ? [] : undefined)
      })
    }).pipe(
      Effect.catchTag("ConfigError", (error) =>
        Effect.fail(new InvalidConfig({ message: explain(error) }))
      )
    )
  )
}

export class InvalidConfig extends Schema.TaggedError<InvalidConfig>()("InvalidConfig", {
  message: Schema.String
}) {}

const logLevels = ["trace", "debug", "info", "warn", "error", "none"] as const
export type LogLevel = (typeof logLevels)[number]

const CommaList = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transform({
      decode: (list: string): ReadonlyArray<string> =>
        list
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      encode: (items) => items.join(",")
    })
  )
)

const CidrList = Schema.String.check(
  Schema.makeFilter((list) =>
    Result.match(parseCidrs(list), { onFailure: (problem) => problem, onSuccess: () => true })
  )
)

const listOf = (problem: (item: string) => string | undefined) =>
  CommaList.pipe(Schema.decodeTo(Schema.Array(Schema.String.check(Schema.makeFilter(problem)))))

const AppSecret = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((secret) => Buffer.byteLength(secret) >= 32, {
      expected: "at least 32 bytes"
    })
  ),
  { label: "APP_SECRET" }
)

/** The driver would take another for a database that is away, and wait for it. */
const DatabaseUrl = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^postgres(?:ql)?:\/\//, { expected: "a URL that starts with postgres://" })
  ),
  { label: "DATABASE_URL" }
)

const count = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** An empty variable counts as absent: that is what `VAR=` in a compose file means. */
const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

const environment = Config.all({
  host: Config.NonEmptyString("HOST").pipe(Config.withDefault("127.0.0.1")),
  port: Config.Port("PORT").pipe(Config.withDefault(4000)),
  databaseUrl: optional(Config.schema(DatabaseUrl, "DATABASE_URL")),
  databasePool: Config.schema(count(2, 1000), "DATABASE_POOL").pipe(Config.withDefault(10)),
  dataDir: Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data")),
  appSecret: optional(Config.schema(AppSecret, "APP_SECRET")),
  previousAppSecrets: Config.schema(
    CommaList.pipe(Schema.decodeTo(Schema.Array(AppSecret))),
    "APP_SECRET_PREVIOUS"
  ).pipe(Config.withDefault([])),
  registration: Config.Literals(["open", "closed"], "REGISTRATION").pipe(
    Config.withDefault("open" as const)
  ),
  egressAllow: Config.schema(CidrList, "EGRESS_ALLOW").pipe(
    Config.withDefault(""),
    Config.map((list) => Result.getOrThrow(parseCidrs(list)))
  ),
  runner: Config.Literals(["on", "off"], "RUNNER").pipe(Config.withDefault("on" as const)),
  retentionDays: Config.schema(count(1, 3650), "RETENTION_DAYS").pipe(Config.withDefault(30)),
  auditRetentionDays: Config.schema(count(1, 36500), "AUDIT_RETENTION_DAYS").pipe(
    Config.withDefault(400)
  ),
  trustProxy: Config.schema(
    CommaList.pipe(Schema.decodeTo(Schema.Array(Schema.IpNetworkFromString))),
    "TRUST_PROXY"
  ).pipe(Config.withDefault([])),
  allowedHosts: optional(Config.schema(listOf(hostProblem), "ALLOWED_HOSTS")),
  allowedOrigins: Config.schema(listOf(originProblem), "ALLOWED_ORIGINS").pipe(
    Config.withDefault([])
  ),
  logLevel: Config.Literals(logLevels, "LOG_LEVEL").pipe(Config.withDefault("info" as const)),
  logFormat: Config.Literals(["pretty", "json"], "LOG_FORMAT").pipe(
    Config.withDefault(process.stdout.isTTY ? ("pretty" as const) : ("json" as const))
  )
})

/** `Expected "open" | "closed"\n  at ["REGISTRATION"]` → `REGISTRATION: expected "open" | "closed"` */
const explain = (error: Config.ConfigError): string => {
  const text = error.message.replace(/^SchemaError\(([\s\S]*)\)$/, "$1")
  const [, problem = text, variable] = /^([\s\S]*?)\s+at \["([A-Z_]+)"\]/.exec(text) ?? []
  return variable === undefined
    ? problem
    : `${variable}: ${problem.charAt(0).toLowerCase()}${problem.slice(1)}`
}
