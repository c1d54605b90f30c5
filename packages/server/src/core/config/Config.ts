import {
  Config,
  ConfigProvider,
  Context,
  Effect,
  Layer,
  type Redacted,
  Result,
  Schema,
  SchemaTransformation
} from "effect"
import { availableParallelism } from "node:os"
import { type Bootstrap, bootstrapSettings, checkBootstrap } from "./bootstrap.ts"
import { authProxyProblem, ProxyHeader } from "./authProxy.ts"
import { checkOidc, type OidcSettings, oidcSettings } from "./oidc.ts"
import { explainConfigError } from "../libraryInternals.ts"
import { OtlpEndpoint, OtlpHeaders, sampleRatios, samplers } from "./otlp.ts"
import { withSecretFiles } from "./secretFiles.ts"
import { AppSecret, DatabaseUrl, MetricsToken } from "./secretValues.ts"
import { StripeKey, stripeProblem, StripeWebhookSecret } from "./stripe.ts"
import { selfHostedCatalog, type PlanCatalog, plansByPrice, readPlans } from "./plans.ts"
import { DkimName, MailFrom, PrivateKey, PublicUrl, SmtpUrl } from "./mail.ts"
import { hostProblem, isLoopback, originProblem } from "./hostNames.ts"
import { type Cidr, parseCidrs } from "@scheduling/calls/egress/EgressRules"

/** All settings. The environment is read once at startup. */
export class AppConfig extends Context.Service<
  AppConfig,
  {
    readonly host: string
    readonly port: number
    /** Undefined for the embedded store, which is in `dataDir`. */
    readonly databaseUrl: Redacted.Redacted | undefined
    readonly databasePool: number
    readonly dataDir: string
    /** Undefined only if the embedded store creates and keeps its own secret. */
    readonly appSecret: Redacted.Redacted | undefined
    readonly previousAppSecrets: ReadonlyArray<Redacted.Redacted>
    /**
     * The id of the lost secret with which the data was encrypted. If it is set, this node starts
     * without that secret.
     */
    readonly appSecretLost: string | undefined
    readonly registration: "open" | "closed"
    /**
     * If `off`, the service rejects registrations and sign-ins with a password, and new passwords.
     */
    readonly passwordLogin: "on" | "off"
    /**
     * The header in which a trusted proxy names the person. If undefined, people cannot sign in
     * through a proxy.
     */
    readonly authProxyHeader: string | undefined
    /** If undefined, the first account is registered or created by an operator. */
    readonly bootstrap: Bootstrap | undefined
    /** If undefined, people cannot sign in with an identity provider. */
    readonly oidc: OidcSettings | undefined
    /** Private networks that tasks may call. */
    readonly egressAllow: ReadonlyArray<Cidr>
    /** The number of threads for TLS calls. If it is 0, the main thread makes these calls. */
    readonly callThreads: number
    readonly runner: "on" | "off"
    /** The rate limit in requests per minute, node and credential. 0 means no limit. */
    readonly rateLimit: number
    readonly retentionDays: number
    readonly auditRetentionDays: number
    /** The addresses of the proxies whose `X-Forwarded-For` header is trusted. */
    readonly trustProxy: ReadonlyArray<Cidr>
    /** Allowed values of the `Host` header. If undefined, all values are allowed. */
    readonly allowedHosts: ReadonlyArray<string> | undefined
    /** Origins whose pages may register, log in and refresh tokens. */
    readonly allowedOrigins: ReadonlyArray<string>
    /** The SMTP server. If undefined, the service sends no email. */
    readonly smtpUrl: Redacted.Redacted | undefined
    readonly mailFrom: string | undefined
    readonly dkimDomain: string | undefined
    readonly dkimSelector: string | undefined
    readonly dkimPrivateKey: Redacted.Redacted | undefined
    /** The URL of the service in emails, without a trailing slash. */
    readonly publicUrl: string | undefined
    readonly plans: PlanCatalog
    /** If undefined, plans cannot be bought. */
    readonly stripeSecretKey: Redacted.Redacted | undefined
    /** The secrets of Stripe's webhooks. There are two during a rotation. */
    readonly stripeWebhookSecrets: ReadonlyArray<Redacted.Redacted>
    readonly logLevel: LogLevel
    readonly logFormat: "pretty" | "json"
    /** `on` logs a line for each request. */
    readonly logRequests: "on" | "off"
    /**
     * The port of the metrics. If undefined, they are served on the API's port if there is a token.
     */
    readonly metricsPort: number | undefined
    readonly metricsToken: Redacted.Redacted | undefined
    /** The collector of traces, metrics and logs, without a trailing slash. */
    readonly otlpEndpoint: string | undefined
    readonly otlpHeaders: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
    readonly otlpProtocol: "http/protobuf" | "http/json"
    readonly otlpServiceName: string
    /** The fraction of traces to keep, from 0 to 1. */
    readonly traceSampleRatio: number
  }
