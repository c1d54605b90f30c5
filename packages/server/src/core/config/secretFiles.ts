import { ConfigProvider, Effect, Result } from "effect"
import { readFileSync } from "node:fs"

/** Settings that can be read from the file named by the variable `<NAME>_FILE`. */
const secrets: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "APP_SECRET",
  "APP_SECRET_PREVIOUS",
  "BOOTSTRAP_PASSWORD",
  "SMTP_URL",
  "DKIM_PRIVATE_KEY",
  "METRICS_TOKEN",
  "OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET"
])

/**
 * Reads secrets from files, as orchestrators mount them. Files are safer than the environment,
 * which every child process inherits. A trailing newline is ignored.
 */
export const withSecretFiles = (
  environment: ConfigProvider.ConfigProvider
): ConfigProvider.ConfigProvider =>
  ConfigProvider.make(
    Effect.fnUntraced(function* (path) {
      const [name = ""] = path
      const given = yield* environment.load(path)
      if (path.length !== 1 || typeof name !== "string" || !secrets.has(name)) return given
      const file = textOf(yield* environment.load([`${name}_FILE`]))
      if (file === undefined) return given
      if (textOf(given) !== undefined) {
        return yield* new ConfigProvider.SourceError({
          message: `${name} and ${name}_FILE are both set: remove one of them`
        })
      }
      const read = Result.try(() => readFileSync(file, "utf8"))
      if (Result.isFailure(read)) {
        return yield* new ConfigProvider.SourceError({
          message: `${name}_FILE: ${file} cannot be read`
        })
      }
      return ConfigProvider.makeValue(read.success.replace(/\r?\n$/, ""))
    })
  )

/** Returns the value of a variable. An empty variable is treated as unset. */
const textOf = (node: ConfigProvider.Node | undefined): string | undefined =>
  node?._tag === "Value" && node.value !== "" ? node.value : undefined
