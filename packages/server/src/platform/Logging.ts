import { Effect, Layer, Logger, type LogLevel as EffectLogLevel, References } from "effect"
import { AppConfig, type LogLevel } from "../Config.ts"

/** One line an event: coloured for people at a terminal, JSON for machines. */
export const LoggingLayer: Layer.Layer<never, never, AppConfig> = Layer.unwrap(
  Effect.map(AppConfig, ({ logFormat, logLevel }) =>
    Layer.mergeAll(
      Logger.layer([logFormat === "pretty" ? Logger.consolePretty() : jsonLines]),
      Layer.succeed(References.MinimumLogLevel, levels[logLevel])
    )
  )
)

const levels: Record<LogLevel, EffectLogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
}

/** Annotations beside the message, where log stores index them; no fiber ids. */
const jsonLines = Logger.withConsoleLog(
  Logger.map(Logger.formatStructured, ({ annotations, cause, level, message, timestamp }) =>
    JSON.stringify({
      time: timestamp,
      level: level.toLowerCase(),
      message,
      ...annotations,
      ...(cause === undefined ? {} : { cause })
    })
  )
)