>()("@scheduling/server/Config") {
  static readonly layer: Layer.Layer<AppConfig, InvalidConfig> = Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const provider = yield* ConfigProvider.ConfigProvider
      const { otlpSampler, plansFile, ...config } = yield* Effect.provideService(
        environment,
        ConfigProvider.ConfigProvider,
        withSecretFiles(provider)
      )
      if (config.databaseUrl !== undefined && config.appSecret === undefined) {
        return yield* new InvalidConfig({
          message:
            "APP_SECRET is required with DATABASE_URL: at least 32 bytes, the same on every node"
        })
      }
      const bootstrap = checkBootstrap(config.bootstrap)
      if (Result.isFailure(bootstrap)) {
        return yield* new InvalidConfig({ message: bootstrap.failure })
      }
      const oidc = checkOidc(config.oidc, config.publicUrl)
      if (Result.isFailure(oidc)) return yield* new InvalidConfig({ message: oidc.failure })
      const proxyProblem = authProxyProblem(config)
      if (proxyProblem !== undefined) return yield* new InvalidConfig({ message: proxyProblem })
      const hasOtherWay = oidc.success !== undefined || config.authProxyHeader !== undefined
      if (config.passwordLogin === "off" && !hasOtherWay) {
        return yield* new InvalidConfig({
          message:
            "PASSWORD_LOGIN=off needs another way to sign in: OIDC_ISSUER or AUTH_PROXY_HEADER"
        })
      }
      if (config.smtpUrl !== undefined) {
        if (config.mailFrom === undefined || config.publicUrl === undefined) {
          return yield* new InvalidConfig({
            message:
              "SMTP_URL needs MAIL_FROM and PUBLIC_URL, for the sender and the links of mails"
          })
        }
      }
      const dkim = [config.dkimDomain, config.dkimSelector, config.dkimPrivateKey]
      if (dkim.includes(undefined) && dkim.some((part) => part !== undefined)) {
        return yield* new InvalidConfig({
          message: "DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY must be set together"
        })
      }
      const problem = stripeProblem(config)
      if (problem !== undefined) return yield* new InvalidConfig({ message: problem })
      const plans =
        plansFile === undefined ? Result.succeed(selfHostedCatalog) : readPlans(plansFile)
      if (Result.isFailure(plans)) return yield* new InvalidConfig({ message: plans.failure })
      if (config.stripeSecretKey !== undefined && plansByPrice(plans.success).size === 0) {
        return yield* new InvalidConfig({
          message: "STRIPE_SECRET_KEY needs PLANS_FILE with a plan that has a price"
        })
      }
      return AppConfig.of({
        ...config,
        bootstrap: bootstrap.success,
        oidc: oidc.success,
        traceSampleRatio: sampleRatios[otlpSampler] ?? config.traceSampleRatio,
        plans: plans.success,
        // Without a list, DNS rebinding would let any web page reach the service through a browser
        // on this machine.
        allowedHosts: config.allowedHosts ?? (isLoopback(config.host) ? [] : undefined)
      })
    }).pipe(
      Effect.catchTag("ConfigError", (error) =>
        Effect.fail(new InvalidConfig({ message: explainConfigError(error) }))
      )
    )
  )
}

export const settingNames: Effect.Effect<ReadonlySet<string>> = Effect.suspend(() => {
  // OpenTelemetry's exporter reads this variable itself, so `environment` does not contain it.
  const names = new Set(["OTEL_RESOURCE_ATTRIBUTES"])
  const recording = ConfigProvider.make(([name]) => {
    names.add(String(name))
    return Effect.succeed(undefined)
  })
  return environment.parse(withSecretFiles(recording)).pipe(Effect.as(names), Effect.orDie)
})

/** Returns whether anybody can read the metrics of this node: a scraper or a collector. */
export const exportsMetrics = ({
  metricsPort,
  metricsToken,
  otlpEndpoint
}: Pick<AppConfig["Service"], "metricsPort" | "metricsToken" | "otlpEndpoint">): boolean =>
  metricsPort !== undefined || metricsToken !== undefined || otlpEndpoint !== undefined

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

/**
 * A whole number in a range. The error message contains both limits, even if the value is not a
 * number.
 */
const count = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.makeFilter(
      (text) => /^\d+$/.test(text.trim()) && Number(text) >= minimum && Number(text) <= maximum,
      { expected: `a whole number from ${minimum} to ${maximum}` }
    )
  ).pipe(
    Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: String }))
  )

const port = count(1, 65_535)

/** An empty variable is treated as unset, because that is what `VAR=` in a compose file means. */
const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

const cidrs = (name: string) =>
  Config.schema(CidrList, name).pipe(
    Config.withDefault(""),
    Config.map((list) => Result.getOrThrow(parseCidrs(list)))
  )

