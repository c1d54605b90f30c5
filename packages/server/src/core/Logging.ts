import { Effect, Layer, Logger, type LogLevel as EffectLogLevel, References } from "effect"
import { inspect, styleText } from "node:util"
import { AppConfig, type LogLevel } from "./config/Config.ts"
import { otlpLogger } from "./collector/Otlp.ts"

/** Logs one line per event: coloured on a terminal, JSON otherwise. */
export const LoggingLayer: Layer.Layer<never, never, AppConfig> = Layer.unwrap(
  Effect.gen(function* () {
    const { logFormat, logLevel } = yield* AppConfig
    const collected = yield* otlpLogger
    const written = logFormat === "pretty" ? prettyLines : jsonLines
    return Layer.mergeAll(
      Logger.layer([written, ...(collected === undefined ? [] : [collected])]),
      Layer.succeed(References.MinimumLogLevel, levels[logLevel])
    )
  })
)

const levels: Record<LogLevel, EffectLogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
}

/**
 * Writes one JSON object per event. Annotations are top-level fields, which log stores index. Fiber
 * ids are omitted.
 */
const jsonLines = Logger.withConsoleLog(
  Logger.map(Logger.formatStructured, ({ annotations, cause, level, message, timestamp }) =>
    JSON.stringify({
      time: timestamp,
      level: level.toLowerCase(),
      message,
      ...annotations,
      ...(cause === undefined ? {} : { cause })
    }).replace(unsafeCharacters, escaped)
  )
)

/**
 * Writes one line per event. Further messages and the cause follow on indented lines. Control
 * characters are escaped, because the messages may contain untrusted data.
 */
const prettyLines = Logger.withConsoleLog(
  Logger.map(
    Logger.formatStructured,
    ({ annotations, cause, level, message, spans, timestamp }) => {
      const [title, ...more] = (Array.isArray(message) ? message : [message]).map(textOf)
      const notes = Object.entries({ ...annotations, ...spans })
      const below = [...more, ...(cause === undefined ? [] : [cause])]
      return [
        [
          styleText("dim", `[${timeOfDay(new Date(timestamp))}]`),
          styleText(colours[level] ?? "reset", level),
          escapeUnsafe(title ?? ""),
          ...notes.map(([name, value]) =>
            styleText("dim", escapeUnsafe(`${name}=${textOf(value)}`))
          )
        ].join(" "),
        ...below.flatMap((text) => text.split("\n")).map((line) => `  ${escapeUnsafe(line)}`)
      ].join("\n")
    }
  )
)

const colours: Readonly<Record<string, "cyan" | "green" | "yellow" | "red">> = {
  DEBUG: "cyan",
  INFO: "green",
  WARN: "yellow",
  ERROR: "red",
  FATAL: "red"
}

const timeOfDay = (date: Date): string =>
  `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, "0")}`

const textOf = (part: unknown): string => (typeof part === "string" ? part : inspect(part))

const escapeUnsafe = (text: string): string => text.replace(unsafeCharacters, escaped)

/** Characters that end a line or control a terminal. */
const unsafeCharacters = /[\p{Cc}\u2028\u2029]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
