import {
  Cause,
  type Context,
  Effect,
  type Fiber,
  Layer,
  Logger,
  type LogLevel as EffectLogLevel,
  References
} from "effect"
import { inspect } from "node:util"
import { AppConfig, type LogLevel } from "../Config.ts"

/** One line an event: coloured for people at a terminal, JSON for machines. */
export const LoggingLayer: Layer.Layer<never, never, AppConfig> = Layer.unwrap(
  Effect.map(AppConfig, ({ logFormat, logLevel }) =>
    Layer.mergeAll(
      Logger.layer([logFormat === "pretty" ? prettyLines() : jsonLines]),
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
    }).replace(unsafe, escaped)
  )
)

/** What an error quotes may come from anywhere: it stays indented behind a line of ours, and inert. */
const prettyLines = () => {
  const pretty = Logger.consolePretty()
  return Logger.make<unknown, void>(({ cause, fiber, message, ...event }) => {
    const [title, ...more] = (Array.isArray(message) ? message : [message]).map(textOf)
    const trace = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
    pretty.log({
      ...event,
      fiber: withInertContext(fiber),
      cause: Cause.empty,
      message: [
        title?.replace(unsafe, escaped),
        ...[...trace, ...more].map((text) => text.replace(unsafeButLines, escaped))
      ]
    })
  })
}

/** The logger reads annotations and spans off the fiber itself. */
const withInertContext = <A, E>(fiber: Fiber.Fiber<A, E>): Fiber.Fiber<A, E> => {
  const inert = (text: string) => text.replace(unsafe, escaped)
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const spans = fiber.getRef(References.CurrentLogSpans)
  if (annotations.length === 0 && spans.length === 0) return fiber
  const replaced = new Map<unknown, unknown>([
    [
      References.CurrentLogAnnotations,
      Object.fromEntries(annotations.map(([name, value]) => [inert(name), inert(textOf(value))]))
    ],
    [References.CurrentLogSpans, spans.map(([label, start]) => [inert(label), start])]
  ])
  return Object.create(fiber, {
    getRef: {
      value: <R>(reference: Context.Reference<R>) =>
        replaced.has(reference) ? replaced.get(reference) : fiber.getRef(reference)
    }
  })
}

const textOf = (part: unknown): string => (typeof part === "string" ? part : inspect(part))

/** Ends a line, or steers a terminal. */
const unsafe = /[\p{Cc}\u2028\u2029]/gu
const unsafeButLines = /(?!\n)[\p{Cc}\u2028\u2029]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