const environment = Config.all({
  host: Config.NonEmptyString("HOST").pipe(Config.withDefault("127.0.0.1")),
  port: Config.schema(port, "PORT").pipe(Config.withDefault(4000)),
  databaseUrl: optional(Config.schema(DatabaseUrl, "DATABASE_URL")),
  databasePool: Config.schema(count(2, 1000), "DATABASE_POOL").pipe(Config.withDefault(8)),
  dataDir: Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data")),
  appSecret: optional(Config.schema(AppSecret, "APP_SECRET")),
  previousAppSecrets: Config.schema(
    CommaList.pipe(Schema.decodeTo(Schema.Array(AppSecret))),
    "APP_SECRET_PREVIOUS"
  ).pipe(Config.withDefault([])),
  appSecretLost: optional(Config.NonEmptyString("APP_SECRET_LOST")),
  registration: Config.Literals(["open", "closed"], "REGISTRATION").pipe(
    Config.withDefault("open" as const)
  ),
  passwordLogin: Config.Literals(["on", "off"], "PASSWORD_LOGIN").pipe(
    Config.withDefault("on" as const)
  ),
  authProxyHeader: optional(Config.schema(ProxyHeader, "AUTH_PROXY_HEADER")),
  bootstrap: bootstrapSettings,
  oidc: oidcSettings,
  callThreads: Config.schema(count(0, 64), "CALL_THREADS").pipe(
    Config.withDefault(availableParallelism() > 1 ? 1 : 0)
  ),
  egressAllow: cidrs("EGRESS_ALLOW"),
  runner: Config.Literals(["on", "off"], "RUNNER").pipe(Config.withDefault("on" as const)),
  rateLimit: Config.schema(count(0, 10_000_000), "RATE_LIMIT").pipe(Config.withDefault(600)),
  retentionDays: Config.schema(count(1, 3650), "RETENTION_DAYS").pipe(Config.withDefault(30)),
  auditRetentionDays: Config.schema(count(1, 36500), "AUDIT_RETENTION_DAYS").pipe(
    Config.withDefault(400)
  ),
  trustProxy: cidrs("TRUST_PROXY"),
  allowedHosts: optional(Config.schema(listOf(hostProblem), "ALLOWED_HOSTS")),
  allowedOrigins: Config.schema(listOf(originProblem), "ALLOWED_ORIGINS").pipe(
    Config.withDefault([])
  ),
  smtpUrl: optional(Config.schema(SmtpUrl, "SMTP_URL")),
  mailFrom: optional(Config.schema(MailFrom, "MAIL_FROM")),
  dkimDomain: optional(Config.schema(DkimName, "DKIM_DOMAIN")),
  dkimSelector: optional(Config.schema(DkimName, "DKIM_SELECTOR")),
  dkimPrivateKey: optional(Config.schema(PrivateKey, "DKIM_PRIVATE_KEY")),
  publicUrl: optional(Config.schema(PublicUrl, "PUBLIC_URL")),
  stripeSecretKey: optional(Config.schema(StripeKey, "STRIPE_SECRET_KEY")),
  stripeWebhookSecrets: Config.schema(
    CommaList.pipe(Schema.decodeTo(Schema.Array(StripeWebhookSecret))),
    "STRIPE_WEBHOOK_SECRET"
  ).pipe(Config.withDefault([])),
  plansFile: optional(Config.NonEmptyString("PLANS_FILE")),
  logLevel: Config.Literals(logLevels, "LOG_LEVEL").pipe(Config.withDefault("info" as const)),
  logFormat: Config.Literals(["pretty", "json"], "LOG_FORMAT").pipe(
    Config.withDefault(process.stdout.isTTY ? ("pretty" as const) : ("json" as const))
  ),
  logRequests: Config.Literals(["on", "off"], "LOG_REQUESTS").pipe(
    Config.withDefault("off" as const)
  ),
  metricsPort: optional(Config.schema(port, "METRICS_PORT")),
  metricsToken: optional(Config.schema(MetricsToken, "METRICS_TOKEN")),
  otlpEndpoint: optional(Config.schema(OtlpEndpoint, "OTEL_EXPORTER_OTLP_ENDPOINT")),
  otlpHeaders: optional(Config.schema(OtlpHeaders, "OTEL_EXPORTER_OTLP_HEADERS")),
  otlpProtocol: Config.Literals(["http/protobuf", "http/json"], "OTEL_EXPORTER_OTLP_PROTOCOL").pipe(
    Config.withDefault("http/json" as const)
  ),
  otlpServiceName: Config.NonEmptyString("OTEL_SERVICE_NAME").pipe(
    Config.withDefault("scheduling-service")
  ),
  otlpSampler: Config.Literals(samplers, "OTEL_TRACES_SAMPLER").pipe(
    Config.withDefault("traceidratio" as const)
  ),
  traceSampleRatio: Config.schema(
    Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    "OTEL_TRACES_SAMPLER_ARG"
  ).pipe(Config.withDefault(1))
})
